// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - io_uring_direct: io_uring with direct descriptors. Each ring has a
 * file table of its own, and every request on a connection names its place there,
 * which is its slot: what is measured is what that spares the kernel. All else is
 * as in io_uring.
 * Kernel floor: 6.13 (before it, a table could keep a file for as long as requests
 * on others of its files were under way). Source: io_uring_register_files(3).
 * build-pkg: liburing >= 2.3
 *
 * The core must be able to call setsockopt(2) and shutdown(2), which a file that
 * exists in a ring's table alone does not allow. So the accepted descriptor stays
 * open beside its entry in the table: direct descriptors save calls here, not
 * memory. Kernel bytes an idle connection: those of io_uring, 872, and struct
 * io_rsrc_node 32. The table itself, 8 bytes a slot, is made with the loop.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reactors/reactor.h"
#include "reactors/uring.h"

/* With a receive under way on one file of a table, does another that is taken out
 * end when it is closed? Its peer knows. */
static int try_removal(struct io_uring *ring, const int busy[2], int gone[2])
{
	int files[2] = {busy[0], gone[0]}, none = -1, error;
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	uint8_t byte;

	error = io_uring_register_files(ring, files, 2);
	if (error)
		return error;
	io_uring_prep_recv(sqe, 0, &byte, sizeof(byte), 0);
	sqe->flags |= IOSQE_FIXED_FILE;
	error = io_uring_submit(ring);
	if (error < 0)
		return error;
	error = io_uring_register_files_update(ring, 1, &none, 1);
	if (error < 0)
		return error;
	close(gone[0]);
	gone[0] = -1;
	error = recv(gone[1], &byte, sizeof(byte), MSG_DONTWAIT) == 0 ? 0 : -EOPNOTSUPP;
	shutdown(busy[1], SHUT_WR); /* the receive ends before its buffer does */
	io_uring_submit_and_wait(ring, 1);
	return error;
}

static void close_pair(const int pair[2])
{
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			close(pair[i]);
}

static int direct_probe(char *reason, size_t reason_size)
{
	int busy[2] = {-1, -1}, gone[2] = {-1, -1};
	struct io_uring ring;
	int error =
		uring_probe(IORING_OP_FILES_UPDATE, "IORING_OP_FILES_UPDATE", reason, reason_size);

	if (error)
		return error;
	error = uring_make(&ring, 0);
	if (error)
		goto no_ring;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, busy) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gone) < 0)
		error = -errno;
	else
		error = try_removal(&ring, busy, gone);
	io_uring_queue_exit(&ring);
	close_pair(busy);
	close_pair(gone);
no_ring:
	if (error == -EOPNOTSUPP)
		snprintf(reason, reason_size,
			 "files of a ring's table outlive their removal "
			 "here; that is right since Linux 6.13");
	else if (error)
		snprintf(reason, reason_size, "io_uring: no table of files: %s", strerror(-error));
	return error;
}

static const struct uring_kind kind = {
	.ask = uring_stream_ask,
	.event = uring_stream_event,
	.direct = true,
};

static int direct_init(struct reactor_loop *loop)
{
	struct uring *uring = loop->engine;
	int error = uring_init(loop, &kind);

	if (error)
		return error;
	error = io_uring_register_files_sparse(&uring->ring, loop->slot_max);
	if (error)
		uring_fini(loop);
	return error;
}

static const struct reactor_ops io_uring_direct_ops = {
	.name = "io_uring_direct",
	.summary = "io_uring with direct descriptors: a file table in each ring",
	.kernel_floor = "6.13",
	.kernel_conn_bytes = 904,
	.loop_size = sizeof(struct uring),
	.conn_size = sizeof(struct uring_conn),
	.probe = direct_probe,
	.init = direct_init,
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

__attribute__((constructor)) static void register_io_uring_direct(void)
{
	reactor_register(&io_uring_direct_ops);
}
