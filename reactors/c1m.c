// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - c1m: epoll, and a level of parking below it: an idle connection without a socket,
 * so without a file descriptor. harness/docs/deep.md says how it works; c1m_deep.c is where.
 * Source: epoll(7); what the files c1m_*.c name.
 * build-pkg: libmnl
 *
 * Kernel bytes an idle connection: as epoll; at level deep nothing is left of it there.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "reactors/c1m_deep.h"
#include "reactors/epoll_edge.h"
#include "reactors/readiness.h"
#include "reactors/reactor.h"

struct c1m_loop {
	struct epoll_set set;
	bool is_deep;
	struct c1m_deep deep;
};

static struct c1m_deep *deep_of(const struct reactor_loop *loop)
{
	struct c1m_loop *c1m = loop->engine;

	return c1m->is_deep ? &c1m->deep : NULL;
}

static int packets(struct reactor_loop *loop)
{
	int count = c1m_deep_packets(deep_of(loop), loop);

	return count < 0 ? count : 0;
}

static int c1m_deep(struct reactor_loop *loop, const struct reactor_deep *config, char *reason,
		    size_t reason_size)
{
	struct c1m_loop *c1m = loop->engine;
	int error;

	error = c1m_deep_init(&c1m->deep, loop, config, reason, reason_size);
	if (error)
		return error;
	error = epoll_set_watch_other(loop, c1m_queue_fd(&c1m->deep.queue), packets);
	if (!error && c1m->set.ready.listen_fd >= 0)
		error = c1m_deep_listens(c1m->set.ready.listen_fd);
	if (error)
		snprintf(reason, reason_size, "level deep: %s", strerror(-error));
	if (error)
		c1m_deep_fini(&c1m->deep, loop);
	c1m->is_deep = !error;
	return error;
}

static void c1m_fini(struct reactor_loop *loop)
{
	struct c1m_deep *deep = deep_of(loop);

	if (deep)
		c1m_deep_fini(deep, loop);
	epoll_set_fini(loop);
}

/* From its first moment on: a packet for a parked connection that it got would be answered by RST.
 */
static int c1m_bound(struct reactor_loop *loop, int fd)
{
	return deep_of(loop) ? c1m_deep_listens(fd) : 0;
}

static int c1m_attach(struct reactor_loop *loop, uint32_t slot)
{
	struct c1m_deep *deep = deep_of(loop);

	if (deep)
		c1m_deep_attached(deep, loop, slot);
	return epoll_edge_attach(loop, slot);
}

static int c1m_park(struct reactor_loop *loop, uint32_t slot)
{
	struct c1m_deep *deep = deep_of(loop);
	int error = ready_park(loop, slot);

	if (!error && deep)
		c1m_deep_parked(deep, slot);
	return error;
}

static int c1m_unpark(struct reactor_loop *loop, uint32_t slot)
{
	struct c1m_deep *deep = deep_of(loop);

	return deep ? c1m_deep_unparked(deep, loop, slot) : 0;
}

static int c1m_close(struct reactor_loop *loop, uint32_t slot)
{
	struct c1m_deep *deep = deep_of(loop);

	if (deep)
		c1m_deep_closing(deep, loop, slot);
	return ready_close(loop, slot);
}

static int c1m_run(struct reactor_loop *loop, uint64_t deadline_ns)
{
	struct c1m_deep *deep = deep_of(loop);
	uint64_t due_ns = deep ? c1m_deep_due_ns(deep) : UINT64_MAX;
	int error =
		epoll_set_run(loop, due_ns < deadline_ns ? due_ns : deadline_ns, epoll_edge_event);

	if (!error && deep)
		error = c1m_deep_turn(deep, loop);
	return error;
}

static const struct reactor_ops c1m_ops = {
	.name = "c1m",
	.summary = "epoll while awake; at level deep an idle connection has no socket",
	.kernel_floor = "2.6.28",
	.kernel_conn_bytes = 216,
	.loop_size = sizeof(struct c1m_loop),
	.conn_size = sizeof(struct epoll_edge_conn),
	.probe = epoll_set_probe,
	.init = epoll_edge_init,
	.fini = c1m_fini,
	.bound = c1m_bound,
	.listen = epoll_set_listen,
	.accept_gate = epoll_set_accept_gate,
	.attach = c1m_attach,
	.recv_gate = ready_recv_gate,
	.send = ready_send,
	.park = c1m_park,
	.unpark = c1m_unpark,
	.close = c1m_close,
	.run = c1m_run,
	.wake = epoll_set_wake,
	.deep_probe = c1m_deep_probe,
	.deep = c1m_deep,
};

__attribute__((constructor)) static void register_c1m(void)
{
	reactor_register(&c1m_ops);
}
