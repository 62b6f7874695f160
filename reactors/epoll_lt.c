// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - epoll_lt: level-triggered epoll, epoll_wait's default. Beside epoll
 * it shows what edges save: a connection with something left is told of again and
 * again, so what nobody wants now has to be taken out of the kernel's mask, and put
 * back later, by one EPOLL_CTL_MOD each.
 * Kernel floor: 2.6.28 (accept4); from 5.11 on deadlines are exact (epoll_pwait2).
 * Source: epoll(7), epoll_ctl(2); kernel fs/eventpoll.c.
 *
 * Kernel bytes an idle connection: struct epitem 128, struct eppoll_entry 72,
 * struct epitems_head 16.
 *
 * Trap: EPOLLHUP and EPOLLERR can not be masked, and a reset connection would have
 * them for ever. EPOLLONESHOT tells them once at the most, until the next MOD.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "reactors/epoll_set.h"
#include "reactors/readiness.h"
#include "reactors/reactor.h"

/* How the kernel's mask differs from EPOLLIN, which a parked connection has. (One
 * that was parked after its end may have less; its end was told.) */
struct lt_conn {
	struct ready_conn ready;
	bool no_input : 1;
	bool room : 1; /* EPOLLOUT is in the mask */
};

/* Brings the kernel's mask up to date with what the connection waits for. */
static int changed(struct reactor_loop *loop, uint32_t slot)
{
	struct lt_conn *conn = loop->slots[slot].active;
	bool input, room;
	uint32_t events;

	if (!conn || conn->ready.closing)
		return 0;
	input = ready_wants_input(&conn->ready);
	room = ready_wants_room(&conn->ready);
	if (conn->no_input == !input && conn->room == room)
		return 0;
	conn->no_input = !input;
	conn->room = room;
	events = (input ? EPOLLIN : 0) | (room ? EPOLLOUT : 0);
	return epoll_set_watch(loop, EPOLL_CTL_MOD, slot, events ? events : EPOLLONESHOT);
}

static int lt_init(struct reactor_loop *loop)
{
	return epoll_set_init(loop, 0, changed);
}

static int lt_attach(struct reactor_loop *loop, uint32_t slot)
{
	return epoll_set_watch(loop, EPOLL_CTL_ADD, slot, EPOLLIN);
}

/* One recv a turn: what it leaves is told again, after the others had their turn. */
static int conn_event(struct reactor_loop *loop, uint32_t slot, uint32_t events)
{
	return ready_event(loop, slot, events & (EPOLLIN | EPOLLHUP | EPOLLERR),
			   events & (EPOLLOUT | EPOLLHUP | EPOLLERR));
}

static int lt_run(struct reactor_loop *loop, uint64_t deadline_ns)
{
	return epoll_set_run(loop, deadline_ns, conn_event);
}

static const struct reactor_ops epoll_lt_ops = {
	.name = "epoll_lt",
	.summary = "level-triggered epoll, one recv a wake",
	.kernel_floor = "2.6.28",
	.kernel_conn_bytes = 216,
	.loop_size = sizeof(struct epoll_set),
	.conn_size = sizeof(struct lt_conn),
	.probe = epoll_set_probe,
	.init = lt_init,
	.fini = epoll_set_fini,
	.listen = epoll_set_listen,
	.accept_gate = epoll_set_accept_gate,
	.attach = lt_attach,
	.recv_gate = ready_recv_gate,
	.send = ready_send,
	.park = ready_park,
	.unpark = ready_unpark,
	.close = ready_close,
	.run = lt_run,
	.wake = epoll_set_wake,
};

__attribute__((constructor)) static void register_epoll_lt(void)
{
	reactor_register(&epoll_lt_ops);
}
