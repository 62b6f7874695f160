/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - how far a run is: one line that rewrites itself on a terminal,
 * a plain line when a cell has ended elsewhere too.
 */
#ifndef HARNESS_BENCH_PROGRESS_H
#define HARNESS_BENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/bench/result.h"

struct progress {
	FILE *stream; /* borrowed */
	bool terminal;
	size_t cells;
	uint64_t started_ns;
};

void progress_start(struct progress *progress, FILE *stream, size_t cells);
/* What the cell does now ("ramp"), with how many connections established; call
 * it as often as there is news. Says nothing off a terminal. */
void progress_now(const struct progress *progress, const struct matrix_cell *cell, const char *step,
		  unsigned established);
/* The cell has ended. */
void progress_cell(const struct progress *progress, const struct result *result);

#endif
