/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - what the tables share: reading lines of cells.jsonl, and setting columns. */
#ifndef HARNESS_BENCH_GRID_H
#define HARNESS_BENCH_GRID_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "harness/bench/dimensions.h"

#define GRID_TEXT 96

/* A member of an object: "?", or NAN, when it is not there. Borrowed. */
const char *row_text(const json_t *row, const char *key);
double row_number(const json_t *row, const char *key);
bool row_passed(const json_t *row);
/* Whether both have the same there. */
bool row_same(const json_t *a, const json_t *b, const char *key);

/* "2.50 (2.25-3.00)": the median and, where wanted and there are several, the range of sorted
 * figures; "-" when there are none. */
void grid_figure(char text[GRID_TEXT], int decimals, bool range, const double *sorted,
		 size_t count);

/* A text for each dimension that varies, of a line or, NULL, the titles; returns how many. */
size_t grid_dimensions(char (*texts)[GRID_TEXT], const json_t *row, const bool varying[DIMENSIONS]);

/* Rows of `columns` texts each, the first `left` of them set to the left, the others to the right.
 * A row whose first text is empty separates. */
void grid_print(FILE *stream, char (*texts)[GRID_TEXT], size_t rows, size_t columns, size_t left);

#endif
