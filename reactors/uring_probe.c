// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - uring: can this kernel, as it is set up, run the io_uring engines?
 * Found out by trying. Source: io_uring_setup(2), sysctl kernel.io_uring_disabled.
 * build-pkg: liburing >= 2.3
 */
#include "reactors/uring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* EPERM has two causes, and a user can do something about each. */
static const char *refusal(int error)
{
	FILE *file;
	int disabled = 0;

	switch (error) {
	case -ENOSYS:
		return "this kernel has no io_uring (CONFIG_IO_URING)";
	case -EINVAL:
		return "rings with DEFER_TASKRUN need Linux 6.1";
	case -EPERM:
		break;
	default:
		return strerror(-error);
	}
	file = fopen("/proc/sys/kernel/io_uring_disabled", "re");
	if (file && fscanf(file, "%d", &disabled) != 1)
		disabled = 0;
	if (file)
		fclose(file);
	if (disabled)
		return disabled == 1 ? "the sysctl kernel.io_uring_disabled=1 allows it only to "
				       "kernel.io_uring_group and CAP_SYS_ADMIN"
				     : "the sysctl kernel.io_uring_disabled=2 forbids it";
	return "a seccomp filter or security module forbids it (EPERM)";
}

static int try_buffers(struct io_uring *ring)
{
	void *page = mmap(NULL, URING_PROVIDED_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int error;

	if (page == MAP_FAILED)
		return -errno;
	error = uring_register_buffers(ring, page);
	munmap(page, URING_PROVIDED_BYTES);
	return error;
}

int uring_probe(int op, const char *op_name, char *reason, size_t reason_size)
{
	struct io_uring_probe *known;
	struct io_uring ring;
	int error = uring_make(&ring, 0);

	if (error) {
		snprintf(reason, reason_size, "io_uring: %s", refusal(error));
		return error;
	}
	error = try_buffers(&ring);
	if (error) {
		snprintf(reason, reason_size, "io_uring: no ring of provided buffers: %s",
			 strerror(-error));
		goto out;
	}
	known = io_uring_get_probe_ring(&ring);
	if (!known || !io_uring_opcode_supported(known, op)) {
		snprintf(reason, reason_size, "this kernel's io_uring has no %s", op_name);
		error = -EOPNOTSUPP;
	}
	free(known);
out:
	io_uring_queue_exit(&ring);
	return error;
}
