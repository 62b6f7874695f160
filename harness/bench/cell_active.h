/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - the work of a server: what its requests cost, and the step in which
 * a fraction of the connections is active.
 */
#ifndef HARNESS_BENCH_CELL_ACTIVE_H
#define HARNESS_BENCH_CELL_ACTIVE_H

#include "harness/bench/cell_talk.h"

/* What the server has done since it started. */
struct server_work {
	double cpu_us;
	double syscalls; /* of its reactor; NAN when the server does not count them */
};

/* Asks the server; -1 when the cell can not go on, which the verdict then says. */
int server_work_read(struct live_cell *cell, struct server_work *work);

/* Each fraction of the experiment in turn, the others idle meanwhile. */
int cell_step_active(struct live_cell *cell);

#endif
