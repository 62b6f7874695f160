// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the table of the wakes. */
#include "harness/bench/table_wakes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/dimensions.h"
#include "harness/bench/grid.h"
#include "harness/measure/stats.h"

#define REFERENCE "keys"

static const struct column {
	const char *title;
	const char *key;
	int decimals;
	bool beyond; /* the reference */
	bool range;
} columns[] = {
	{"wakes", "ok", 0, false, false},          {"p50 us", "p50_us", 1, false, true},
	{"+ " REFERENCE, "p50_us", 1, true, true}, {"p99 us", "p99_us", 1, false, true},
	{"max us", "max_us", 0, false, false},
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))
/* Before them: the name, and the dimensions that vary. */
#define TEXTS_MAX (1 + DIMENSIONS + COLUMNS)

static const char legend[] =
	"wakes: parked connections, one woken at a time; p50, p99, max: from its packet to the "
	"whole response, seen by the client\n"
	"+ " REFERENCE ": p50 less that of the cell at level " REFERENCE " in the same repeat\n";

/* The rows that have such figures, and what of them varies. */
struct woken {
	const json_t **row; /* owned, in their order */
	size_t count;
	bool varying[DIMENSIONS];
	double *values; /* scratch, count of them; owned */
};

static double of_wakes(const json_t *row, const char *key)
{
	return row_number(json_object_get(row, "wakes"), key);
}

static bool same_but_park(const json_t *a, const json_t *b)
{
	return row_same(a, b, "reactor") && row_same(a, b, "tls") && row_same(a, b, "workers") &&
	       !dimensions_compare(a, b);
}

static bool same_cell(const json_t *a, const json_t *b)
{
	return same_but_park(a, b) && row_same(a, b, "park");
}

/* NAN when it did not pass in this repeat. */
static double reference(const struct woken *woken, const json_t *row, const char *key)
{
	for (size_t i = 0; i < woken->count; i++)
		if (!strcmp(row_text(woken->row[i], "park"), REFERENCE) &&
		    same_but_park(woken->row[i], row) && row_same(woken->row[i], row, "repeat"))
			return of_wakes(woken->row[i], key);
	return NAN;
}

/* The cell whose repeats begin at `first`. */
static void print_line(char (*texts)[GRID_TEXT], const struct woken *woken, size_t first,
		       size_t count)
{
	size_t at = 1;

	snprintf(texts[0], GRID_TEXT, "%s", row_text(woken->row[first], "cell"));
	at += grid_dimensions(texts + at, woken->row[first], woken->varying);
	for (size_t c = 0; c < COLUMNS; c++) {
		const struct column *column = &columns[c];
		size_t n = 0;

		for (size_t i = first; i < first + count; i++) {
			double value = of_wakes(woken->row[i], column->key);

			if (column->beyond)
				value -= reference(woken, woken->row[i], column->key);
			if (isfinite(value))
				woken->values[n++] = value;
		}
		stats_sort(woken->values, n);
		grid_figure(texts[at++], column->decimals, column->range, woken->values, n);
	}
}

/* Returns how many columns there are. */
static size_t print_titles(char (*texts)[GRID_TEXT], const struct woken *woken)
{
	size_t at = 1;

	strcpy(texts[0], "cell");
	at += grid_dimensions(texts + at, NULL, woken->varying);
	for (size_t c = 0; c < COLUMNS; c++)
		strcpy(texts[at++], columns[c].title);
	return at;
}

static void print_table(FILE *stream, const struct woken *woken, char (*texts)[GRID_TEXT])
{
	size_t width = print_titles(texts, woken), lines = 1, next;

	for (size_t i = 0; i < woken->count; i = next) {
		for (next = i + 1; next < woken->count; next++)
			if (!same_cell(woken->row[i], woken->row[next]))
				break;
		print_line(texts + lines++ * width, woken, i, next - i);
	}
	fprintf(stream, "\n");
	grid_print(stream, texts, lines, width, 1);
	fprintf(stream, "\n%s", legend);
}

int table_wakes_print(FILE *stream, const json_t *const *rows, size_t count)
{
	struct woken woken = {
		.row = calloc(count + 1, sizeof(*woken.row)),
		.values = calloc(count + 1, sizeof(*woken.values)),
	};
	char(*texts)[GRID_TEXT] = calloc((count + 1) * TEXTS_MAX, sizeof(*texts));
	int ret = woken.row && woken.values && texts ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !ret; i++)
		if (row_passed(rows[i]) && json_object_get(rows[i], "wakes"))
			woken.row[woken.count++] = rows[i];
	dimensions_varying(rows, count, woken.varying);
	if (!ret && woken.count)
		print_table(stream, &woken, texts);
	free(woken.row);
	free(woken.values);
	free(texts);
	return ret;
}
