/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - what is read while a cell waits: the memory that is available, and from the ramp
 * to the close the memory of both sides, for the peaks and the timeline.
 */
#ifndef HARNESS_BENCH_CELL_WATCH_H
#define HARNESS_BENCH_CELL_WATCH_H

#include "harness/bench/cell_talk.h"

/* The cell's clock starts, and what it takes of the available memory. To be closed. */
void cell_watch_open(struct live_cell *cell);
void cell_watch_close(struct live_cell *cell);

/* Takes a sample, and from here on when they are due, until cell_watch_end. They raise `peak_bytes`
 * of the result to the highest sum of all memory; this one raises the one before. NULL: none. */
void cell_watch_peak(struct live_cell *cell, double *peak_bytes);
/* Takes the last sample. */
void cell_watch_end(struct live_cell *cell);
/* Samples, if it is time. To be called as often as there is time. */
void cell_watch(struct live_cell *cell);
/* Until cell_watch has something to do again; at most so long as a look at the children. */
int cell_watch_pause_ms(const struct live_cell *cell);

/* Sleeps, and watches. */
void cell_rest(struct live_cell *cell, double seconds);

#endif
