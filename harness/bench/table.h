/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - the table of a run: one row a cell, medians over its repeats. */
#ifndef HARNESS_BENCH_TABLE_H
#define HARNESS_BENCH_TABLE_H

#include <jansson.h>
#include <stdio.h>

/*
 * Prints the lines of a cells.jsonl, an array of objects, ordered by name. Figures
 * are of the repeats that passed: the median and, where there are several, the
 * range of the two headlines. Below it how memory grows, if some cell ran with
 * several numbers of connections (growth.h), the table of the active step (table_active.h), if the
 * run had one, and the reason of everything that did not pass. 0 or -ENOMEM.
 */
int table_print(FILE *stream, const json_t *lines);

#endif
