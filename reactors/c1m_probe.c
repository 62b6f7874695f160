// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - c1m: can connections be parked deep here?
 * build-pkg: libmnl
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reactors/c1m_deep.h"
#include "reactors/c1m_rules.h"

static int probe_repair(char *reason, size_t reason_size)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return -errno;
	error = c1m_tcp_probe(fd);
	close(fd);
	if (error)
		snprintf(reason, reason_size, "TCP_REPAIR, which the kernel has from 4.19 on: %s",
			 strerror(-error));
	return error;
}

/* What the caller's namespace, kernel and packages lack, the first of them. */
int c1m_deep_probe(char *reason, size_t reason_size)
{
	struct c1m_queue queue;
	int error = c1m_queue_open_free(&queue, 1);

	if (error) {
		c1m_queue_explain(error, reason, reason_size);
		return error;
	}
	c1m_queue_close(&queue);
	error = probe_repair(reason, reason_size);
	return error ? error : c1m_rules_probe(reason, reason_size);
}
