/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - what a connection goes through: a payload before it idles, whose buffers count
 * where a library keeps them, and new keys before the rounds. As the steps of cell_measure.h. */
#ifndef HARNESS_BENCH_CELL_HISTORY_H
#define HARNESS_BENCH_CELL_HISTORY_H

#include "harness/bench/cell_talk.h"

/* Every connection asks for a body of the cell's size, if it has one. */
int cell_step_history(struct live_cell *cell);
/* As many cycles as the experiment says, unless the cell has no TLS. */
int cell_step_key_updates(struct live_cell *cell);

#endif
