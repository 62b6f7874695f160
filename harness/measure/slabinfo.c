// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - the kernel's caches that hold sockets. Source: slabinfo(5), mm/slub.c */
#include "harness/measure/slabinfo.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/measure/text_file.h"

static const char *const socket_caches[] = {
	"TCP",
	"TCPv6",
	"request_sock_TCP*",
	"tw_sock_TCP*",
	"sock_inode_cache",
	"filp",
	"dentry",
	"eventpoll_epi",
	"eventpoll_pwq",
	"tcp_bind*_bucket",
	"skbuff_*",
	"io_kiocb",
	"kmalloc-*",
	NULL,
};

static const char *const reactor_caches[] = {
	"eventpoll_*", "ep_head", "io_kiocb", "kmalloc-*", "task_struct", NULL,
};

static bool is_wanted(const char *const caches[], const char *cache)
{
	for (size_t i = 0; caches[i]; i++)
		if (!fnmatch(caches[i], cache, 0))
			return true;
	return false;
}

/* "name active_objs num_objs objsize ..." */
static int add_line(const char *const caches[], const char *line, int64_t *bytes)
{
	char cache[64];
	int64_t active_objects, object_bytes;

	if (sscanf(line, "%63s %" SCNd64 " %*d %" SCNd64, cache, &active_objects, &object_bytes) !=
	    3)
		return -EBADMSG;
	if (is_wanted(caches, cache))
		*bytes += active_objects * object_bytes;
	return 0;
}

static int add_all(const char *const caches[], const char *slabinfo_path, int64_t *bytes)
{
	char *text, *rest;
	int err = text_read(slabinfo_path, &text);

	*bytes = 0;
	if (err)
		return err;
	char *line = strtok_r(text, "\n", &rest);
	if (!line || strncmp(line, "slabinfo", 8))
		err = -EBADMSG;
	while (!err && (line = strtok_r(NULL, "\n", &rest)))
		if (*line != '#')
			err = add_line(caches, line, bytes);
	free(text);
	return err;
}

int slabinfo_socket_bytes(const char *slabinfo_path, int64_t *bytes)
{
	return add_all(socket_caches, slabinfo_path, bytes);
}

int slabinfo_reactor_bytes(const char *slabinfo_path, int64_t *bytes)
{
	return add_all(reactor_caches, slabinfo_path, bytes);
}
