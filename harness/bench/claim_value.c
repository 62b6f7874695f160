// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the figure of a claim in the lines of a run. */
#include "harness/bench/claim_value.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/grid.h"
#include "harness/bench/result.h"
#include "harness/measure/fit.h"
#include "harness/measure/stats.h"

/* The lines of one cell; borrows from those of the run. */
struct repeats {
	const char *cell;
	const json_t **rows; /* owned */
	size_t count;
};

__attribute__((format(printf, 3, 4))) static void
unknown(struct claim_value *value, enum value_state state, const char *format, ...)
{
	va_list args;

	value->state = state;
	value->number = NAN;
	va_start(args, format);
	vsnprintf(value->reason, sizeof(value->reason), format, args);
	va_end(args);
}

double claim_value_at(const json_t *object, const char *path)
{
	while (object && *path) {
		size_t len = strcspn(path, ".");
		char name[128];

		snprintf(name, sizeof(name), "%.*s", (int)len, path);
		if (json_is_array(object))
			object = json_array_get(object, strtoul(name, NULL, 10));
		else
			object = json_object_get(object, name);
		path += len + (path[len] == '.');
	}
	return json_is_number(object) ? json_number_value(object) : NAN;
}

static bool is_as(const json_t *row, const json_t *where)
{
	const json_t *wanted;
	const char *key;

	json_object_foreach((json_t *)where, key, wanted)
	{
		const json_t *is = json_object_get(row, key);

		if (json_is_number(is) && json_is_number(wanted)
			    ? json_number_value(is) != json_number_value(wanted)
			    : !json_equal(is, wanted))
			return false;
	}
	return true;
}

static int find_repeats(struct repeats *repeats, const struct claim *claim, const char *cell,
			const json_t *lines)
{
	size_t index;
	const json_t *row;

	*repeats = (struct repeats){.cell = cell};
	repeats->rows = calloc(json_array_size(lines) + 1, sizeof(*repeats->rows));
	if (!repeats->rows)
		return -ENOMEM;
	json_array_foreach((json_t *)lines, index, row)
	{
		if (!strcmp(row_text(row, "cell"), cell) && is_as(row, claim->where))
			repeats->rows[repeats->count++] = row;
	}
	return 0;
}

/* A claim is of one cell, and a slope of one that differs in its connections alone. */
static bool is_ambiguous(const struct claim *claim, const struct repeats *repeats, char *names,
			 size_t size)
{
	bool varying[DIMENSIONS];
	size_t used = 0;

	dimensions_varying(repeats->rows, repeats->count, varying);
	*names = '\0';
	for (int d = 0; d < DIMENSIONS; d++)
		if (varying[d] && !(claim->slope && d == DIM_CONNECTIONS))
			used += (size_t)snprintf(names + used, size - used, "%s%s",
						 used ? ", " : "", dimensions[d].name);
	return used > 0;
}

static size_t count_verdict(const struct repeats *repeats, enum verdict verdict,
			    const char **reason)
{
	size_t count = 0;

	for (size_t i = 0; i < repeats->count; i++) {
		if (strcmp(row_text(repeats->rows[i], "verdict"), verdict_names[verdict]))
			continue;
		*reason = row_text(repeats->rows[i], "reason");
		count++;
	}
	return count;
}

/* The figure of one repeat. Where it is not there, the field that is to blame. */
static double of_row(const struct claim *claim, const json_t *row, const char **blame)
{
	double number = claim_value_at(row, claim->field), more = 0, over = 1;

	if (claim->plus)
		more = claim_value_at(row, claim->plus);
	if (claim->over)
		over = claim_value_at(row, claim->over);
	if (isnan(number))
		*blame = claim->field;
	else if (isnan(more))
		*blame = claim->plus;
	else if (isnan(over) || over == 0)
		*blame = claim->over;
	return over == 0 ? NAN : (number + more) / over;
}

