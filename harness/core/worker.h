/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/core/ - a worker: one thread with its own loop, listener, slots, TLS
 * context and scratch buffers. Workers share nothing on the hot path. The server
 * and the load generator are both made of workers; what they do with plaintext
 * is an app.
 */
#ifndef HARNESS_CORE_WORKER_H
#define HARNESS_CORE_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "harness/common/tally.h"
#include "harness/core/listener.h"
#include "harness/core/outbuf.h"
#include "harness/core/slots.h"
#include "reactors/reactor.h"
#include "tls_backends/tls_backend.h"

struct conn;
struct worker;

/* Level deep: how long a connection is left its socket once it fell idle. Longer than peers
 * delay an acknowledgement, and than a client takes to ask again. */
#define WORKER_DEEP_IDLE_MS 250

/*
 * What a role (server, load) does with its connections. Called in the worker's
 * thread, or wherever its reactor makes upcalls: one at a time. The app's own
 * bytes exist only while the connection is active, so nothing that must outlive
 * an idle spell may be kept there.
 */
struct app_ops {
	size_t conn_size; /* zeroed bytes of the app's, conn_app() */
	void (*established)(struct worker *worker, struct conn *conn);
	/* Plaintext, borrowed. */
	void (*data)(struct worker *worker, struct conn *conn, const uint8_t *bytes, size_t len);
	/* The next plaintext to send into buf[0..size); how much, 0: nothing now. */
	size_t (*produce)(struct worker *worker, struct conn *conn, uint8_t *buf, size_t size);
	/* True while a request or response is under way: not idle. */
	bool (*busy)(const struct worker *worker, const struct conn *conn);
	/* The connection fell idle: release what this park level does not keep. */
	void (*idle)(struct worker *worker, struct conn *conn);
	/* The end, exactly once. cause: NULL, a proper close; else what broke it. */
	void (*gone)(struct worker *worker, struct conn *conn, const char *cause);
	/* After every turn of the loop; NULL: nothing to do. */
	void (*turn)(struct worker *worker);
};

struct worker_config {
	const struct reactor_ops *reactor;
	const struct tls_ops *tls;
	struct tls_config tls_config;
	const struct app_ops *app;
	void *app_data;                   /* the app's, one a worker */
	const struct sockaddr *listen_on; /* a server's address, the caller's; NULL: a client */
	socklen_t listen_on_len;
	bool own_files; /* a table of open files of its own (kernel 5.9): none of the worker's
			   descriptors means anything in another thread */
	uint32_t connections_max;     /* slots */
	unsigned handshake_timeout_s; /* also for a request that stays incomplete; 0: none */
	unsigned idle_timeout_s;      /* 0: none */
	bool lock_records;            /* level keys: never swapped out */
	uint32_t handshakes_max;      /* of those accepted, at a time; 0: no cap */
	bool no_trim;                 /* what was freed stays with the allocator */
	struct reactor_deep deep;     /* at level deep */
};

/* Read by other threads only through worker_call. */
struct worker_counters {
	uint64_t accepted;
	uint64_t handshakes;
	uint64_t turned_away;     /* accepted with every slot in use, or no memory */
	uint64_t shed_listeners;  /* times that it was full and left its group */
	uint64_t handshakes_peak; /* most of them under way at once */
	uint64_t dissolved;       /* level keys: sessions that became a record */
};

/* Something to be run in a worker's thread; see worker_post. */
struct worker_call {
	void (*run)(struct worker *worker, void *arg);
	void *arg;
	struct worker_call *next;
	bool done;
};

struct worker {
	struct worker_config config;
	struct reactor_loop loop;
	struct slots slots;
	struct listener listener;
	struct tls_ctx *tls_ctx;
	struct outbuf_pool outbufs;
	struct tls_parked *parked; /* level keys: a record a slot; else NULL */
	void *reserve;             /* level keys: an object for when memory is out */
	struct tally kept;         /* sessions that could not be dissolved, by cause */
	uint8_t *plain;            /* scratch: one record's plaintext */
	uint32_t handshaking;      /* connections in a handshake */
	uint32_t awake_max;    /* level deep: connections that are woken to be ended, at a time */
	uint32_t deadlines;    /* slots with a deadline */
	uint64_t epoch_ns;     /* tick 0 of the slots' deadlines */
	uint64_t next_tick_ns; /* when deadlines are looked at again */
	uint64_t activity;     /* upcalls so far */
	uint64_t quiet_mark;   /* activity when quiet was last looked at */
	uint64_t quiet_at_ns;  /* it is quiet if nothing happens before; 0: not looked at yet */
	bool trim_due;         /* memory was freed since the last trim */
	bool gate_closed;      /* accepting failed for want of resources */
	bool gate_full;        /* as many handshakes as may be are under way */
	bool stopping;         /* ends when the last connection is closed */
	void (*stop_with)(struct worker *worker, struct conn *conn);
	uint32_t stop_next; /* slots from here on have not been stopped with that */
	bool stopped;
	struct worker_counters counters;

	/* Mailbox: the only part that other threads touch. */
	pthread_mutex_t mutex;
	pthread_cond_t answered;
	struct worker_call *calls;
	atomic_bool mail;
	pthread_t thread;
	int error; /* why the loop ended, negative errno; under the mutex */
};

/*
 * Starts a worker's thread and waits until it is ready. 0, or a negative errno
 * with the reason; then nothing is left of it. `worker` is the caller's and
 * lives until worker_join.
 */
int worker_start(struct worker *worker, const struct worker_config *config, char *reason,
		 size_t reason_size);
/* Runs `call` in the worker's thread, between turns; any other thread. The call
 * is the caller's until worker_wait returned. */
void worker_post(struct worker *worker, struct worker_call *call);
void worker_wait(struct worker *worker, struct worker_call *call);
/* Both in one. */
void worker_call(struct worker *worker, void (*run)(struct worker *, void *), void *arg);
/* Graceful end: no new connections, a word to every peer, at most `grace_s`
 * seconds. In the worker's thread, through worker_call. */
void worker_stop(struct worker *worker, unsigned grace_s);
/* Why the worker's loop ended before it was told to; 0 while all is well. Any thread. */
int worker_error(struct worker *worker);
/* Waits for the end of the thread and frees what the worker held. */
void worker_join(struct worker *worker);

/* Sets (seconds from now) or clears (0) the one deadline of a slot. */
void worker_deadline(struct worker *worker, uint32_t slot, unsigned seconds);

#endif
