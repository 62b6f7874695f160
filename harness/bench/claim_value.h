/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - the figure of a claim in the lines of a run. */
#ifndef HARNESS_BENCH_CLAIM_VALUE_H
#define HARNESS_BENCH_CLAIM_VALUE_H

#include <jansson.h>
#include <stddef.h>

#include "harness/bench/claims.h"

enum value_state {
	VALUE_KNOWN,
	VALUE_NO_CELL,
	VALUE_SKIPPED, /* the cell can not run there */
	VALUE_INVALID, /* its figures are in doubt */
	VALUE_FAILED,  /* of one repeat at least */
	VALUE_MISSING, /* it ran, but the field is not there, null, or divided by 0 */
};

struct claim_value {
	enum value_state state;
	double number;    /* the median over the repeats that passed; NAN unless known */
	char reason[640]; /* unless known; names cell and field, not the file */
};

/* Of the lines of a cells.jsonl, an array. A failed repeat makes a figure VALUE_FAILED, but its
 * number is still that of the others, if there are any. */
void claim_value_find(const struct claim *claim, const json_t *lines, struct claim_value *value);

/* The number at a path such as memory.user_bytes_per_conn or rounds.0.rps; NAN where there is
 * none. */
double claim_value_at(const json_t *object, const char *path);

#endif
