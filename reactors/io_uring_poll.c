// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - io_uring_poll: readiness on a ring. A multishot poll stands for each
 * connection; only one that is ready has a receive, which takes what is there and
 * is gone. Sends and all else are as in io_uring (uring.c).
 * Kernel floor: 6.1 (rings with DEFER_TASKRUN).
 * Source: io_uring_enter(2), io_uring_prep_poll_multishot(3); kernel io_uring/poll.c.
 * build-pkg: liburing >= 2.3
 *
 * Kernel bytes an idle connection: struct io_kiocb 256, its hook in the file 8.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "reactors/reactor.h"
#include "reactors/uring.h"

static int poll_probe(char *reason, size_t reason_size)
{
	return uring_probe(IORING_OP_POLL_ADD, "IORING_OP_POLL_ADD", reason, reason_size);
}

static void watch(struct reactor_loop *loop, uint32_t slot)
{
	struct uring *uring = loop->engine;
	struct io_uring_sqe *sqe = uring_sqe(loop, reactor_slot_tag(loop, REACTOR_OP_CONN, slot));

	io_uring_prep_poll_multishot(sqe, loop->slots[slot].fd, POLLIN | POLLRDHUP);
	uring->state[slot] |= URING_WATCHED;
}

/* Closed by the core, it is not to be watched any more. */
static void watch_again(struct reactor_loop *loop, uint32_t slot)
{
	const struct uring *uring = loop->engine;
	const struct uring_conn *conn = loop->slots[slot].active;

	if (!(uring->state[slot] & URING_WATCHED) && !(conn && conn->closing))
		watch(loop, slot);
}

/*
 * Trap: a poll tells what it was woken with, once; the receive has to be asked for
 * even where the gate is closed now, and is then due when it opens. A poll that
 * ends for want of completions (no F_MORE) is armed again when all is read: armed
 * before, it would at once tell of the same bytes, and want room for that.
 */
static void poll_event(struct reactor_loop *loop, const struct io_uring_cqe *cqe)
{
	struct uring *uring = loop->engine;
	uint32_t slot = reactor_tag_slot(cqe->user_data);

	if (!(cqe->flags & IORING_CQE_F_MORE))
		uring->state[slot] &= ~URING_WATCHED;
	if (cqe->res >= 0)
		uring_ready(loop, slot, cqe->res & (POLLRDHUP | POLLHUP | POLLERR));
	else if (uring_deliver(loop, cqe)) /* else the core knows that it is broken */
		watch_again(loop, slot);
}

static int poll_attach(struct reactor_loop *loop, uint32_t slot)
{
	int error = uring_attach(loop, slot);

	if (error == 0)
		watch(loop, slot);
	return error;
}

static const struct uring_kind kind = {
	.ask = uring_read,
	.drained = watch_again,
	.event = poll_event,
};

static int poll_init(struct reactor_loop *loop)
{
	return uring_init(loop, &kind);
}

static const struct reactor_ops io_uring_poll_ops = {
	.name = "io_uring_poll",
	.summary = "io_uring readiness: a multishot poll a connection, receives when ready",
	.kernel_floor = "6.1",
	.kernel_conn_bytes = 264,
	.loop_size = sizeof(struct uring),
	.conn_size = sizeof(struct uring_conn),
	.probe = poll_probe,
	.init = poll_init,
	.fini = uring_fini,
	.listen = uring_listen,
	.accept_gate = uring_accept_gate,
	.attach = poll_attach,
	.recv_gate = uring_read_gate,
	.send = uring_send,
	.park = uring_park,
	.unpark = uring_unpark,
	.close = uring_close,
	.run = uring_run,
	.wake = uring_wake,
};

__attribute__((constructor)) static void register_io_uring_poll(void)
{
	reactor_register(&io_uring_poll_ops);
}
