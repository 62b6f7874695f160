/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - one cell from start to close, in a process of its own: it leaves
 * the machine's network, starts a fresh server and a fresh client, and takes every
 * reading in between.
 */
#ifndef HARNESS_BENCH_CELL_H
#define HARNESS_BENCH_CELL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "harness/bench/experiment.h"
#include "harness/bench/result.h"
#include "harness/measure/kernel_memory.h"

/* Memory shared between parkbench, which only reads it, and the cell's process. */
struct cell_shared {
	atomic_int step;         /* see cell_step_name */
	atomic_uint established; /* in the ramp */
	atomic_bool finished;    /* result is whole */
	struct result result;    /* what is known so far */
};

/* What a cell needs; all borrowed. */
struct cell_setup {
	const struct experiment *exp;
	const char *dir; /* of the run: logs/, handshake_us/ and wake_us/ are in it */
	const struct kernel_meter *server_meter;
	const struct kernel_meter *client_meter;
	bool pilot; /* only what a forecast needs: forecast.h */
};

const char *cell_step_name(int step);

/*
 * Runs the cell of shared->result, whose verdict and figures it fills in. To be
 * called in a child of parkbench, which then ends: the process is in another
 * network namespace afterwards. Both programs it started are gone on return.
 */
void cell_run(const struct cell_setup *setup, struct cell_shared *shared);

#endif
