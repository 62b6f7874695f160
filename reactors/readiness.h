/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - readiness: what engines share that are told when a socket is ready
 * and then call recv(2) and send(2) themselves (epoll, epoll_lt, libev, poll): the
 * scratch buffer that input is lent from, short writes, gates, ends, closes that
 * are due. What is left to the engine is how readiness comes.
 *
 * Such an engine's loop bytes begin with a struct ready_loop, its connection's
 * bytes with a struct ready_conn. Functions of the loop's thread; errors are
 * negative errno. Those that have the shape of an op can be the op.
 */
#ifndef REACTORS_READINESS_H
#define REACTORS_READINESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "reactors/engine.h"
#include "reactors/reactor.h"

enum { READY_SCRATCH_BYTES = 64 * 1024 };

struct ready_loop {
	/*
	 * The engine's: what slot's connection waits for may have changed, see
	 * ready_wants_input and ready_wants_room. Called from ops and after upcalls;
	 * the connection may be parked or closing.
	 */
	int (*changed)(struct reactor_loop *loop, uint32_t slot);
	int listen_fd; /* the core's; -1: none */
	bool accept_open;
	uint32_t closing_head;                /* slots whose `closed` is due */
	uint8_t scratch[READY_SCRATCH_BYTES]; /* lent to the core by `received` */
};

/* Lost at park: whatever matters for longer is elsewhere. */
struct ready_conn {
	const uint8_t *pending; /* the caller's bytes not yet sent; NULL: none */
	size_t pending_len;
	uint32_t next_closing;
	bool closing : 1;
	bool ended : 1; /* `received` had n <= 0 */
	bool gated : 1; /* the recv gate is closed */
};

void ready_init(struct reactor_loop *loop,
		int (*changed)(struct reactor_loop *loop, uint32_t slot));

/* Makes `fd` non-blocking and opens the accept gate. */
int ready_listen(struct reactor_loop *loop, int fd);
/* Sets accept_open: -EINVAL without a listener. */
int ready_accept_gate(struct reactor_loop *loop, bool open);
/* Accepts what waits, up to a bound. True: more may wait. */
bool ready_accept(struct reactor_loop *loop);

/*
 * One recv and its upcall: how many bytes there were; 0 when nothing is to be
 * had for now, or ever. The connection may be parked, unparked or closing after
 * it: read slot->active afresh.
 */
ssize_t ready_recv(struct reactor_loop *loop, uint32_t slot);
/* Goes on with a pending send, if there is one; may make the `sent` upcall. */
void ready_write(struct reactor_loop *loop, uint32_t slot);
/* Both, as far as the socket is ready for them, then `changed`. */
int ready_event(struct reactor_loop *loop, uint32_t slot, bool input, bool room);

int ready_recv_gate(struct reactor_loop *loop, uint32_t slot, bool open);
int ready_send(struct reactor_loop *loop, uint32_t slot, const void *buf, size_t len);
int ready_park(struct reactor_loop *loop, uint32_t slot);
int ready_unpark(struct reactor_loop *loop, uint32_t slot);
/* The connection is closed by the next ready_finish_closes. */
int ready_close(struct reactor_loop *loop, uint32_t slot);

/* Then `run` is not to wait. */
static inline bool ready_closes_due(const struct reactor_loop *loop)
{
	const struct ready_loop *ready = loop->engine;

	return ready->closing_head != ENGINE_NO_SLOT;
}

/* Last in `run`, so that no slot is reused under an event still to be looked at. */
void ready_finish_closes(struct reactor_loop *loop);

/*
 * What to wait for: a level-triggered engine is told time and again of what nobody
 * takes. A parked connection (NULL) wants input alone.
 */
static inline bool ready_wants_input(const struct ready_conn *conn)
{
	return !conn || !(conn->gated || conn->ended || conn->closing);
}

static inline bool ready_wants_room(const struct ready_conn *conn)
{
	return conn && conn->pending && !conn->closing;
}

#endif
