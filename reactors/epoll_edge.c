// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - edge-triggered connections of an epoll set. Source: epoll(7),
 * epoll_ctl(2); kernel fs/eventpoll.c, net/ipv4/tcp.c.
 *
 * An edge is told once. What can not be used up now is given back to the kernel
 * by EPOLL_CTL_MOD: it polls the socket again and, if that is still ready, puts
 * it at the tail of the kernel's own ready list. So fairness, reopened gates and
 * parked connections need no ready list of ours.
 */
#include "reactors/epoll_edge.h"

enum { READS_PER_TURN = 4 /* of one connection, before the others have theirs */ };

#define READ_EVENTS (EPOLLIN | EPOLLRDHUP | EPOLLET)

/* Says anew what is waited for, and raises the edges that are due. */
static int rearm(struct reactor_loop *loop, uint32_t slot)
{
	const struct epoll_edge_conn *conn = loop->slots[slot].active;
	uint32_t events = conn && conn->writes ? READ_EVENTS | EPOLLOUT : READ_EVENTS;

	return epoll_set_watch(loop, EPOLL_CTL_MOD, slot, events);
}

/* ADD raises the edge of bytes, an end or an error that came before it. */
int epoll_edge_attach(struct reactor_loop *loop, uint32_t slot)
{
	return epoll_set_watch(loop, EPOLL_CTL_ADD, slot, READ_EVENTS);
}

/*
 * An edge that came to a closed gate is due when it opens. EPOLLOUT stays in the
 * mask: TCP signals it only after a send that found no room, so it wakes nobody in
 * vain.
 */
static int changed(struct reactor_loop *loop, uint32_t slot)
{
	struct epoll_edge_conn *conn = loop->slots[slot].active;
	bool edge_due, room_due;

	if (!conn)
		return 0;
	edge_due = conn->edge_kept && ready_wants_input(&conn->ready);
	room_due = !conn->writes && ready_wants_room(&conn->ready);
	conn->edge_kept &= !edge_due;
	conn->writes |= room_due;
	return edge_due || room_due ? rearm(loop, slot) : 0;
}

int epoll_edge_init(struct reactor_loop *loop)
{
	return epoll_set_init(loop, EPOLLET, changed);
}

/*
 * epoll(7), question 9: a short read (or write) of a stream has used up the
 * readiness as surely as EAGAIN has, and saves the call that would say EAGAIN.
 * Trap: not when the peer has sent FIN or RST: the same edge told of the bytes
 * and of the end, and only a further recv shows the end. An end that arrives
 * after this event was fetched has an edge of its own.
 */
static int conn_read(struct reactor_loop *loop, uint32_t slot, uint32_t events)
{
	for (int i = 0; i < READS_PER_TURN; i++) {
		struct epoll_edge_conn *conn = loop->slots[slot].active;
		ssize_t n;

		if (conn && conn->ready.gated) {
			conn->edge_kept = true;
			return 0;
		}
		n = ready_recv(loop, slot);
		if (n == 0 || (n < READY_SCRATCH_BYTES && !(events & EPOLL_SET_END_EVENTS)))
			return 0;
	}
	return rearm(loop, slot);
}

/* Reads before it writes: the reason why a connect failed is told once, and the
 * contract wants it in `received`. */
int epoll_edge_event(struct reactor_loop *loop, uint32_t slot, uint32_t events)
{
	int error = 0;

	if (events & (EPOLLIN | EPOLL_SET_END_EVENTS))
		error = conn_read(loop, slot, events);
	if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
		ready_write(loop, slot);
	return error;
}
