/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - what a connection has been through before it idles: buffers that a library
 * grew for it count, if it keeps them. */
#ifndef HARNESS_BENCH_CELL_HISTORY_H
#define HARNESS_BENCH_CELL_HISTORY_H

#include "harness/bench/cell_talk.h"

/* Every connection asks for a body of the cell's size, if it has one. As the steps of
 * cell_measure.h. */
int cell_step_history(struct live_cell *cell);

#endif
