/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - how memory grows with the connections: of cells that a run has with several
 * numbers of them, the line through all repeats that passed (harness/measure/fit.h).
 */
#ifndef HARNESS_BENCH_GROWTH_H
#define HARNESS_BENCH_GROWTH_H

#include <jansson.h>
#include <stdio.h>

/*
 * An array, a new reference; NULL: no memory. One object for each cell (and each setting
 * but the connections):
 *
 *	cell reactor tls park in_flight ...	as in cells.jsonl
 *	points					lines of cells.jsonl that were taken
 *	connections { least, most }
 *	user, kernel { bytes_per_conn, bytes_per_conn_error, fixed_bytes }
 *
 * user and kernel are the slope with its standard error, and the intercept; null where
 * there are too few points.
 */
json_t *growth_json(const json_t *lines);

/* Prints that as a table, nothing where it is empty. 0 or -ENOMEM. */
int growth_print(FILE *stream, const json_t *lines);

#endif
