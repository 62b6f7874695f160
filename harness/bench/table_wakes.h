/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - the table of the wakes: how long a parked connection takes to answer. */
#ifndef HARNESS_BENCH_TABLE_WAKES_H
#define HARNESS_BENCH_TABLE_WAKES_H

#include <jansson.h>
#include <stdio.h>

/*
 * Prints the `wakes` figures of the rows that passed, a blank line before it; nothing when none
 * has any. The rows are ordered as those of table.c: a line for each cell, its repeats stand
 * together. What a level takes longer than `keys` is the difference of the medians of one
 * repeat, between cells that differ in nothing else, and then the median. 0 or -ENOMEM.
 */
int table_wakes_print(FILE *stream, const json_t *const *rows, size_t count);

#endif
