/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - c1m: the life of a connection at level deep, from park to the loss of its socket
 * and back. Functions of the loop's thread; errors are negative errno.
 */
#ifndef REACTORS_C1M_DEEP_H
#define REACTORS_C1M_DEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reactors/c1m_queue.h"
#include "reactors/c1m_tcp.h"
#include "reactors/reactor.h"

struct c1m_service;

/* A line of slots that wait for their time, which is the same for all: first in, first out. */
struct c1m_line {
	uint32_t first, last;
};

/* What a loop has at level deep. */
struct c1m_deep {
	struct c1m_record *records; /* slot_max, one mapping */
	struct c1m_service *service;
	struct c1m_line idle;     /* parked; their socket may go when idle_ms have passed */
	struct c1m_line draining; /* with a socket again; packets of theirs may still be held */
	struct c1m_line leaving;  /* their packets are held; it goes when GRACE_MS have passed */
	uint32_t woken;           /* since the last turn */
	struct c1m_blanks blanks;
	uint32_t idle_ms;
	uint32_t pressed_ms; /* when a socket could not be made */
	uint32_t space;      /* in the index */
	bool client;
	struct c1m_queue queue;
};

/* Of reactor_ops. */
int c1m_deep_probe(char *reason, size_t reason_size);
int c1m_deep_init(struct c1m_deep *deep, struct reactor_loop *loop,
		  const struct reactor_deep *config, char *reason, size_t reason_size);
void c1m_deep_fini(struct c1m_deep *deep, const struct reactor_loop *loop);

/* SYNs to the listener are held: they may be for a connection that is parked. */
int c1m_deep_listens(int listen_fd);
/* A new connection in the slot. */
void c1m_deep_attached(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot);
/* It is parked, with a socket. */
void c1m_deep_parked(struct c1m_deep *deep, uint32_t slot);
/* It is unparked, and has a socket again; or has none after an error. */
int c1m_deep_unparked(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot);
/* It is to be closed, unparked before, maybe in vain. */
void c1m_deep_closing(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot);

/* When c1m_deep_turn has something to do; UINT64_MAX: not until something happens. */
uint64_t c1m_deep_due_ns(const struct c1m_deep *deep);
/* Last in `run`: dissolves sockets whose time has come; may make the upcall `received`. */
int c1m_deep_turn(struct c1m_deep *deep, struct reactor_loop *loop);
/* Packets have come for connections that may have no socket. How many, or a negative errno. */
int c1m_deep_packets(struct c1m_deep *deep, struct reactor_loop *loop);

#endif
