/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - the limits of this machine and what a cell needs of them. Sources:
 * getrlimit(2), proc(5) /proc/sys/kernel and /proc/sys/vm, proc_meminfo(5).
 */
#ifndef HARNESS_BENCH_CAPACITY_H
#define HARNESS_BENCH_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is set; -1: unknown here, which nothing is refused for. */
struct capacity {
	int64_t nofile_soft; /* raised to the hard limit for every child */
	int64_t nofile_hard;
	int64_t file_max;
	int64_t nr_open;
	int64_t pid_max;
	int64_t threads_max;
	int64_t nproc; /* RLIMIT_NPROC; -1 for root too, whom it does not bind */
	int64_t max_map_count;
	int64_t memory_available_bytes;
};

/* What a cell asks for; 0: nothing worth a check. */
struct capacity_needs {
	int64_t files_per_process;
	int64_t files;        /* system-wide, both ends */
	int64_t threads;      /* of the server */
	int64_t maps;         /* of the server: a stack and its guard a thread */
	int64_t memory_bytes; /* a rough upper estimate, both ends and the kernel */
};

void capacity_read(struct capacity *capacity);
void capacity_needs(struct capacity_needs *needs, unsigned connections, bool thread_per_connection);

/* 0, or -EMFILE or -EAGAIN with the reason why such a cell can not run here, which
 * names the limit, the need and the command that raises it. */
int capacity_refuse(const struct capacity *capacity, const struct capacity_needs *needs,
		    char *reason, size_t reason_size);

#endif
