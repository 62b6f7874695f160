// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - what two cells of one name may differ in. */
#include "harness/bench/dimensions.h"

#include <math.h>
#include <stdio.h>

const struct dimension_info dimensions[DIMENSIONS] = {
	[DIM_CONNECTIONS] = {"connections", "connections"},
	[DIM_IN_FLIGHT] = {"in_flight", "in flight"},
	[DIM_HISTORY_BYTES] = {"history_bytes", "history B"},
};

unsigned choices_most(const struct choices *choices)
{
	unsigned most = 0;

	for (size_t i = 0; i < choices->count; i++)
		if (choices->value[i] > most)
			most = choices->value[i];
	return most;
}

/* -1 where there is none, which comes first then. */
static double value_of(const json_t *row, enum dimension dimension)
{
	const json_t *value = json_object_get(row, dimensions[dimension].name);

	return json_is_number(value) ? json_number_value(value) : -1;
}

int dimensions_compare(const json_t *a, const json_t *b)
{
	for (int d = 0; d < DIMENSIONS; d++) {
		double x = value_of(a, d), y = value_of(b, d);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

size_t dimensions_varying(const json_t *const *rows, size_t count, bool varying[DIMENSIONS])
{
	size_t many = 0;

	for (int d = 0; d < DIMENSIONS; d++) {
		varying[d] = false;
		for (size_t i = 1; i < count; i++)
			varying[d] |= value_of(rows[i], d) != value_of(rows[0], d);
		many += varying[d];
	}
	return many;
}

void dimensions_text(const json_t *row, enum dimension dimension, char *text, size_t size)
{
	double value = value_of(row, dimension);

	if (value < 0)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%.0f", value);
}
