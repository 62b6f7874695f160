/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - what two cells of one name may differ in: an experiment gives each of these one
 * value or a list, and every combination is a cell. The names are those of the settings in the
 * experiment file and of the fields in cells.jsonl.
 */
#ifndef HARNESS_BENCH_DIMENSIONS_H
#define HARNESS_BENCH_DIMENSIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define CHOICES_MAX 16

enum dimension {
	DIM_CONNECTIONS,
	DIM_IN_FLIGHT,
	DIM_HISTORY_BYTES,
	DIMENSIONS,
};

struct dimension_info {
	const char *name;
	const char *title; /* of its column in a table */
};

/* Indexed by dimension. */
extern const struct dimension_info dimensions[DIMENSIONS];

/* The values of one dimension, as the experiment lists them. */
struct choices {
	unsigned value[CHOICES_MAX];
	size_t count;
};

unsigned choices_most(const struct choices *choices);

/* ---- lines of cells.jsonl; those of earlier versions lack the newer fields ---- */

/* By all dimensions in turn; 0: the cells differ in none. */
int dimensions_compare(const json_t *a, const json_t *b);
/* Which ones differ between the lines; returns how many. */
size_t dimensions_varying(const json_t *const *rows, size_t count, bool varying[DIMENSIONS]);
/* The value in a line, for people; "-" where there is none. */
void dimensions_text(const json_t *row, enum dimension dimension, char *text, size_t size);

#endif
