/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - uring: the ring code that the io_uring engines share. For the .c
 * files beside it only. What each function promises is said in reactor.h at the
 * op of the same name. Source: io_uring(7), io_uring_enter(2), liburing.
 * build-pkg: liburing >= 2.3
 *
 * A loop has one ring, made in its worker's thread. Requests are queued and go to
 * the kernel together, with the wait of the next `run`; the kernel runs what has
 * become ready inside that same call (DEFER_TASKRUN), some twenty at a time.
 *
 * Received bytes lie in a few buffers which a loop provides to the kernel; each
 * is given back when the core has seen it. Where none is left, the slot stands in
 * a queue of the starved and asks again once buffers are back.
 *
 * A slot is given up only when each of its requests has had its last completion:
 * only then does close(2) end the connection, and no tag can be stale.
 */
#ifndef REACTORS_URING_H
#define REACTORS_URING_H

#include <liburing.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reactors/engine.h"
#include "reactors/reactor.h"

enum {
	URING_BUFFERS = 64, /* a power of two; one call brings up to forty events */
	URING_BUFFER_BYTES = 2048,
	URING_PROVIDED_BYTES = 4096, /* the ring that names them: a page of its own */
};

/* Operations in tags, beyond those of the contract. */
#define URING_OP_READ REACTOR_OP_OTHER /* one receive, of a slot that is ready */
#define URING_OP_SET ((enum reactor_op)(REACTOR_OP_OTHER + 1)) /* the wait for a set of slots */
#define URING_OP_IGNORED ((enum reactor_op)(REACTOR_OP_OTHER + 2))

/* What is under way for a slot, active or parked. */
enum {
	URING_WATCHED = 1 << 0, /* the multishot request of its input is armed */
	URING_READING = 1 << 1, /* a single receive is out */
	URING_DUE = 1 << 2,     /* readiness was told and not yet used */
	URING_ENDS = 1 << 3,    /* an end was told: there is one behind all input */
	URING_STARVED = 1 << 4, /* stands in the queue of the starved */
};

/* What makes the engines differ. */
struct uring_kind {
	/* Asks for input that is due or starved. */
	void (*ask)(struct reactor_loop *loop, uint32_t slot);
	/* What a slot had for us is used up: the next receive needs a new readiness.
	 * NULL: nothing to be done for it. */
	void (*drained)(struct reactor_loop *loop, uint32_t slot);
	/* A completion of what the engine itself has armed: op CONN, op SET. */
	void (*event)(struct reactor_loop *loop, const struct io_uring_cqe *cqe);
	bool direct; /* requests name files of the ring's own table, by slot */
};

struct uring {
	struct io_uring ring;
	const struct uring_kind *kind;
	struct io_uring_buf_ring *provided; /* one mapping holds this... */
	uint8_t *buffers;                   /* ...the bytes of the buffers... */
	uint32_t *starved;                  /* ...the queue, of slot_max places... */
	uint8_t *state;                     /* ...and URING_* of each slot */
	uint32_t starved_head, starved_count;
	unsigned reads_out; /* each takes a buffer at the most */
	unsigned standing;  /* requests of the loop itself that are armed */
	int wake_fd;
	int listen_fd;     /* the core's; -1: none */
	uint16_t listener; /* which one that is, in tags */
	bool accept_open, accept_armed;
	uint32_t closing_head;       /* slots whose `closed` is due */
	int error;                   /* the ring is broken: negative errno */
	struct io_uring_sqe nowhere; /* written by requests to a broken ring */
};

/* Zeroed at unpark. */
struct uring_conn {
	const uint8_t *pending; /* the caller's bytes not yet sent; NULL: none */
	size_t pending_len;
	uint32_t next_closing;
	int16_t send_error; /* the kernel tells a socket's error once only */
	bool closing : 1;
	bool closed_due : 1; /* is in the list of those whose `closed` is due */
	bool ended : 1;      /* `received` had n <= 0 */
	bool gated : 1;      /* the recv gate is closed */
};

/* Tries a ring with all that the engines use; then whether it knows `op`. */
int uring_probe(int op, const char *op_name, char *reason, size_t reason_size);
/* A ring like that of an engine, with room for that many completions or more. */
int uring_make(struct io_uring *ring, unsigned completions);

/* `loop->engine` begins with a struct uring. */
int uring_init(struct reactor_loop *loop, const struct uring_kind *kind);
void uring_fini(struct reactor_loop *loop);
int uring_listen(struct reactor_loop *loop, int fd);
int uring_accept_gate(struct reactor_loop *loop, bool open);
/* Prepares the slot; what it then waits for is the engine's part. */
int uring_attach(struct reactor_loop *loop, uint32_t slot);
int uring_send(struct reactor_loop *loop, uint32_t slot, const void *buf, size_t len);
int uring_park(struct reactor_loop *loop, uint32_t slot);
int uring_unpark(struct reactor_loop *loop, uint32_t slot);
int uring_close(struct reactor_loop *loop, uint32_t slot);
int uring_run(struct reactor_loop *loop, uint64_t deadline_ns);
void uring_wake(struct reactor_loop *loop);

/* A request of that tag, for an io_uring_prep_*; never NULL. */
struct io_uring_sqe *uring_sqe(struct reactor_loop *loop, uint64_t tag);
/* Cancels the request of that tag; it then completes with -ECANCELED. */
void uring_cancel(struct reactor_loop *loop, uint64_t tag);
/* After each last completion: a slot that has no other may be on its way out. */
void uring_settle(struct reactor_loop *loop, uint32_t slot);
/* False: the core wants nothing of it now, or ever. */
bool uring_wants(const struct reactor_loop *loop, uint32_t slot);
/* Tells the core what a receive brought, and gives its buffer back. True: the
 * connection goes on. */
bool uring_deliver(struct reactor_loop *loop, const struct io_uring_cqe *cqe);

/* Input by multishot receive: io_uring, io_uring_direct. */
int uring_stream_attach(struct reactor_loop *loop, uint32_t slot);
void uring_stream_ask(struct reactor_loop *loop, uint32_t slot);
void uring_stream_event(struct reactor_loop *loop, const struct io_uring_cqe *cqe);
int uring_stream_gate(struct reactor_loop *loop, uint32_t slot, bool open);

/* Input by single receives of slots that are ready: io_uring_poll, io_uring_epoll.
 * Readiness is an edge; the receive happens as soon as gate and buffers allow. */
void uring_ready(struct reactor_loop *loop, uint32_t slot, bool ends);
void uring_read(struct reactor_loop *loop, uint32_t slot);
int uring_read_gate(struct reactor_loop *loop, uint32_t slot, bool open);

/* Between the files uring*.c. */
int uring_register_buffers(struct io_uring *ring, void *provided);
int uring_provide(struct reactor_loop *loop);
void uring_unprovide(struct reactor_loop *loop);
void uring_feed(struct reactor_loop *loop);
void uring_on_read(struct reactor_loop *loop, const struct io_uring_cqe *cqe);
/* The file of a slot, once the rest of the request stands. */
void uring_aim(const struct reactor_loop *loop, struct io_uring_sqe *sqe, uint32_t slot);
/* What a call or a request answers when it is to be tried again. */
bool uring_transient(int error);

#endif
