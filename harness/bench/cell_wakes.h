/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - the step in which parked connections are woken one at a time, to time how long
 * the server takes from the packet to the response. As the steps of cell_measure.h. */
#ifndef HARNESS_BENCH_CELL_WAKES_H
#define HARNESS_BENCH_CELL_WAKES_H

#include "harness/bench/cell_talk.h"

/* As many wakes as the experiment says, all of them by the first client: of several, each knows
 * its own connections only, and two at a time would measure each other. Meanwhile the timeline
 * stands still: reading memory takes a CPU that one of the two sides wants. */
int cell_step_wakes(struct live_cell *cell);

#endif
