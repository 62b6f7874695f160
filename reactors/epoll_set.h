/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - the epoll set of a worker: making it, its listener, waiting, wake.
 * For epoll.c, c1m.c (epoll_edge.h) and epoll_lt.c, which differ in how they treat
 * a connection.
 * Source: epoll(7), epoll_ctl(2). Functions of the loop's thread, wake apart;
 * errors are negative errno. Those that have the shape of an op are the op.
 */
#ifndef REACTORS_EPOLL_SET_H
#define REACTORS_EPOLL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "reactors/readiness.h"
#include "reactors/reactor.h"

enum { EPOLL_SET_EVENTS_PER_TURN = 256 };

/* All that tells of a peer's end. */
#define EPOLL_SET_END_EVENTS (EPOLLRDHUP | EPOLLHUP | EPOLLERR)

/* What loop->engine is. */
struct epoll_set {
	struct ready_loop ready;
	int epoll_fd;
	int wake_fd;
	uint32_t trigger; /* EPOLLET, or 0: level-triggered */
	bool old_kernel;  /* has no epoll_pwait2 */
	/* The engine's: epoll_set_watch_other's fd is ready. */
	int (*other)(struct reactor_loop *loop);
	struct epoll_event events[EPOLL_SET_EVENTS_PER_TURN];
};

int epoll_set_probe(char *reason, size_t reason_size);
/* `changed`: as in struct ready_loop. */
int epoll_set_init(struct reactor_loop *loop, uint32_t trigger,
		   int (*changed)(struct reactor_loop *loop, uint32_t slot));
void epoll_set_fini(struct reactor_loop *loop);
int epoll_set_listen(struct reactor_loop *loop, int fd);
int epoll_set_accept_gate(struct reactor_loop *loop, bool open);
void epoll_set_wake(struct reactor_loop *loop);

/* epoll_ctl(2) with the tag of slot's connection, or its negative errno. */
int epoll_set_watch(struct reactor_loop *loop, int op, uint32_t slot, uint32_t events);

/* Level-triggered: `other` is called time and again while fd has input. */
int epoll_set_watch_other(struct reactor_loop *loop, int fd,
			  int (*other)(struct reactor_loop *loop));

/*
 * The op `run`. conn_event: what happened to slot's connection, which is not
 * stale but may be parked or closing; a negative errno ends the run.
 */
int epoll_set_run(struct reactor_loop *loop, uint64_t deadline_ns,
		  int (*conn_event)(struct reactor_loop *loop, uint32_t slot, uint32_t events));

#endif
