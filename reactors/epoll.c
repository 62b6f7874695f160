// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - epoll: edge-triggered readiness, one set a worker. The reference
 * engine: the others are compared with it, and the load generator runs on it.
 * Kernel floor: 2.6.28 (accept4); from 5.11 on deadlines are exact (epoll_pwait2).
 * Source: epoll(7), epoll_ctl(2); kernel fs/eventpoll.c, net/ipv4/tcp.c.
 *
 * Kernel bytes an idle connection: struct epitem 128, struct eppoll_entry 72, its
 * hook in the file 8.
 *
 * An edge is told once. What can not be used up now is given back to the kernel
 * by EPOLL_CTL_MOD: it polls the socket again and, if that is still ready, puts
 * it at the tail of the kernel's own ready list. So fairness, reopened gates and
 * parked connections need no ready list of ours.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reactors/engine.h"
#include "reactors/reactor.h"

enum {
	EVENTS_PER_TURN = 256,
	READS_PER_TURN = 4, /* of one connection, before the others have theirs */
	SCRATCH_BYTES = 64 * 1024,
};

#define READ_EVENTS (EPOLLIN | EPOLLRDHUP | EPOLLET)
#define END_EVENTS (EPOLLRDHUP | EPOLLHUP | EPOLLERR)

struct epoll_engine {
	int epoll_fd;
	int wake_fd;
	int listen_fd; /* the core's; -1: none */
	bool accept_open;
	bool old_kernel;       /* has no epoll_pwait2 */
	uint32_t closing_head; /* slots whose `closed` is due */
	struct epoll_event events[EVENTS_PER_TURN];
	uint8_t scratch[SCRATCH_BYTES]; /* lent to the core by `received` */
};

/* Lost at park; whatever matters for longer is in the kernel's set. */
struct epoll_conn {
	const uint8_t *pending; /* the caller's bytes not yet sent; NULL: none */
	size_t pending_len;
	uint32_t next_closing;
	bool closing : 1;
	bool ended : 1;     /* `received` had n <= 0 */
	bool gated : 1;     /* the recv gate is closed */
	bool edge_kept : 1; /* an edge came, or was left over, while gated */
	bool writes : 1;    /* EPOLLOUT is in the kernel's mask */
};

static int ctl(struct reactor_loop *loop, int op, int fd, uint32_t events, uint64_t tag)
{
	struct epoll_engine *engine = loop->engine;
	struct epoll_event event = {.events = events, .data.u64 = tag};

	loop->counters.syscalls++;
	return epoll_ctl(engine->epoll_fd, op, fd, &event) < 0 ? -errno : 0;
}

/* Says anew what is waited for, and raises the edges that are due. */
static int rearm(struct reactor_loop *loop, uint32_t slot)
{
	const struct epoll_conn *conn = loop->slots[slot].active;
	uint32_t events = conn && conn->writes ? READ_EVENTS | EPOLLOUT : READ_EVENTS;

	return ctl(loop, EPOLL_CTL_MOD, loop->slots[slot].fd, events,
		   reactor_slot_tag(loop, REACTOR_OP_CONN, slot));
}

static int epoll_probe(char *reason, size_t reason_size)
{
	(void)reason, (void)reason_size;
	return 0;
}

static int epoll_init(struct reactor_loop *loop)
{
	struct epoll_engine *engine = loop->engine;
	int error;

	engine->listen_fd = -1;
	engine->closing_head = ENGINE_NO_SLOT;
	engine->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (engine->epoll_fd < 0)
		return -errno;
	engine->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (engine->wake_fd < 0) {
		error = -errno;
		goto close_epoll;
	}
	/* Edge-triggered: every write is an edge, so it is never read. */
	error = ctl(loop, EPOLL_CTL_ADD, engine->wake_fd, EPOLLIN | EPOLLET,
		    reactor_tag(REACTOR_OP_WAKE, 0, 0));
	if (error == 0)
		return 0;
	close(engine->wake_fd);
close_epoll:
	close(engine->epoll_fd);
	return error;
}

static void epoll_fini(struct reactor_loop *loop)
{
	struct epoll_engine *engine = loop->engine;

	close(engine->wake_fd);
	close(engine->epoll_fd);
}

static int epoll_listen(struct reactor_loop *loop, int fd)
{
	struct epoll_engine *engine = loop->engine;
	int error = engine_set_nonblock(fd, true);

	if (error == 0)
		error = ctl(loop, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET,
			    reactor_tag(REACTOR_OP_ACCEPT, 0, 0));
	if (error)
		return error;
	engine->listen_fd = fd;
	engine->accept_open = true;
	return 0;
}

