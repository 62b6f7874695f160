// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the cells of an experiment, and the order they run in. */
#include "harness/bench/matrix.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64, public domain (prng.di.unimi.it): ours, because rand(3) gives
 * another order with another C library. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Fisher-Yates. The bias of the remainder is below 2^-50 for any real list. */
static void shuffle(struct matrix_cell *cells, size_t count, uint64_t *state)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = next_random(state) % i;
		struct matrix_cell swap = cells[i - 1];

		cells[i - 1] = cells[j];
		cells[j] = swap;
	}
}

/* The names of the dimensions that the experiment has several values of, with the cell's. */
static void set_setting(struct matrix_cell *cell, const struct experiment *exp)
{
	size_t used = 0;

	for (int d = 0; d < DIMENSIONS; d++) {
		char value[16];

		if (exp->dimension[d].count < 2 || used >= sizeof(cell->setting))
			continue;
		dimension_print(d, cell->dimension[d], value, sizeof(value));
		used += (size_t)snprintf(cell->setting + used, sizeof(cell->setting) - used,
					 "%s%s %s", used ? ", " : "", dimensions[d].name, value);
	}
}

static const char *pick(const struct names *names, size_t *number)
{
	const char *name = names->name[*number % names->count];

	*number /= names->count;
	return name;
}

/* The combination of that number: the digits of a number, the last dimension its units. */
static void set_cell(struct matrix_cell *cell, const struct experiment *exp, size_t number)
{
	for (int d = DIMENSIONS - 1; d >= 0; d--) {
		const struct choices *choices = &exp->dimension[d];

		cell->dimension[d] = choices->value[number % choices->count];
		number /= choices->count;
	}
	strcpy(cell->park, pick(&exp->park, &number));
	strcpy(cell->tls, pick(&exp->tls, &number));
	strcpy(cell->reactor, pick(&exp->reactors, &number));
	snprintf(cell->name, sizeof(cell->name), "%s+%s+%s", cell->reactor, cell->tls, cell->park);
	set_setting(cell, exp);
}

static size_t combinations(const struct experiment *exp)
{
	size_t count = exp->reactors.count * exp->tls.count * exp->park.count;

	for (int d = 0; d < DIMENSIONS; d++)
		count *= exp->dimension[d].count;
	return count;
}

/* One pass over all combinations; returns how many were selected. */
static size_t add_pass(struct matrix_cell *cells, const struct experiment *exp, const char *only,
		       unsigned repeat)
{
	size_t count = 0, all = combinations(exp);

	for (size_t i = 0; i < all; i++) {
		cells[count] = (struct matrix_cell){.repeat = repeat};
		set_cell(&cells[count], exp, i);
		if (!only || !fnmatch(only, cells[count].name, FNM_EXTMATCH))
			count++;
	}
	return count;
}

int matrix_build(struct matrix *matrix, const struct experiment *exp, const char *only,
		 unsigned seed)
{
	uint64_t state = seed;

	/* One more than needed: add_pass writes a name before it judges it. */
	matrix->cells = calloc(combinations(exp) * exp->repeat + 1, sizeof(*matrix->cells));
	if (!matrix->cells)
		return -ENOMEM;
	matrix->count = 0;
	matrix->seed = seed;
	for (unsigned repeat = 1; repeat <= exp->repeat; repeat++) {
		struct matrix_cell *cells = matrix->cells + matrix->count;
		size_t count = add_pass(cells, exp, only, repeat);

		shuffle(cells, count, &state);
		matrix->count += count;
	}
	for (size_t i = 0; i < matrix->count; i++)
		matrix->cells[i].order = (unsigned)i + 1;
	if (matrix->count)
		return 0;
	matrix_free(matrix);
	return -ENOENT;
}

static bool is_of(const json_t *line, const struct matrix_cell *cell)
{
	const char *name = json_string_value(json_object_get(line, "cell"));

	if (!name || strcmp(name, cell->name) ||
	    json_integer_value(json_object_get(line, "repeat")) != (json_int_t)cell->repeat)
		return false;
	for (int d = 0; d < DIMENSIONS; d++) {
		json_t *value = dimension_json(d, cell->dimension[d]);
		bool same = json_equal(value, json_object_get(line, dimensions[d].name));

		json_decref(value);
		if (!same)
			return false;
	}
	return true;
}

static bool has_line(const json_t *lines, const struct matrix_cell *cell)
{
	for (size_t i = 0; i < json_array_size(lines); i++)
		if (is_of(json_array_get(lines, i), cell))
			return true;
	return false;
}

static unsigned last_order(const json_t *lines)
{
	json_int_t last = 0;

	for (size_t i = 0; i < json_array_size(lines); i++) {
		json_int_t order =
			json_integer_value(json_object_get(json_array_get(lines, i), "order"));

		last = order > last ? order : last;
	}
	return (unsigned)last;
}

void matrix_leave_out(struct matrix *matrix, const json_t *lines)
{
	unsigned order = last_order(lines);
	size_t count = 0;

	for (size_t i = 0; i < matrix->count; i++) {
		if (has_line(lines, &matrix->cells[i]))
			continue;
		matrix->cells[count] = matrix->cells[i];
		matrix->cells[count++].order = ++order;
	}
	matrix->count = count;
}

void matrix_free(struct matrix *matrix)
{
	free(matrix->cells);
	matrix->cells = NULL;
	matrix->count = 0;
}
