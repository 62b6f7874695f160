/* SPDX-License-Identifier: Apache-2.0 */
/* harness/load/ - one worker of the load generator: the client's app on the core. */
#ifndef HARNESS_LOAD_LOAD_WORKER_H
#define HARNESS_LOAD_LOAD_WORKER_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "harness/common/tally.h"
#include "harness/core/worker.h"
#include "harness/load/response.h"
#include "harness/load/times.h"

enum load_phase {
	LOAD_IDLE, /* connections are held; one that ends was dropped */
	LOAD_RAMP,
	LOAD_ROUND,
	LOAD_SWEEP,  /* every connection does something once, some at a time */
	LOAD_ACTIVE, /* some ask again and again, the rest stay idle */
	LOAD_WAKES,  /* one connection at a time asks once */
	LOAD_CLOSE,
};

/* What all workers share. */
struct load_shared {
	struct request request; /* of rounds */
	struct request history; /* of a fetch */
	uint64_t start_ns;      /* of the phase; set before the workers begin it */
	double active_fraction; /* of the open connections */
	uint64_t active_end_ns; /* nobody asks again after this */
	pthread_barrier_t sent; /* all requests of a round have left */
	pthread_mutex_t mutex;  /* guards unfinished */
	pthread_cond_t ended;
	unsigned unfinished; /* workers still in the phase, or not yet in it */
	char halt_cause[64]; /* written before... */
	atomic_bool halted;  /* ...nobody connects any more */
};

/* Wakes: once over the table, the connections that are woken evenly spread. */
struct load_lap {
	uint32_t due;           /* wakes of the worker's still to come */
	uint32_t open, wake;    /* connections at its start, and how many of them it wakes */
	uint32_t credit;        /* `wake` for each connection passed; a wake takes `open` */
	uint32_t next;          /* slots below it have been passed */
	uint32_t roused;        /* the slot that asks next; SLOT_NONE */
	uint64_t rest_until_ns; /* nothing is sent before */
	uint64_t burst_end_ns;  /* nobody is roused after, but for a rest in between */
	uint64_t asked_ns;
};

/* Everything below `worker` is the worker thread's, but for what is set before it starts;
 * others read it through worker_call, or after the phase ended. */
struct load_worker {
	struct worker worker;
	struct load_shared *shared;
	struct sockaddr_in server;
	uint64_t first; /* its connections are first .. first + quota */
	uint32_t quota;
	uint32_t in_flight_max; /* in ramp and sweep */
	uint32_t awake_max;     /* in a round at level deep */
	uint32_t sockets_max;   /* there, parked ones that still have one included */
	uint32_t closing_max;
	bool waves; /* in the ramp */

	enum load_phase phase;
	uint32_t started, in_flight; /* ramp */
	uint32_t close_slot;         /* close: where it has come to */
	uint32_t pending;            /* but in the ramp: results to come */
	void (*act)(struct load_worker *lw, struct conn *conn); /* sweep: what each does */
	uint32_t sweep_max;                                     /* under way at a time */
	uint32_t next;   /* sweep: slots below it had their turn */
	uint32_t active; /* connections that ask again and again */
	uint64_t open;
	uint64_t ok, failed;   /* of the phase */
	uint64_t last_ns;      /* the last result of the phase */
	struct tally failures; /* of the phase */
	uint64_t dropped;      /* while idle, until they are asked for */
	struct tally drops;
	struct times handshakes; /* room for quota */
	struct times wakes;      /* room for as many as it is to wake */
	struct load_lap lap;
	uint64_t tls13, other_protocol, no_protocol;
};

extern const struct app_ops load_app;

/* The beginnings of phases, to be run in the worker's thread. */
void load_worker_ramp(struct worker *worker, void *unused);
void load_worker_round(struct worker *worker, void *unused);
void load_worker_fetch(struct worker *worker, void *unused);
void load_worker_key_update(struct worker *worker, void *unused);
void load_worker_active(struct worker *worker, void *unused);
void load_worker_wakes(struct worker *worker, void *unused);
void load_worker_close(struct worker *worker, void *unused);

#endif
