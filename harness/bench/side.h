/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - one side of a cell, server or client: its processes (a server is one and what it
 * forks, clients may be several), their memory group, and what they use of memory and CPU.
 */
#ifndef HARNESS_BENCH_SIDE_H
#define HARNESS_BENCH_SIDE_H

#include <stdint.h>

#include "harness/bench/child.h"
#include "harness/bench/result.h"
#include "harness/measure/kernel_memory.h"

#define SIDE_PROCESSES_MAX CLIENTS_MAX

/* Zeroed memory is a side without processes. */
struct side {
	struct child child[SIDE_PROCESSES_MAX];
	char name[SIDE_PROCESSES_MAX][16]; /* of the children: "server", "client 2" */
	unsigned count;
	const struct kernel_meter *meter; /* of all of them; borrowed */
	double user_bytes;                /* the baseline: ready, no connection yet */
	double user_rss_bytes;
	double kernel_bytes; /* of the meter, absolute; NAN when it can not say */
};

/* Starts one more process inside the memory group. 0 or a negative errno. */
int side_start(struct side *side, const char *name, const char *const argv[], const char *log,
	       const struct kernel_meter *meter);
/* Kills what still runs, and frees. Idempotent. */
void side_end(struct side *side);

/* Takes the baseline. 0 or a negative errno (-ESRCH: a process has died). */
int side_baseline(struct side *side);

/* What it uses beyond the baseline. Kernel bytes are NAN where the meter sees the
 * whole system: see side_system_kernel_bytes. */
int side_memory(const struct side *side, struct result_memory *memory);

/* Both sides together, beyond the baseline; NAN unless the meter is such a one. */
double side_system_kernel_bytes(const struct side *side);

/* Since the processes started; those that are gone count as 0. */
int64_t side_cpu_ns(const struct side *side);

#endif