/* With no events asked for, a closed gate costs no wakeups; the MOD that opens
 * it raises the edge of whatever the backlog holds by then. */
static int epoll_accept_gate(struct reactor_loop *loop, bool open)
{
	struct epoll_engine *engine = loop->engine;

	if (engine->listen_fd < 0)
		return -EINVAL;
	if (open == engine->accept_open)
		return 0;
	engine->accept_open = open;
	return ctl(loop, EPOLL_CTL_MOD, engine->listen_fd, open ? EPOLLIN | EPOLLET : 0,
		   reactor_tag(REACTOR_OP_ACCEPT, 0, 0));
}

/*
 * Trap: at EMFILE the connection stays in the backlog, but its edge is spent:
 * without the MOD of the reopened gate it would never be told again.
 */
static int accept_some(struct reactor_loop *loop)
{
	struct epoll_engine *engine = loop->engine;

	if (!engine_accept_some(loop, engine->listen_fd, SOCK_NONBLOCK | SOCK_CLOEXEC,
				&engine->accept_open))
		return 0;
	return ctl(loop, EPOLL_CTL_MOD, engine->listen_fd, EPOLLIN | EPOLLET,
		   reactor_tag(REACTOR_OP_ACCEPT, 0, 0));
}

/* ADD raises the edge of bytes, an end or an error that came before it. */
static int epoll_attach(struct reactor_loop *loop, uint32_t slot)
{
	return ctl(loop, EPOLL_CTL_ADD, loop->slots[slot].fd, READ_EVENTS,
		   reactor_slot_tag(loop, REACTOR_OP_CONN, slot));
}

static int epoll_recv_gate(struct reactor_loop *loop, uint32_t slot, bool open)
{
	struct epoll_conn *conn = loop->slots[slot].active;
	bool edge_due = open && conn->edge_kept;

	conn->gated = !open;
	if (!edge_due)
		return 0;
	conn->edge_kept = false;
	return rearm(loop, slot);
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
	struct epoll_engine *engine = loop->engine;
	int fd = loop->slots[slot].fd;

	for (int i = 0; i < READS_PER_TURN; i++) {
		struct epoll_conn *conn = loop->slots[slot].active;
		ssize_t n;

		if (conn && (conn->closing || conn->ended))
			return 0;
		if (conn && conn->gated) {
			conn->edge_kept = true;
			return 0;
		}
		n = recv(fd, engine->scratch, SCRATCH_BYTES, MSG_DONTWAIT);
		loop->counters.syscalls++;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0)
			n = -errno;
		loop->up->received(loop, slot, engine->scratch, n);
		conn = loop->slots[slot].active; /* parked or unparked meanwhile */
		if (n <= 0 && conn)
			conn->ended = true;
		if (n <= 0 || (n < SCRATCH_BYTES && !(events & END_EVENTS)))
			return 0;
	}
	return rearm(loop, slot);
}

