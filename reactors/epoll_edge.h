/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - edge-triggered connections of an epoll set, for epoll.c and c1m.c.
 * Functions of the loop's thread; errors are negative errno.
 */
#ifndef REACTORS_EPOLL_EDGE_H
#define REACTORS_EPOLL_EDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "reactors/epoll_set.h"

/* A connection's bytes begin with it. */
struct epoll_edge_conn {
	struct ready_conn ready;
	bool edge_kept : 1; /* an edge came, or was left over, while gated */
	bool writes : 1;    /* EPOLLOUT is in the kernel's mask */
};

int epoll_edge_init(struct reactor_loop *loop);
int epoll_edge_attach(struct reactor_loop *loop, uint32_t slot);
/* For epoll_set_run. */
int epoll_edge_event(struct reactor_loop *loop, uint32_t slot, uint32_t events);

#endif
