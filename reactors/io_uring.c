// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - io_uring: completion-based. A multishot accept, a multishot receive
 * a connection into a few provided buffers, sends queued and handed over together:
 * one system call serves a whole turn of the loop. What all four io_uring engines
 * do alike is in uring.c, the multishot receive in uring_recv.c.
 * Kernel floor: 6.1 (rings with DEFER_TASKRUN).
 * Source: io_uring_enter(2), io_uring_prep_recv_multishot(3).
 * build-pkg: liburing >= 2.3
 *
 * Kernel bytes an idle connection, all of them the armed receive's: struct io_kiocb
 * 256, struct io_async_msghdr 512, struct async_poll 96, its hook in the file 8.
 */
#include <stddef.h>
#include <stdint.h>

#include "reactors/reactor.h"
#include "reactors/uring.h"

static int io_uring_probe_engine(char *reason, size_t reason_size)
{
	return uring_probe(IORING_OP_RECV, "IORING_OP_RECV", reason, reason_size);
}

static const struct uring_kind kind = {
	.ask = uring_stream_ask,
	.event = uring_stream_event,
};

static int io_uring_init(struct reactor_loop *loop)
{
	return uring_init(loop, &kind);
}

static const struct reactor_ops io_uring_ops = {
	.name = "io_uring",
	.summary = "io_uring completions: multishot accept and receive, provided buffers",
	.kernel_floor = "6.1",
	.kernel_conn_bytes = 872,
	.loop_size = sizeof(struct uring),
	.conn_size = sizeof(struct uring_conn),
	.probe = io_uring_probe_engine,
	.init = io_uring_init,
	.fini = uring_fini,
	.listen = uring_listen,
	.accept_gate = uring_accept_gate,
	.attach = uring_stream_attach,
	.recv_gate = uring_stream_gate,
	.send = uring_send,
	.park = uring_park,
	.unpark = uring_unpark,
	.close = uring_close,
	.run = uring_run,
	.wake = uring_wake,
};

__attribute__((constructor)) static void register_io_uring(void)
{
	reactor_register(&io_uring_ops);
}
