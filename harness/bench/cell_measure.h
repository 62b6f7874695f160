/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - the measured steps of a cell, in this order. Each fills in its part
 * of the result; -1 when the cell can not go on, which the verdict then says.
 */
#ifndef HARNESS_BENCH_CELL_MEASURE_H
#define HARNESS_BENCH_CELL_MEASURE_H

#include "harness/bench/cell_talk.h"

int cell_step_baseline(struct live_cell *cell);
int cell_step_ramp(struct live_cell *cell);
int cell_step_idle(struct live_cell *cell);
int cell_step_hold(struct live_cell *cell);
int cell_step_round1(struct live_cell *cell);
int cell_step_round2(struct live_cell *cell);
int cell_step_close(struct live_cell *cell);

#endif
