// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - io_uring_epoll: connections stand in an edge-triggered epoll set, as
 * in epoll.c; the set is awaited, and all receives and sends are done, through a
 * ring. What that takes beyond the set is in uring.c and uring_recv.c.
 * Kernel floor: 6.15 (IORING_OP_EPOLL_WAIT).
 * Source: epoll(7), io_uring_enter(2); kernel io_uring/epoll.c, fs/eventpoll.c.
 * build-pkg: liburing >= 2.3
 *
 * Kernel bytes an idle connection: struct epitem 128, struct eppoll_entry 72,
 * struct epitems_head 16.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "reactors/engine.h"
#include "reactors/reactor.h"
#include "reactors/uring.h"

/* liburing names it from 2.10 on. */
#define OP_EPOLL_WAIT 59

struct epoll_set {
	struct uring uring;
	int epoll_fd;
	/* Written by the kernel from the wait to its completion. */
	struct epoll_event events[URING_BUFFERS];
};

static int set_probe(char *reason, size_t reason_size)
{
	return uring_probe(OP_EPOLL_WAIT, "IORING_OP_EPOLL_WAIT (Linux 6.15)", reason, reason_size);
}

static void await_set(struct reactor_loop *loop)
{
	struct epoll_set *set = loop->engine;
	struct io_uring_sqe *sqe = uring_sqe(loop, reactor_tag(URING_OP_SET, 0, 0));

	io_uring_prep_rw(OP_EPOLL_WAIT, sqe, set->epoll_fd, set->events, URING_BUFFERS, 0);
	set->uring.standing++;
}

static void set_event(struct reactor_loop *loop, const struct io_uring_cqe *cqe)
{
	struct epoll_set *set = loop->engine;

	set->uring.standing--;
	for (int i = 0; i < cqe->res; i++) {
		uint64_t tag = set->events[i].data.u64;
		uint32_t events = set->events[i].events;

		if (reactor_tag_fresh(loop, tag))
			uring_ready(loop, reactor_tag_slot(tag),
				    events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
		else
			loop->counters.stale_events++;
	}
	if (cqe->res < 0 && !uring_transient(cqe->res))
		set->uring.error = cqe->res;
	else
		await_set(loop);
}

static const struct uring_kind kind = {
	.ask = uring_read,
	.event = set_event,
};

static int set_init(struct reactor_loop *loop)
{
	struct epoll_set *set = loop->engine;
	int error;

	set->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (set->epoll_fd < 0)
		return -errno;
	error = uring_init(loop, &kind);
	if (error)
		close(set->epoll_fd);
	else
		await_set(loop);
	return error;
}

static void set_fini(struct reactor_loop *loop)
{
	const struct epoll_set *set = loop->engine;

	uring_fini(loop);
	close(set->epoll_fd);
}

/* close(2) takes it out of the set again. */
static int set_attach(struct reactor_loop *loop, uint32_t slot)
{
	const struct epoll_set *set = loop->engine;
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLRDHUP | EPOLLET,
		.data.u64 = reactor_slot_tag(loop, REACTOR_OP_CONN, slot),
	};
	int error = uring_attach(loop, slot);

	if (error)
		return error;
	loop->counters.syscalls++;
	if (epoll_ctl(set->epoll_fd, EPOLL_CTL_ADD, loop->slots[slot].fd, &event) < 0)
		return -errno;
	return 0;
}

static const struct reactor_ops io_uring_epoll_ops = {
	.name = "io_uring_epoll",
	.summary = "an epoll set awaited through a ring, receives and sends batched in it",
	.kernel_floor = "6.15",
	.kernel_conn_bytes = 216,
	.loop_size = sizeof(struct epoll_set),
	.conn_size = sizeof(struct uring_conn),
	.probe = set_probe,
	.init = set_init,
	.fini = set_fini,
	.listen = uring_listen,
	.accept_gate = uring_accept_gate,
	.attach = set_attach,
	.recv_gate = uring_read_gate,
	.send = uring_send,
	.park = uring_park,
	.unpark = uring_unpark,
	.close = uring_close,
	.run = uring_run,
	.wake = uring_wake,
};

__attribute__((constructor)) static void register_io_uring_epoll(void)
{
	reactor_register(&io_uring_epoll_ops);
}
