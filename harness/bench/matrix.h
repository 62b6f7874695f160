/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - the cells of an experiment, and the order they run in. */
#ifndef HARNESS_BENCH_MATRIX_H
#define HARNESS_BENCH_MATRIX_H

#include <jansson.h>
#include <stddef.h>

#include "harness/bench/experiment.h"

#define SETTING_SIZE 128

/* One cell to run; plain values. */
struct matrix_cell {
	char name[3 * NAME_SIZE]; /* reactor+tls+park */
	char reactor[NAME_SIZE];
	char tls[NAME_SIZE];
	char park[NAME_SIZE];
	unsigned dimension[DIMENSIONS];
	char setting[SETTING_SIZE]; /* "in_flight 64", where the experiment has several; or "" */
	unsigned repeat;            /* from 1 */
	unsigned order;             /* from 1: when it runs */
};

/* Made by matrix_build, ended by matrix_free. */
struct matrix {
	struct matrix_cell *cells; /* owned, in the order they run */
	size_t count;
	unsigned seed;
};

/*
 * Every reactor x tls x park x dimension whose name matches the pattern (fnmatch(3) with
 * FNM_EXTMATCH: @(a|b) is a or b; NULL: all), `repeat` times over, each pass in an order of its own
 * drawn from the seed: a machine that changes over an hour then changes for all cells alike. The
 * same seed and selection give the same order anywhere. 0; -ENOENT when the pattern selects
 * nothing; -ENOMEM.
 */
int matrix_build(struct matrix *matrix, const struct experiment *exp, const char *only,
		 unsigned seed);
/* Leaves out the cells that have a line of a cells.jsonl among `lines`; the others are numbered
 * after these. */
void matrix_leave_out(struct matrix *matrix, const json_t *lines);
void matrix_free(struct matrix *matrix);

#endif