static double fit_slope(const struct claim *claim, const json_t *const *rows, size_t count,
			const char **blame)
{
	struct fit_point *points = calloc(count + 1, sizeof(*points));
	double slope = NAN;

	if (!points)
		return NAN;
	for (size_t i = 0; i < count; i++) {
		points[i].x = row_number(rows[i], "established");
		points[i].y = of_row(claim, rows[i], blame) * points[i].x;
	}
	slope = fit_line(points, count).slope;
	if (isnan(slope) && !*blame)
		*blame = "connections (two different numbers at least)";
	free(points);
	return slope;
}

static double median(const struct claim *claim, const json_t *const *rows, size_t count,
		     const char **blame)
{
	double *values = calloc(count + 1, sizeof(*values)), middle;
	size_t known = 0;

	if (!values)
		return NAN;
	for (size_t i = 0; i < count; i++) {
		double number = of_row(claim, rows[i], blame);

		if (isfinite(number))
			values[known++] = number;
	}
	stats_sort(values, known);
	middle = stats_median(values, known);
	free(values);
	return middle;
}

/* The figure over the repeats that passed, which are moved to the front. */
static void sum_up(const struct claim *claim, struct repeats *repeats, struct claim_value *value)
{
	const char *blame = NULL;
	size_t passed = 0;

	for (size_t i = 0; i < repeats->count; i++)
		if (row_passed(repeats->rows[i]))
			repeats->rows[passed++] = repeats->rows[i];
	value->number = (claim->slope ? fit_slope : median)(claim, repeats->rows, passed, &blame);
	if (isnan(value->number))
		unknown(value, VALUE_MISSING, "cell %s: %s is missing, null or divides by 0",
			repeats->cell, blame ? blame : claim->field);
}

static void judge_repeats(const struct claim *claim, struct repeats *repeats,
			  struct claim_value *value)
{
	const char *reason = "?";
	size_t failed, skipped, invalid;
	char names[256];

	if (repeats->count == 0) {
		unknown(value, VALUE_NO_CELL, "there is no cell %s", repeats->cell);
		return;
	}
	if (is_ambiguous(claim, repeats, names, sizeof(names))) {
		unknown(value, VALUE_MISSING,
			"several cells %s differ in %s: say which in \"where\"", repeats->cell,
			names);
		return;
	}
	skipped = count_verdict(repeats, VERDICT_SKIP, &reason);
	invalid = count_verdict(repeats, VERDICT_INVALID, &reason);
	failed = count_verdict(repeats, VERDICT_FAIL, &reason);
	if (failed + skipped + invalid < repeats->count)
		sum_up(claim, repeats, value);
	else
		unknown(value, invalid ? VALUE_INVALID : VALUE_SKIPPED, "cell %s: %s",
			repeats->cell, reason);
	if (!failed)
		return;
	value->state = VALUE_FAILED;
	snprintf(value->reason, sizeof(value->reason), "cell %s failed in %zu of %zu repeats: %s",
		 repeats->cell, failed, repeats->count, reason);
}

static void find_cell(const struct claim *claim, const char *cell, const json_t *lines,
		      struct claim_value *value)
{
	struct repeats repeats;

	*value = (struct claim_value){.state = VALUE_KNOWN, .number = NAN};
	if (find_repeats(&repeats, claim, cell, lines))
		unknown(value, VALUE_MISSING, "out of memory");
	else
		judge_repeats(claim, &repeats, value);
	free(repeats.rows);
}

/* Of two cells; what is wrong with the first is told before what is wrong with the other. */
static void combine(const struct claim *claim, struct claim_value *value,
		    const struct claim_value *other)
{
	double number = claim->pair == CLAIM_MINUS ? value->number - other->number
			: other->number != 0       ? value->number / other->number
						   : NAN;

	if (value->state == VALUE_KNOWN && other->state != VALUE_KNOWN)
		*value = *other;
	else if (value->state == VALUE_KNOWN && isnan(number))
		unknown(value, VALUE_MISSING, "cell %s: %s is 0 and can not divide",
			claim->other_cell, claim->field);
	value->number = number;
}

void claim_value_find(const struct claim *claim, const json_t *lines, struct claim_value *value)
{
	struct claim_value other;

	find_cell(claim, claim->cell, lines, value);
	if (claim->pair == CLAIM_ALONE)
		return;
	find_cell(claim, claim->other_cell, lines, &other);
	combine(claim, value, &other);
}
