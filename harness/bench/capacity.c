// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the limits of this machine and what a cell needs of them. */
#include "harness/bench/capacity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/common/limits.h"
#include "harness/measure/text_file.h"

/* Beside its connections a process has listeners and event queues; beside the
 * connections' threads the machine has others, and the server has other maps. */
#define SPARE_FILES (LIMITS_SPARE_FILES + 64)
#define SPARE_THREADS 1024
#define SPARE_MAPS 2048

/* Rough, and of the hungriest: kernel sockets of both ends; the server's session
 * (an untuned OpenSSL with its buffers); the client's; a thread's stacks. */
#define KERNEL_BYTES 8192
#define SERVER_BYTES 65536
#define CLIENT_BYTES 24576
#define THREAD_BYTES 49152

static int64_t number_in(const char *path)
{
	int64_t value;

	return text_read_int(path, &value) ? -1 : value;
}

static int64_t rlimit_of(enum __rlimit_resource resource, bool hard)
{
	struct rlimit limit;
	rlim_t value;

	if (getrlimit(resource, &limit))
		return -1;
	value = hard ? limit.rlim_max : limit.rlim_cur;
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int64_t memory_available(void)
{
	int64_t kib = -1;
	char *text, *line;

	if (text_read("/proc/meminfo", &text))
		return -1;
	line = strstr(text, "MemAvailable:");
	if (line)
		kib = strtoll(line + strlen("MemAvailable:"), NULL, 10);
	free(text);
	return kib < 0 ? -1 : kib * 1024;
}

void capacity_read(struct capacity *capacity)
{
	*capacity = (struct capacity){
		.nofile_soft = rlimit_of(RLIMIT_NOFILE, false),
		.nofile_hard = rlimit_of(RLIMIT_NOFILE, true),
		.file_max = number_in("/proc/sys/fs/file-max"),
		.nr_open = number_in("/proc/sys/fs/nr_open"),
		.pid_max = number_in("/proc/sys/kernel/pid_max"),
		.threads_max = number_in("/proc/sys/kernel/threads-max"),
		.nproc = geteuid() == 0 ? -1 : rlimit_of(RLIMIT_NPROC, false),
		.max_map_count = number_in("/proc/sys/vm/max_map_count"),
		.memory_available_bytes = memory_available(),
	};
}

void capacity_needs(struct capacity_needs *needs, unsigned connections, bool thread_per_connection)
{
	int64_t threads = thread_per_connection ? connections : 0;

	*needs = (struct capacity_needs){
		.files_per_process = (int64_t)connections + SPARE_FILES,
		.files = 2 * ((int64_t)connections + SPARE_FILES),
		.threads = threads ? threads + SPARE_THREADS : 0,
		.maps = threads ? 2 * threads + SPARE_MAPS : 0,
		.memory_bytes =
			(int64_t)connections * (KERNEL_BYTES + SERVER_BYTES + CLIENT_BYTES) +
			threads * THREAD_BYTES,
	};
}

static bool below(int64_t limit, int64_t need)
{
	return limit >= 0 && limit < need;
}

int capacity_refuse(const struct capacity *capacity, const struct capacity_needs *needs,
		    char *reason, size_t reason_size)
{
	const struct {
		const char *sysctl;
		int64_t now;
		int64_t need;
	} kernel[] = {
		{"fs.file-max", capacity->file_max, needs->files},
		{"kernel.pid_max", capacity->pid_max, needs->threads},
		{"kernel.threads-max", capacity->threads_max, needs->threads},
		{"vm.max_map_count", capacity->max_map_count, needs->maps},
	};

	if (below(capacity->nofile_hard, needs->files_per_process)) {
		snprintf(reason, reason_size,
			 "needs %" PRId64 " files a process, the hard limit is %" PRId64
			 "; raise it with: sudo prlimit --pid $$ --nofile=%" PRId64,
			 needs->files_per_process, capacity->nofile_hard, needs->files_per_process);
		return -EMFILE;
	}
	for (size_t i = 0; i < sizeof(kernel) / sizeof(*kernel); i++) {
		if (!below(kernel[i].now, kernel[i].need))
			continue;
		snprintf(reason, reason_size,
			 "needs %s of %" PRId64 ", it is %" PRId64
			 "; raise it with: sudo sysctl -w %s=%" PRId64,
			 kernel[i].sysctl, kernel[i].need, kernel[i].now, kernel[i].sysctl,
			 kernel[i].need);
		return -EAGAIN;
	}
	if (below(capacity->nproc, needs->threads)) {
		snprintf(reason, reason_size,
			 "needs %" PRId64 " threads, the limit a user is %" PRId64
			 "; raise it with: sudo prlimit --pid $$ --nproc=%" PRId64,
			 needs->threads, capacity->nproc, needs->threads);
		return -EAGAIN;
	}
	return 0;
}
