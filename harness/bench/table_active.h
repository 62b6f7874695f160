/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - the table of the active step: what a request costs, by reactor and fraction. */
#ifndef HARNESS_BENCH_TABLE_ACTIVE_H
#define HARNESS_BENCH_TABLE_ACTIVE_H

#include <jansson.h>
#include <stdio.h>

/*
 * Prints the `active` figures of the rows that passed, a blank line before it; nothing
 * when none has any. One line for each cell and fraction, those of one backend, park
 * level and fraction together. A ratio is taken within each repeat, against the epoll
 * cell that differs in nothing else, and then the median. 0 or -ENOMEM.
 */
int table_active_print(FILE *stream, const json_t *const *rows, size_t count);

#endif
