// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - uring: the ring code that the io_uring engines share (see uring.h).
 * Kernel floor: 6.1 (DEFER_TASKRUN). Source: io_uring_setup(2), io_uring_enter(2),
 * io_uring_register(2); kernel io_uring/{io_uring,net,poll,cancel,kbuf}.c.
 * build-pkg: liburing >= 2.3
 */
#include "reactors/uring.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

enum {
	REQUESTS = 256, /* queued before the kernel must be called in between */
	COMPLETIONS_MAX = 16384,
	COMPLETIONS_PER_TURN = 128,
};

/* ---- requests ---- */

int uring_make(struct io_uring *ring, unsigned completions)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE,
		.cq_entries = completions > REQUESTS ? completions : REQUESTS,
	};

	return io_uring_queue_init_params(REQUESTS, ring, &params);
}

bool uring_transient(int error)
{
	return error == -EINTR || error == -EAGAIN || error == -EBUSY || error == -ETIME;
}

static void note(struct uring *uring, int result)
{
	if (result < 0 && !uring_transient(result))
		uring->error = result;
}

struct io_uring_sqe *uring_sqe(struct reactor_loop *loop, uint64_t tag)
{
	struct uring *uring = loop->engine;
	struct io_uring_sqe *sqe;

	while (!(sqe = io_uring_get_sqe(&uring->ring)) && !uring->error) {
		note(uring, io_uring_submit(&uring->ring));
		loop->counters.syscalls++;
	}
	if (!sqe)
		sqe = &uring->nowhere;
	sqe->user_data = tag;
	return sqe;
}

