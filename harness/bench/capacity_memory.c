// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - limits on memory: what there is, and what may be locked. */
#include "harness/bench/capacity.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "harness/bench/forecast.h"
#include "harness/measure/text_file.h"

#define MIB 1048576

/* Rough, and of the hungriest: kernel sockets of both ends; the server's session
 * (an untuned OpenSSL with its buffers); the client's; a thread's stacks. */
#define KERNEL_BYTES 8192
#define SERVER_BYTES 65536
#define CLIENT_BYTES 24576
#define THREAD_BYTES 49152

int64_t capacity_meminfo(const char *proc_root, const char *key)
{
	char path[PATH_MAX], *text = NULL, *line;
	int64_t kib = -1;

	if (!text_format(path, sizeof(path), "%s/meminfo", proc_root) && !text_read(path, &text)) {
		line = strstr(text, key);
		if (line)
			kib = strtoll(line + strlen(key), NULL, 10);
	}
	free(text);
	return kib < 0 ? -1 : kib * 1024;
}

void capacity_read_memory(struct capacity *capacity, const char *proc_root)
{
	struct rlimit limit;

	capacity->memory_available_bytes = capacity_meminfo(proc_root, "MemAvailable:");
	capacity->memlock_bytes = -1;
	if (!getrlimit(RLIMIT_MEMLOCK, &limit))
		capacity->memlock_bytes =
			limit.rlim_max > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_max;
}

void capacity_check_memory(struct capacity_rows *rows, const struct capacity *capacity,
			   const struct capacity_ask *ask)
{
	int64_t have = capacity->memory_available_bytes, need;
	struct capacity_row *row = capacity_add(rows, "memory available", have);

	need = (int64_t)ask->connections * (KERNEL_BYTES + SERVER_BYTES + CLIENT_BYTES +
					    (ask->thread_per_connection ? THREAD_BYTES : 0));
	if (have >= 0)
		snprintf(row->now, sizeof(row->now), "%" PRId64 " MiB", have / MIB);
	if (ask->connections > FORECAST_ABOVE) {
		snprintf(row->need, sizeof(row->need), "what a pilot of each cell says");
	} else {
		snprintf(row->need, sizeof(row->need), "%" PRId64 " MiB at most, roughly",
			 need / MIB);
		/* Not a gate: it may be ten times too much. */
		if (have >= 0 && have < need)
			capacity_lacks(row, "end other programs, or run fewer connections: "
					    "--connections N");
	}
	row = capacity_add(rows, "memlock, bytes",
			   capacity->memlock_bytes == INT64_MAX ? -1 : capacity->memlock_bytes);
	if (capacity->memlock_bytes == INT64_MAX)
		snprintf(row->now, sizeof(row->now), "unlimited");
	snprintf(row->need, sizeof(row->need), "any: rings are not counted since Linux 5.12");
}
