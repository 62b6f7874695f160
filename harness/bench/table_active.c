// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the table of the active step. */
#include "harness/bench/table_active.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/dimensions.h"
#include "harness/bench/grid.h"
#include "harness/measure/stats.h"

#define REFERENCE "epoll"

/* One fraction of one repeat of a cell; borrows from the lines. */
struct entry {
	const json_t *row;
	const json_t *active;
};

struct entries {
	struct entry *entry; /* owned, ordered */
	size_t count;
	bool varying[DIMENSIONS]; /* of the lines */
};

static const struct column {
	const char *title;
	const char *key;
	int decimals;
	bool ratio; /* to the reference */
	bool range;
} columns[] = {
	{"conns", "connections", 0, false, false},
	{"us/req", "server_us_per_request", 2, false, true},
	{"x " REFERENCE, "server_us_per_request", 2, true, true},
	{"syscalls/req", "server_syscalls_per_request", 3, false, true},
	{"x " REFERENCE, "server_syscalls_per_request", 2, true, true},
	{"req/s", "rps", 0, false, false},
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))
/* Before them: the name, the dimensions that vary, and the fraction. */
#define TEXTS_MAX (2 + DIMENSIONS + COLUMNS)

static const char legend[] =
	"active: that part of the connections asks again as soon as it is answered (conns: how "
	"many), the others stay idle\n"
	"us/req, syscalls/req: server CPU a request, system calls of its reactor; x " REFERENCE
	": against the " REFERENCE " cell of the same repeat\n";

static int compare(double a, double b)
{
	return (a > b) - (a < b);
}

/* What stands together, and is comparable, comes first. */
static int by_setting(const struct entry *a, const struct entry *b)
{
	int order = strcmp(row_text(a->row, "tls"), row_text(b->row, "tls"));

	if (!order)
		order = strcmp(row_text(a->row, "park"), row_text(b->row, "park"));
	if (!order)
		order = dimensions_compare(a->row, b->row);
	if (!order)
		order = compare(row_number(a->row, "workers"), row_number(b->row, "workers"));
	if (!order)
		order = compare(row_number(a->active, "fraction"),
				row_number(b->active, "fraction"));
	return order;
}

static int by_line(const struct entry *a, const struct entry *b)
{
	int order = by_setting(a, b);

	return order ? order : strcmp(row_text(a->row, "reactor"), row_text(b->row, "reactor"));
}

static int by_repeat(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int order = by_line(a, b);

	return order ? order : compare(row_number(a->row, "repeat"), row_number(b->row, "repeat"));
}

static int collect_entries(struct entries *entries, const json_t *const *rows, size_t count)
{
	size_t most = 0, index;
	const json_t *active;

	for (size_t i = 0; i < count; i++)
		most += json_array_size(json_object_get(rows[i], "active"));
	entries->count = 0;
	entries->entry = calloc(most + 1, sizeof(*entries->entry));
	if (!entries->entry)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!row_passed(rows[i]))
			continue;
		json_array_foreach(json_object_get(rows[i], "active"), index, active)
		{
			entries->entry[entries->count++] = (struct entry){rows[i], active};
		}
	}
	qsort(entries->entry, entries->count, sizeof(*entries->entry), by_repeat);
	return 0;
}

/* The same figure of the reference; NAN when it did not pass in this repeat. */
static double reference(const struct entries *entries, const struct entry *entry, const char *key)
{
	for (size_t i = 0; i < entries->count; i++) {
		const struct entry *other = &entries->entry[i];

		if (!strcmp(row_text(other->row, "reactor"), REFERENCE) &&
		    !by_setting(other, entry) && row_same(other->row, entry->row, "repeat"))
			return row_number(other->active, key);
	}
	return NAN;
}

static void print_line(char (*row)[GRID_TEXT], const struct entries *entries,
		       const struct entry *first, size_t count, double *values)
{
	size_t at = 1;

	snprintf(row[0], GRID_TEXT, "%s", row_text(first->row, "cell"));
	at += grid_dimensions(row + at, first->row, entries->varying);
	snprintf(row[at++], GRID_TEXT, "%.6g %%", 100 * row_number(first->active, "fraction"));
	for (size_t c = 0; c < COLUMNS; c++) {
		const struct column *column = &columns[c];
		size_t n = 0;

		for (size_t i = 0; i < count; i++) {
			double value = row_number(first[i].active, column->key);

			if (column->ratio)
				value /= reference(entries, &first[i], column->key);
			if (isfinite(value))
				values[n++] = value;
		}
		stats_sort(values, n);
		grid_figure(row[at++], column->decimals, column->range, values, n);
	}
}

/* Fills in all lines, an empty one between settings; returns how many. */
static size_t print_lines(char (*texts)[GRID_TEXT], size_t width, const struct entries *entries,
			  double *values)
{
	size_t lines = 0, next;

	for (size_t i = 0; i < entries->count; i = next) {
		const struct entry *first = &entries->entry[i];

		for (next = i + 1; next < entries->count; next++)
			if (by_line(first, &entries->entry[next]))
				break;
		if (i && by_setting(first - 1, first))
			lines++;
		print_line(texts + lines++ * width, entries, first, next - i, values);
	}
	return lines;
}

/* Returns how many columns there are. */
static size_t print_titles(char (*row)[GRID_TEXT], const struct entries *entries)
{
	size_t at = 1;

	strcpy(row[0], "cell");
	at += grid_dimensions(row + at, NULL, entries->varying);
	strcpy(row[at++], "active");
	for (size_t c = 0; c < COLUMNS; c++)
		strcpy(row[at++], columns[c].title);
	return at;
}

static int print_table(FILE *stream, const struct entries *entries)
{
	double *values = calloc(entries->count, sizeof(*values));
	/* The titles, and at most an empty line for each. */
	char(*texts)[GRID_TEXT] = calloc((2 * entries->count + 1) * TEXTS_MAX, sizeof(*texts));
	int ret = values && texts ? 0 : -ENOMEM;

	if (!ret) {
		size_t width = print_titles(texts, entries);
		size_t lines = print_lines(texts + width, width, entries, values);

		fprintf(stream, "\n");
		grid_print(stream, texts, lines + 1, width, 1);
		fprintf(stream, "\n%s", legend);
	}
	free(values);
	free(texts);
	return ret;
}

int table_active_print(FILE *stream, const json_t *const *rows, size_t count)
{
	struct entries entries;
	int ret = collect_entries(&entries, rows, count);

	dimensions_varying(rows, count, entries.varying);
	if (!ret && entries.count)
		ret = print_table(stream, &entries);
	free(entries.entry);
	return ret;
}
