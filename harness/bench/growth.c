// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - how memory grows with the connections. */
#include "harness/bench/growth.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/dimensions.h"
#include "harness/bench/grid.h"
#include "harness/measure/fit.h"

static const struct column {
	const char *title;
	const char *object;
	const char *key;
	int decimals;
	double scale;
} columns[] = {
	{"from", "connections", "least", 0, 1},
	{"to", "connections", "most", 0, 1},
	{"user B/conn", "user", "bytes_per_conn", 1, 1},
	{"+-", "user", "bytes_per_conn_error", 1, 1},
	{"fixed KiB", "user", "fixed_bytes", 0, 1024},
	{"kernel B/conn", "kernel", "bytes_per_conn", 1, 1},
	{"+-", "kernel", "bytes_per_conn_error", 1, 1},
	{"fixed KiB", "kernel", "fixed_bytes", 0, 1024},
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))
/* Before them: the name, the dimensions that vary, and the number of points. */
#define TEXTS_MAX (2 + DIMENSIONS + COLUMNS)

static const char legend[] =
	"growth: the line through all repeats: bytes a connection are its slope, with the standard "
	"error; fixed: where it begins\n";

/* Lines of earlier versions lack the newer dimensions. */
static bool same_setting(const json_t *a, const json_t *b, const char *name)
{
	return row_same(a, b, name) || (!json_object_get(a, name) && !json_object_get(b, name));
}

static bool same_line(const json_t *a, const json_t *b)
{
	if (!row_same(a, b, "cell"))
		return false;
	for (int d = 0; d < DIMENSIONS; d++)
		if (d != DIM_CONNECTIONS && !same_setting(a, b, dimensions[d].name))
			return false;
	return true;
}

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(round(value * 10) / 10);
}

/* Of the rows that are on the line of `first`: where they are, and what they have. */
static size_t collect(const json_t *lines, const json_t *first, const char *key,
		      struct fit_point *points)
{
	size_t index, count = 0;
	const json_t *row;

	json_array_foreach((json_t *)lines, index, row)
	{
		double conns = row_number(row, "established");

		if (!row_passed(row) || !same_line(first, row))
			continue;
		points[count++] = (struct fit_point){
			.x = conns, .y = conns * row_number(json_object_get(row, "memory"), key)};
	}
	return count;
}

static json_t *fit_json(const struct fit_point *points, size_t count)
{
	struct fit fit = fit_line(points, count);

	return json_pack("{s:o, s:o, s:o}", "bytes_per_conn", number(fit.slope),
			 "bytes_per_conn_error", number(fit.slope_error), "fixed_bytes",
			 number(fit.intercept));
}

static json_t *range_json(const struct fit_point *points, size_t count)
{
	double least = points[0].x, most = points[0].x;

	for (size_t i = 1; i < count; i++) {
		least = fmin(least, points[i].x);
		most = fmax(most, points[i].x);
	}
	return json_pack("{s:I, s:I}", "least", (json_int_t)least, "most", (json_int_t)most);
}

static json_t *line_json(const json_t *lines, const json_t *first, struct fit_point *points)
{
	static const char *const names[] = {"cell", "reactor", "tls", "park"};
	json_t *object = json_object();
	size_t count = collect(lines, first, "user_bytes_per_conn", points);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		json_object_set(object, names[i], json_object_get(first, names[i]));
	for (int d = 0; d < DIMENSIONS; d++)
		if (d != DIM_CONNECTIONS && json_object_get(first, dimensions[d].name))
			json_object_set(object, dimensions[d].name,
					json_object_get(first, dimensions[d].name));
	json_object_set_new(object, "points", json_integer((json_int_t)count));
	json_object_set_new(object, "connections", range_json(points, count));
	json_object_set_new(object, "user", fit_json(points, count));
	count = collect(lines, first, "kernel_bytes_per_conn", points);
	json_object_set_new(object, "kernel", fit_json(points, count));
	return object;
}

/* Whether it is the first of its line, and others of it have more or fewer connections. */
static bool begins_line(const json_t *lines, size_t at)
{
	const json_t *first = json_array_get(lines, at), *row;
	bool grows = false;
	size_t index;

	json_array_foreach((json_t *)lines, index, row)
	{
		if (!row_passed(row) || !same_line(first, row))
			continue;
		if (index < at)
			return false;
		grows |= !row_same(first, row, "established");
	}
	return grows && row_passed(first);
}

static int by_name(const void *a, const void *b)
{
	const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
	int order = strcmp(row_text(x, "cell"), row_text(y, "cell"));

	return order ? order : dimensions_compare(x, y);
}

json_t *growth_json(const json_t *lines)
{
	size_t count = json_array_size(lines), made = 0;
	struct fit_point *points = calloc(count + 1, sizeof(*points));
	json_t **objects = calloc(count + 1, sizeof(*objects)), *array = NULL;

	if (points && objects)
		array = json_array();
	for (size_t i = 0; array && i < count; i++)
		if (begins_line(lines, i))
			objects[made++] = line_json(lines, json_array_get(lines, i), points);
	if (made)
		qsort(objects, made, sizeof(*objects), by_name);
	for (size_t i = 0; i < made; i++)
		json_array_append_new(array, objects[i]);
	free(points);
	free(objects);
	return array;
}

static size_t print_titles(char (*row)[GRID_TEXT], const bool varying[DIMENSIONS])
{
	size_t at = 1;

	strcpy(row[0], "cell");
	at += grid_dimensions(row + at, NULL, varying);
	strcpy(row[at++], "points");
	for (size_t c = 0; c < COLUMNS; c++)
		strcpy(row[at++], columns[c].title);
	return at;
}

static void print_line(char (*row)[GRID_TEXT], const json_t *line, const bool varying[DIMENSIONS])
{
	size_t at = 1;

	snprintf(row[0], GRID_TEXT, "%s", row_text(line, "cell"));
	at += grid_dimensions(row + at, line, varying);
	snprintf(row[at++], GRID_TEXT, "%.0f", row_number(line, "points"));
	for (size_t c = 0; c < COLUMNS; c++) {
		const struct column *column = &columns[c];
		double value = row_number(json_object_get(line, column->object), column->key);

		value /= column->scale;
		grid_figure(row[at++], column->decimals, false, &value, isnan(value) ? 0 : 1);
	}
}

static int print_table(FILE *stream, const json_t *growth)
{
	size_t count = json_array_size(growth), width;
	char(*texts)[GRID_TEXT] = calloc((count + 1) * TEXTS_MAX, sizeof(*texts));
	const json_t **rows = calloc(count, sizeof(*rows));
	bool varying[DIMENSIONS];
	int ret = texts && rows ? 0 : -ENOMEM;

	if (!ret) {
		for (size_t i = 0; i < count; i++)
			rows[i] = json_array_get(growth, i);
		dimensions_varying(rows, count, varying);
		width = print_titles(texts, varying);
		for (size_t i = 0; i < count; i++)
			print_line(texts + (i + 1) * width, rows[i], varying);
		fprintf(stream, "\n");
		grid_print(stream, texts, count + 1, width, 1);
		fprintf(stream, "\n%s", legend);
	}
	free(texts);
	free(rows);
	return ret;
}

int growth_print(FILE *stream, const json_t *lines)
{
	json_t *growth = growth_json(lines);
	int ret = growth ? 0 : -ENOMEM;

	if (json_array_size(growth))
		ret = print_table(stream, growth);
	json_decref(growth);
	return ret;
}