void uring_cancel(struct reactor_loop *loop, uint64_t tag)
{
	struct io_uring_sqe *sqe = uring_sqe(loop, reactor_tag(URING_OP_IGNORED, 0, 0));

	io_uring_prep_cancel64(sqe, tag, 0);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

void uring_aim(const struct reactor_loop *loop, struct io_uring_sqe *sqe, uint32_t slot)
{
	const struct uring *uring = loop->engine;

	sqe->fd = uring->kind->direct ? (int)slot : loop->slots[slot].fd;
	if (uring->kind->direct)
		sqe->flags |= IOSQE_FIXED_FILE;
}

/* ---- start and end of the loop ---- */

static void watch_wake(struct reactor_loop *loop)
{
	struct uring *uring = loop->engine;
	struct io_uring_sqe *sqe = uring_sqe(loop, reactor_tag(REACTOR_OP_WAKE, 0, 0));

	/* Every write to an eventfd is an edge, so it is never read. */
	io_uring_prep_poll_multishot(sqe, uring->wake_fd, POLLIN);
	uring->standing++;
}

/* A task that stops in between must not lose completions: room for one a slot. */
static unsigned completions_room(const struct reactor_loop *loop)
{
	unsigned wanted = loop->slot_max + REQUESTS;

	return wanted < COMPLETIONS_MAX ? wanted : COMPLETIONS_MAX;
}

int uring_init(struct reactor_loop *loop, const struct uring_kind *kind)
{
	struct uring *uring = loop->engine;
	int error = uring_make(&uring->ring, completions_room(loop));

	if (error)
		return error;
	uring->kind = kind;
	uring->listen_fd = -1;
	uring->closing_head = ENGINE_NO_SLOT;
	error = uring_provide(loop);
	if (error)
		goto no_buffers;
	uring->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (uring->wake_fd < 0) {
		error = -errno;
		goto no_wake;
	}
	io_uring_register_ring_fd(&uring->ring); /* cheaper calls, where it can be had */
	watch_wake(loop);
	return 0;
no_wake:
	uring_unprovide(loop);
no_buffers:
	io_uring_queue_exit(&uring->ring);
	return error;
}

/* The kernel takes a ring apart some time after its end: what the ring still held
 * then (the listener above all) would live on for as long. */
static void end_standing(struct reactor_loop *loop)
{
	struct uring *uring = loop->engine;
	struct io_uring_sqe *sqe = uring_sqe(loop, reactor_tag(URING_OP_IGNORED, 0, 0));
	struct io_uring_cqe *cqe;

	io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
	while (uring->standing && !uring->error) {
		note(uring, io_uring_submit_and_wait(&uring->ring, 1));
		while (io_uring_peek_cqe(&uring->ring, &cqe) == 0) {
			enum reactor_op op = reactor_tag_op(cqe->user_data);

			if (op == REACTOR_OP_ACCEPT && cqe->res >= 0)
				close(cqe->res);
			if (op != URING_OP_IGNORED && !(cqe->flags & IORING_CQE_F_MORE))
				uring->standing--;
			io_uring_cqe_seen(&uring->ring, cqe);
		}
	}
}

void uring_fini(struct reactor_loop *loop)
{
	struct uring *uring = loop->engine;

	end_standing(loop);
	io_uring_queue_exit(&uring->ring);
	uring_unprovide(loop);
	close(uring->wake_fd);
}

/* ---- accept ---- */

/* Of one listener: the accept of a former one may end after the next is armed. */
static uint64_t accept_tag(const struct uring *uring)
{
	return reactor_tag(REACTOR_OP_ACCEPT, uring->listener, 0);
}

static void arm_accept(struct reactor_loop *loop)
{
	struct uring *uring = loop->engine;
	struct io_uring_sqe *sqe = uring_sqe(loop, accept_tag(uring));

	io_uring_prep_multishot_accept(sqe, uring->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	uring->accept_armed = true;
	uring->standing++;
}

/* Trap: a request on a non-blocking socket ends with EAGAIN instead of waiting. */
int uring_listen(struct reactor_loop *loop, int fd)
{
	struct uring *uring = loop->engine;
	int error = engine_set_nonblock(fd, false);

	if (error)
		return error;
	uring->listener++;
	uring->listen_fd = fd;
	uring->accept_open = true;
	arm_accept(loop);
	return 0;
}

/* Requests are carried out in order, so a cancel can not hit a later accept. */
int uring_accept_gate(struct reactor_loop *loop, bool open)
{
	struct uring *uring = loop->engine;

	if (uring->listen_fd < 0)
		return -EINVAL;
	if (open == uring->accept_open)
		return 0;
	uring->accept_open = open;
	if (!open && uring->accept_armed)
		uring_cancel(loop, accept_tag(uring));
	if (open && !uring->accept_armed)
		arm_accept(loop);
	return 0;
}

/* Trap: a shut listener ends its accept with EINVAL, which is no news once the gate is closed. */
static void on_accept(struct reactor_loop *loop, const struct io_uring_cqe *cqe)
{
	struct uring *uring = loop->engine;
	bool current = cqe->user_data == accept_tag(uring);

	if (!(cqe->flags & IORING_CQE_F_MORE)) {
		if (current)
			uring->accept_armed = false;
		uring->standing--;
	}
	if (cqe->res >= 0) {
		loop->up->accepted(loop, cqe->res);
	} else if (cqe->res != -ECANCELED && current && uring->accept_open) {
		loop->counters.accept_errors++;
		if (!engine_accept_skips(-cqe->res)) {
			uring->accept_open = false;
			loop->up->accepted(loop, cqe->res);
		}
	}
	if (uring->accept_open && !uring->accept_armed)
		arm_accept(loop);
}

/* ---- send ---- */

static void queue_send(struct reactor_loop *loop, uint32_t slot)
{
	const struct uring_conn *conn = loop->slots[slot].active;
	struct io_uring_sqe *sqe = uring_sqe(loop, reactor_slot_tag(loop, REACTOR_OP_SEND, slot));
	size_t len = conn->pending_len < INT_MAX ? conn->pending_len : INT_MAX;

	/* Not MSG_WAITALL: a request that has waited too often for room is given to a
	 * thread of the kernel's. */
	io_uring_prep_send(sqe, -1, conn->pending, len, MSG_NOSIGNAL);
	uring_aim(loop, sqe, slot);
}

int uring_send(struct reactor_loop *loop, uint32_t slot, const void *buf, size_t len)
{
	struct uring_conn *conn = loop->slots[slot].active;

	if (conn->pending || conn->closing)
		return -EBUSY;
	conn->pending = buf;
	conn->pending_len = len;
	queue_send(loop, slot);
	return REACTOR_PENDING;
}

static void on_send(struct reactor_loop *loop, const struct io_uring_cqe *cqe)
{
	uint32_t slot = reactor_tag_slot(cqe->user_data);
	struct uring_conn *conn = loop->slots[slot].active;
	size_t sent = cqe->res > 0 ? (size_t)cqe->res : 0;

	if (!conn->closing && sent < conn->pending_len &&
	    (cqe->res >= 0 || uring_transient(cqe->res))) {
		conn->pending += sent;
		conn->pending_len -= sent;
		queue_send(loop, slot);
		return;
	}
	conn->pending = NULL;
	if (conn->closing)
		return;
	conn->send_error = (int16_t)(cqe->res < 0 ? cqe->res : 0);
	loop->up->sent(loop, slot, conn->send_error);
}

/* ---- the life of a slot ---- */

/* A request of the kernel's table, carried out before those behind it. */
static void install_file(struct reactor_loop *loop, uint32_t slot)
{
	struct io_uring_sqe *sqe = uring_sqe(loop, reactor_tag(URING_OP_IGNORED, 0, 0));

	io_uring_prep_files_update(sqe, &loop->slots[slot].fd, 1, (int)slot);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

int uring_attach(struct reactor_loop *loop, uint32_t slot)
{
	struct uring *uring = loop->engine;
	int error = engine_set_nonblock(loop->slots[slot].fd, false);

	loop->counters.syscalls++;
	if (error)
		return error;
	uring->state[slot] &= URING_STARVED;
	if (uring->kind->direct)
		install_file(loop, slot);
	return 0;
}

int uring_park(struct reactor_loop *loop, uint32_t slot)
{
	const struct uring_conn *conn = loop->slots[slot].active;

	return conn->pending || conn->gated || conn->closing ? -EBUSY : 0;
}

int uring_unpark(struct reactor_loop *loop, uint32_t slot)
{
	(void)loop, (void)slot;
	return 0;
}

void uring_settle(struct reactor_loop *loop, uint32_t slot)
{
	struct uring *uring = loop->engine;
	struct uring_conn *conn = loop->slots[slot].active;

	if (!conn || !conn->closing || conn->closed_due || conn->pending ||
	    uring->state[slot] & (URING_WATCHED | URING_READING))
		return;
	conn->closed_due = true;
	conn->next_closing = uring->closing_head;
	uring->closing_head = slot;
}

/* Trap: close(2) sends no FIN while a request holds the file. */
int uring_close(struct reactor_loop *loop, uint32_t slot)
{
	const struct uring *uring = loop->engine;
	struct uring_conn *conn = loop->slots[slot].active;

	if (conn->closing)
		return 0;
	conn->closing = true;
	if (uring->state[slot] & URING_WATCHED)
		uring_cancel(loop, reactor_slot_tag(loop, REACTOR_OP_CONN, slot));
	if (conn->pending)
		uring_cancel(loop, reactor_slot_tag(loop, REACTOR_OP_SEND, slot));
	uring_settle(loop, slot);
	return 0;
}

static void finish_closes(struct reactor_loop *loop)
{
	struct uring *uring = loop->engine;
	int none = -1;

	while (uring->closing_head != ENGINE_NO_SLOT) {
		uint32_t slot = uring->closing_head;
		const struct uring_conn *conn = loop->slots[slot].active;

		uring->closing_head = conn->next_closing;
		if (uring->kind->direct) {
			io_uring_register_files_update(&uring->ring, slot, &none, 1);
			loop->counters.syscalls++;
		}
		close(loop->slots[slot].fd);
		loop->counters.syscalls++;
		loop->up->closed(loop, slot);
	}
}

/* ---- run ---- */

static void slot_event(struct reactor_loop *loop, const struct io_uring_cqe *cqe)
{
	struct uring *uring = loop->engine;
	enum reactor_op op = reactor_tag_op(cqe->user_data);

	if (op == REACTOR_OP_SEND)
		on_send(loop, cqe);
	else if (op == URING_OP_READ)
		uring_on_read(loop, cqe);
	else
		uring->kind->event(loop, cqe);
	uring_settle(loop, reactor_tag_slot(cqe->user_data));
}

static void dispatch(struct reactor_loop *loop, const struct io_uring_cqe *cqe)
{
	struct uring *uring = loop->engine;

	switch ((int)reactor_tag_op(cqe->user_data)) {
	case REACTOR_OP_ACCEPT:
		on_accept(loop, cqe);
		break;
	case REACTOR_OP_WAKE:
		if (cqe->flags & IORING_CQE_F_MORE)
			break;
		uring->standing--;
		watch_wake(loop);
		break;
	case URING_OP_SET:
		uring->kind->event(loop, cqe);
		break;
	case URING_OP_IGNORED:
		break;
	default:
		slot_event(loop, cqe);
	}
}

/* Hands over what is queued and, unless there is something to do already, waits. */
static void enter(struct reactor_loop *loop, uint64_t deadline_ns)
{
	struct uring *uring = loop->engine;
	bool busy = uring->closing_head != ENGINE_NO_SLOT || uring->starved_count;
	struct timespec left, *timeout = engine_time_left(deadline_ns, &left);
	struct __kernel_timespec wait = {0};
	struct io_uring_cqe *cqe;

	if (io_uring_cq_ready(&uring->ring)) {
		if (!io_uring_sq_ready(&uring->ring))
			return;
		busy = true;
	}
	loop->counters.syscalls++;
	if (busy || (timeout && left.tv_sec == 0 && left.tv_nsec == 0)) {
		note(uring, io_uring_submit_and_get_events(&uring->ring));
		return;
	}
	if (timeout)
		wait = (struct __kernel_timespec){left.tv_sec, left.tv_nsec};
	note(uring,
	     io_uring_submit_and_wait_timeout(&uring->ring, &cqe, 1, timeout ? &wait : NULL, NULL));
}

int uring_run(struct reactor_loop *loop, uint64_t deadline_ns)
{
	struct uring *uring = loop->engine;
	struct io_uring_cqe *cqe;
	unsigned head, count = 0;

	enter(loop, deadline_ns);
	io_uring_for_each_cqe(&uring->ring, head, cqe)
	{
		struct io_uring_cqe copy = {cqe->user_data, cqe->res, cqe->flags};

		if (count++ == COMPLETIONS_PER_TURN || uring->error)
			break;
		io_uring_cq_advance(&uring->ring, 1);
		dispatch(loop, &copy);
	}
	finish_closes(loop);
	uring_feed(loop);
	return uring->error;
}

void uring_wake(struct reactor_loop *loop)
{
	const struct uring *uring = loop->engine;

	engine_wake(uring->wake_fd);
}
