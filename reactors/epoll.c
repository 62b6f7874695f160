// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - epoll: edge-triggered readiness, one set a worker. The reference
 * engine: the others are compared with it, and the load generator runs on it.
 * Kernel floor: 2.6.28 (accept4); from 5.11 on deadlines are exact (epoll_pwait2).
 * Source: epoll(7), epoll_ctl(2); kernel fs/eventpoll.c, net/ipv4/tcp.c.
 *
 * Kernel bytes an idle connection: struct epitem 128, struct eppoll_entry 72,
 * struct epitems_head 16.
 */
#include <stdint.h>

#include "reactors/epoll_edge.h"
#include "reactors/readiness.h"
#include "reactors/reactor.h"

static int epoll_run(struct reactor_loop *loop, uint64_t deadline_ns)
{
	return epoll_set_run(loop, deadline_ns, epoll_edge_event);
}

static const struct reactor_ops epoll_ops = {
	.name = "epoll",
	.summary = "edge-triggered epoll, one scratch buffer a worker (the reference)",
	.kernel_floor = "2.6.28",
	.kernel_conn_bytes = 216,
	.loop_size = sizeof(struct epoll_set),
	.conn_size = sizeof(struct epoll_edge_conn),
	.probe = epoll_set_probe,
	.init = epoll_edge_init,
	.fini = epoll_set_fini,
	.listen = epoll_set_listen,
	.accept_gate = epoll_set_accept_gate,
	.attach = epoll_edge_attach,
	.recv_gate = ready_recv_gate,
	.send = ready_send,
	.park = ready_park,
	.unpark = ready_unpark,
	.close = ready_close,
	.run = epoll_run,
	.wake = epoll_set_wake,
};

__attribute__((constructor)) static void register_epoll(void)
{
	reactor_register(&epoll_ops);
}
