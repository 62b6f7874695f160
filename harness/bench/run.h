/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - runs an experiment: every cell in turn, and what they leave. */
#ifndef HARNESS_BENCH_RUN_H
#define HARNESS_BENCH_RUN_H

#include <stddef.h>
#include <stdio.h>

/* From the command line; all borrowed. */
struct run_options {
	const char *experiment; /* path of the file */
	const char *only;       /* NULL: all cells */
	unsigned connections;   /* 0: as the file says */
	unsigned repeat;        /* 0: as the file says */
	const char *out;        /* NULL: below results/local */
	const char *resume;     /* a run to go on with instead; NULL: none */
	char *const *argv;      /* for the manifest */
	FILE *table;            /* takes the table */
	FILE *progress;
};

enum run_status {
	RUN_PASSED = 0,   /* every gate held; what was skipped is no failure */
	RUN_FAILED = 1,   /* a cell failed or is invalid */
	RUN_UNUSABLE = 2, /* usage or environment: no cell ran, error says why */
	RUN_SIGNAL = 128, /* + the signal that interrupted it */
};

/* Returns an enum run_status. SIGINT, SIGTERM and SIGHUP end the cell that runs and
 * keep those finished. */
int run_experiment(const struct run_options *options, char *error, size_t error_size);

#endif
