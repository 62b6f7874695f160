/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - runs a cell in a process of its own and cleans up behind it. Sources: prctl(2),
 * waitid(2), sigtimedwait(2). */
#ifndef HARNESS_BENCH_APART_H
#define HARNESS_BENCH_APART_H

#include <signal.h>

#include "harness/bench/cell.h"
#include "harness/bench/janitor.h"
#include "harness/bench/progress.h"

/* What all cells of a run share; all borrowed. */
struct apart {
	struct janitor *janitor;
	const struct progress *progress;
	struct cell_shared *shared; /* in memory that both processes see */
	const sigset_t *signals;    /* blocked: those that end the run, and SIGCHLD */
	int signal;                 /* that did; 0: none */
};

/*
 * Runs the cell of shared->result, with memory groups of its own: the meters of `setup` are
 * filled in. Its verdict says how it went, unless a signal ended it. 0, or a negative errno: no
 * cell can be run. Every process and group is gone on return.
 */
int apart_run(struct apart *apart, struct cell_setup *setup);

#endif
