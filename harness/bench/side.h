/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - one side of a cell, server or client: its process, its memory
 * group, and what it uses of memory and CPU.
 */
#ifndef HARNESS_BENCH_SIDE_H
#define HARNESS_BENCH_SIDE_H

#include <stdint.h>

#include "harness/bench/child.h"
#include "harness/bench/result.h"
#include "harness/measure/kernel_memory.h"

struct side {
	struct child child;
	const struct kernel_meter *meter; /* borrowed */
	double user_bytes;                /* the baseline: ready, no connection yet */
	double user_rss_bytes;
	double kernel_bytes; /* of the meter, absolute; NAN when it can not say */
};

/* Starts the program inside the memory group. 0 or a negative errno. */
int side_start(struct side *side, const char *name, const char *const argv[], const char *log,
	       const struct kernel_meter *meter);

/* Takes the baseline. 0 or a negative errno (-ESRCH: the process has died). */
int side_baseline(struct side *side);

/* What it uses beyond the baseline. Kernel bytes are NAN where the meter sees the
 * whole system: see side_system_kernel_bytes. */
int side_memory(const struct side *side, struct result_memory *memory);

/* Both sides together, beyond the baseline; NAN unless the meter is such a one. */
double side_system_kernel_bytes(const struct side *side);

/* Since the process started; 0 once it is gone. */
int64_t side_cpu_ns(const struct side *side);

#endif