/* MSG_DONTWAIT serves blocking sockets too: no fcntl for those of the core. */
static ssize_t send_now(struct reactor_loop *loop, uint32_t slot, const void *buf, size_t len)
{
	ssize_t n = send(loop->slots[slot].fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	loop->counters.syscalls++;
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return n;
}

static void conn_write(struct reactor_loop *loop, uint32_t slot)
{
	struct epoll_conn *conn = loop->slots[slot].active;
	ssize_t n;

	if (!conn || !conn->pending || conn->closing)
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

/*
 * A socket that is still connecting answers EAGAIN like a full one, and is
 * writable once connected. EPOLLOUT stays in the mask: TCP signals it only
 * after a send that found no room, so it wakes nobody in vain.
 */
static int epoll_send(struct reactor_loop *loop, uint32_t slot, const void *buf, size_t len)
{
	struct epoll_conn *conn = loop->slots[slot].active;
	ssize_t n;

	if (conn->pending || conn->closing)
		return -EBUSY;
	n = send_now(loop, slot, buf, len);
	if (n < 0)
		return (int)n;
	if ((size_t)n == len)
		return REACTOR_DONE;
	if (!conn->writes) {
		int error;

		conn->writes = true;
		error = rearm(loop, slot);
		if (error)
			return error;
	}
	conn->pending = (const uint8_t *)buf + n;
	conn->pending_len = len - (size_t)n;
	return REACTOR_PENDING;
}

static int epoll_park(struct reactor_loop *loop, uint32_t slot)
{
	const struct epoll_conn *conn = loop->slots[slot].active;

	return conn->pending || conn->gated || conn->closing ? -EBUSY : 0;
}

static int epoll_unpark(struct reactor_loop *loop, uint32_t slot)
{
	(void)loop, (void)slot;
	return 0;
}

static int epoll_close(struct reactor_loop *loop, uint32_t slot)
{
	struct epoll_engine *engine = loop->engine;
	struct epoll_conn *conn = loop->slots[slot].active;

	if (conn->closing)
		return 0;
	conn->closing = true;
	conn->next_closing = engine->closing_head;
	engine->closing_head = slot;
	return 0;
}

/*
 * After the batch, so that no slot is reused under an event that is still to be
 * looked at. close(2) takes the fd out of the set, but only with the last copy
 * of it: events of one that lives on in a forked child are stale by their tag.
 */
static void finish_closes(struct reactor_loop *loop)
{
	struct epoll_engine *engine = loop->engine;

	while (engine->closing_head != ENGINE_NO_SLOT) {
		uint32_t slot = engine->closing_head;
		const struct epoll_conn *conn = loop->slots[slot].active;

		engine->closing_head = conn->next_closing;
		close(loop->slots[slot].fd);
		loop->counters.syscalls++;
		loop->up->closed(loop, slot);
	}
}

/* Reads before it writes: the reason why a connect failed is told once, and the
 * contract wants it in `received`. */
static int conn_event(struct reactor_loop *loop, uint64_t tag, uint32_t events)
{
	uint32_t slot = reactor_tag_slot(tag);
	int error = 0;

	if (!reactor_tag_fresh(loop, tag)) {
		loop->counters.stale_events++;
		return 0;
	}
	if (events & (EPOLLIN | END_EVENTS))
		error = conn_read(loop, slot, events);
	if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
		conn_write(loop, slot);
	return error;
}

/* The number of events, or a negative errno. A signal counts as a wake. */
static int wait_events(struct reactor_loop *loop, uint64_t deadline_ns)
{
	struct epoll_engine *engine = loop->engine;
	struct timespec left, *timeout = engine_time_left(deadline_ns, &left);
	int n = -1, timeout_ms = -1;

	loop->counters.syscalls++;
	if (!engine->old_kernel) {
		n = epoll_pwait2(engine->epoll_fd, engine->events, EVENTS_PER_TURN, timeout, NULL);
		/* Sandboxes that do not know the call answer EPERM. */
		engine->old_kernel = n < 0 && (errno == ENOSYS || errno == EPERM);
	}
	if (engine->old_kernel) {
		if (timeout && left.tv_sec < 1000000) /* rounded up: never early */
			timeout_ms = (int)(left.tv_sec * 1000 + (left.tv_nsec + 999999) / 1000000);
		n = epoll_wait(engine->epoll_fd, engine->events, EVENTS_PER_TURN, timeout_ms);
	}
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n;
}

static int epoll_run(struct reactor_loop *loop, uint64_t deadline_ns)
{
	struct epoll_engine *engine = loop->engine;
	bool closes_due = engine->closing_head != ENGINE_NO_SLOT;
	int n = wait_events(loop, closes_due ? 0 : deadline_ns), error = n < 0 ? n : 0;

	for (int i = 0; i < n && error == 0; i++) {
		uint64_t tag = engine->events[i].data.u64;

		if (reactor_tag_op(tag) == REACTOR_OP_CONN)
			error = conn_event(loop, tag, engine->events[i].events);
		else if (reactor_tag_op(tag) == REACTOR_OP_ACCEPT)
			error = accept_some(loop);
	}
	finish_closes(loop);
	return error;
}

static void epoll_wake(struct reactor_loop *loop)
{
	const struct epoll_engine *engine = loop->engine;

	engine_wake(engine->wake_fd);
}

static const struct reactor_ops epoll_ops = {
	.name = "epoll",
	.summary = "edge-triggered epoll, one scratch buffer a worker (the reference)",
	.kernel_floor = "2.6.28",
	.kernel_conn_bytes = 208,
	.loop_size = sizeof(struct epoll_engine),
	.conn_size = sizeof(struct epoll_conn),
	.probe = epoll_probe,
	.init = epoll_init,
	.fini = epoll_fini,
	.listen = epoll_listen,
	.accept_gate = epoll_accept_gate,
	.attach = epoll_attach,
	.recv_gate = epoll_recv_gate,
	.send = epoll_send,
	.park = epoll_park,
	.unpark = epoll_unpark,
	.close = epoll_close,
	.run = epoll_run,
	.wake = epoll_wake,
};

__attribute__((constructor)) static void register_epoll(void)
{
	reactor_register(&epoll_ops);
}
