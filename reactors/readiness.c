// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - readiness: receiving, sending and closing for engines that are told
 * when a socket is ready. Source: recv(2), send(2), tcp(7); kernel net/ipv4/tcp.c.
 *
 * MSG_DONTWAIT serves blocking sockets too: no fcntl for those of the core.
 */
#include "reactors/readiness.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

void ready_init(struct reactor_loop *loop, int (*changed)(struct reactor_loop *loop, uint32_t slot))
{
	struct ready_loop *ready = loop->engine;

	ready->changed = changed;
	ready->listen_fd = -1;
	ready->closing_head = ENGINE_NO_SLOT;
}

int ready_listen(struct reactor_loop *loop, int fd)
{
	struct ready_loop *ready = loop->engine;
	int error = engine_set_nonblock(fd, true);

	if (error)
		return error;
	ready->listen_fd = fd;
	ready->accept_open = true;
	return 0;
}

int ready_accept_gate(struct reactor_loop *loop, bool open)
{
	struct ready_loop *ready = loop->engine;

	if (ready->listen_fd < 0)
		return -EINVAL;
	ready->accept_open = open;
	return 0;
}

bool ready_accept(struct reactor_loop *loop)
{
	struct ready_loop *ready = loop->engine;

	return engine_accept_some(loop, ready->listen_fd, SOCK_NONBLOCK | SOCK_CLOEXEC,
				  &ready->accept_open);
}

ssize_t ready_recv(struct reactor_loop *loop, uint32_t slot)
{
	struct ready_loop *ready = loop->engine;
	struct ready_conn *conn = loop->slots[slot].active;
	ssize_t n;

	if (!ready_wants_input(conn))
		return 0;
	n = recv(loop->slots[slot].fd, ready->scratch, READY_SCRATCH_BYTES, MSG_DONTWAIT);
	loop->counters.syscalls++;
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0)
		n = -errno;
	loop->up->received(loop, slot, ready->scratch, n);
	conn = loop->slots[slot].active; /* parked or unparked meanwhile */
	if (n <= 0 && conn)
		conn->ended = true;
	return n > 0 ? n : 0;
}

static ssize_t send_now(struct reactor_loop *loop, uint32_t slot, const void *buf, size_t len)
{
	ssize_t n = send(loop->slots[slot].fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	loop->counters.syscalls++;
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return n;
}

void ready_write(struct reactor_loop *loop, uint32_t slot)
{
	struct ready_conn *conn = loop->slots[slot].active;
	ssize_t n;

	if (!ready_wants_room(conn))
		return;
	n = send_now(loop, slot, conn->pending, conn->pending_len);
	if (n >= 0 && (size_t)n < conn->pending_len) {
		conn->pending += n;
		conn->pending_len -= (size_t)n;
		return;
	}
	conn->pending = NULL;
	loop->up->sent(loop, slot, n < 0 ? (int)n : 0);
}

/* Reads before it writes: the reason why a connect failed is told once, and the
 * contract wants it in `received`. */
int ready_event(struct reactor_loop *loop, uint32_t slot, bool input, bool room)
{
	const struct ready_loop *ready = loop->engine;

	if (input)
		ready_recv(loop, slot);
	if (room)
		ready_write(loop, slot);
	return ready->changed(loop, slot);
}

int ready_recv_gate(struct reactor_loop *loop, uint32_t slot, bool open)
{
	const struct ready_loop *ready = loop->engine;
	struct ready_conn *conn = loop->slots[slot].active;

	conn->gated = !open;
	return ready->changed(loop, slot);
}

/* A socket that is still connecting answers EAGAIN like a full one, and has room
 * once connected. */
int ready_send(struct reactor_loop *loop, uint32_t slot, const void *buf, size_t len)
{
	const struct ready_loop *ready = loop->engine;
	struct ready_conn *conn = loop->slots[slot].active;
	ssize_t n;
	int error;

	if (conn->pending || conn->closing)
		return -EBUSY;
	n = send_now(loop, slot, buf, len);
	if (n < 0)
		return (int)n;
	if ((size_t)n == len)
		return REACTOR_DONE;
	conn->pending = (const uint8_t *)buf + n;
	conn->pending_len = len - (size_t)n;
	error = ready->changed(loop, slot);
	if (error == 0)
		return REACTOR_PENDING;
	conn->pending = NULL;
	return error;
}

/* In `sent`, what the engine waits for may still be room. */
int ready_park(struct reactor_loop *loop, uint32_t slot)
{
	const struct ready_loop *ready = loop->engine;
	const struct ready_conn *conn = loop->slots[slot].active;

	if (conn->pending || conn->gated || conn->closing)
		return -EBUSY;
	return ready->changed(loop, slot);
}

int ready_unpark(struct reactor_loop *loop, uint32_t slot)
{
	(void)loop, (void)slot;
	return 0;
}

int ready_close(struct reactor_loop *loop, uint32_t slot)
{
	struct ready_loop *ready = loop->engine;
	struct ready_conn *conn = loop->slots[slot].active;

	if (conn->closing)
		return 0;
	conn->closing = true;
	conn->next_closing = ready->closing_head;
	ready->closing_head = slot;
	return ready->changed(loop, slot);
}

void ready_finish_closes(struct reactor_loop *loop)
{
	struct ready_loop *ready = loop->engine;

	while (ready->closing_head != ENGINE_NO_SLOT) {
		uint32_t slot = ready->closing_head;
		const struct ready_conn *conn = loop->slots[slot].active;

		ready->closing_head = conn->next_closing;
		if (loop->slots[slot].fd >= 0) {
			close(loop->slots[slot].fd);
			loop->counters.syscalls++;
		}
		loop->up->closed(loop, slot);
	}
}
