// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the table of a run. */
#include "harness/bench/table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/dimensions.h"
#include "harness/bench/grid.h"
#include "harness/bench/growth.h"
#include "harness/bench/result.h"
#include "harness/bench/table_active.h"
#include "harness/bench/table_wakes.h"
#include "harness/measure/stats.h"

/* One cell with all its repeats; borrows from the lines. */
struct group {
	const json_t *first;
	const json_t **rows; /* this one and those after it */
	size_t count;
	double total; /* median bytes a connection, for the ratio to plain */
};

static double memory_of(const json_t *row, const char *key)
{
	return row_number(json_object_get(row, "memory"), key);
}

static double cpu_of(const json_t *row, const char *key)
{
	return row_number(json_object_get(row, "cpu"), key);
}

static double of_conns(const json_t *row)
{
	return row_number(row, "established");
}

static double of_user(const json_t *row)
{
	return memory_of(row, "user_bytes_per_conn");
}

static double of_kernel(const json_t *row)
{
	return memory_of(row, "kernel_bytes_per_conn");
}

static double of_total(const json_t *row)
{
	return of_user(row) + of_kernel(row);
}

static double of_ramp(const json_t *row)
{
	return row_number(row, "ramp_s");
}

static double of_p99_ms(const json_t *row)
{
	return row_number(json_object_get(row, "handshake_us"), "p99") / 1000;
}

static double of_handshake(const json_t *row)
{
	return cpu_of(row, "server_us_per_handshake");
}

static double of_floor(const json_t *row)
{
	return of_handshake(row) / cpu_of(row, "crypto_floor_us");
}

static double of_client_floor(const json_t *row)
{
	return cpu_of(row, "client_us_per_handshake") / cpu_of(row, "client_crypto_floor_us");
}

static double of_request(const json_t *row)
{
	return cpu_of(row, "server_us_per_request");
}

static double of_syscalls(const json_t *row)
{
	return cpu_of(row, "server_syscalls_per_request");
}

static double of_rps(const json_t *row)
{
	const json_t *rounds = json_object_get(row, "rounds");

	return fmin(row_number(json_array_get(rounds, 0), "rps"),
		    row_number(json_array_get(rounds, 1), "rps"));
}

static double of_client_cpu(const json_t *row)
{
	return row_number(json_object_get(row, "client"), "cpu_percent");
}

static double of_client_user(const json_t *row)
{
	return row_number(json_object_get(row, "client"), "user_bytes_per_conn");
}

/* The ratio to plain needs other rows too, so it has no function here. */
static const struct column {
	const char *title;
	double (*of)(const json_t *row);
	int decimals;
	bool range;
} columns[] = {
	{"conns", of_conns, 0, false},
	{"user B", of_user, 0, true},
	{"kernel B", of_kernel, 0, false},
	{"total B", of_total, 0, false},
	{"x plain", NULL, 2, false},
	{"ramp s", of_ramp, 2, true},
	{"p99 ms", of_p99_ms, 1, false},
	{"us/hs", of_handshake, 0, false},
	{"x floor", of_floor, 2, false},
	{"us/req", of_request, 1, false},
	{"sys/req", of_syscalls, 2, false},
	{"req/s", of_rps, 0, false},
	{"client %", of_client_cpu, 0, false},
	{"client x floor", of_client_floor, 2, false},
	{"client B", of_client_user, 0, false},
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))
/* Before them: the name, the verdict, and the dimensions that vary. */
#define TEXTS_MAX (2 + DIMENSIONS + COLUMNS)

struct table {
	const json_t **rows; /* sorted: what stands together is one group */
	size_t count;
	struct group *groups;
	size_t made;
	double *values; /* scratch, count of them */
	bool varying[DIMENSIONS];
};

static const char legend[] =
	"B: bytes a connection, the server's (client B: the client's, user); x plain: total "
	"against the same cell without TLS\n"
	"us/hs, us/req: server CPU a handshake, a request; x floor: us/hs against the same "
	"handshake in memory\n"
	"sys/req: system calls of the reactor, a request; "
	"req/s: the slower round; client %: of the CPUs its workers can use, in the ramp, "
	"client x floor: its CPU a handshake against the same in memory\n";

/* Sorted figures of the rows that passed and have one; their number. */
static size_t collect(const struct group *group, double (*of)(const json_t *row), double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < group->count; i++) {
		double value = row_passed(group->rows[i]) ? of(group->rows[i]) : NAN;

		if (isfinite(value))
			values[count++] = value;
	}
	stats_sort(values, count);
	return count;
}

/* "pass", or "2 pass 1 fail". */
static void print_verdict(char *text, const struct group *group)
{
	size_t used = 0;

	*text = '\0';
	for (int v = 0; v < VERDICTS; v++) {
		size_t count = 0;

		for (size_t i = 0; i < group->count; i++)
			count += !strcmp(row_text(group->rows[i], "verdict"), verdict_names[v]);
		if (count == group->count) {
			snprintf(text, GRID_TEXT, "%s", verdict_names[v]);
			return;
		}
		if (count)
			used += (size_t)snprintf(text + used, GRID_TEXT - used, "%s%zu %s",
						 used ? " " : "", count, verdict_names[v]);
	}
}

static bool is_floor_of(const json_t *plain, const json_t *row)
{
	return !strcmp(row_text(plain, "tls"), "plain") && row_same(plain, row, "reactor") &&
	       row_same(plain, row, "park") && row_same(plain, row, "workers") &&
	       !dimensions_compare(plain, row);
}

/* The total of the same cell without TLS; NAN when the run has none. */
static double plain_total(const struct table *table, const struct group *group)
{
	for (size_t i = 0; i < table->made; i++)
		if (is_floor_of(table->groups[i].first, group->first))
			return table->groups[i].total;
	return NAN;
}

static void print_row(char (*row)[GRID_TEXT], const struct table *table, const struct group *group)
{
	size_t at = 2;

	snprintf(row[0], GRID_TEXT, "%s", row_text(group->first, "cell"));
	print_verdict(row[1], group);
	at += grid_dimensions(row + at, group->first, table->varying);
	for (size_t c = 0; c < COLUMNS; c++) {
		double *values = table->values;
		size_t n = 1;

		if (columns[c].of)
			n = collect(group, columns[c].of, values);
		else
			values[0] = group->total / plain_total(table, group);
		if (n == 1 && !isfinite(values[0]))
			n = 0;
		grid_figure(row[at++], columns[c].decimals, columns[c].range, values, n);
	}
}

/* Returns how many columns there are. */
static size_t print_titles(char (*row)[GRID_TEXT], const struct table *table)
{
	size_t at = 2;

	strcpy(row[0], "cell");
	strcpy(row[1], "verdict");
	at += grid_dimensions(row + at, NULL, table->varying);
	for (size_t c = 0; c < COLUMNS; c++)
		strcpy(row[at++], columns[c].title);
	return at;
}

/* Sums up each cell's repeats; the lines are sorted, so they stand together. */
static void make_groups(struct table *table)
{
	const json_t **rows = table->rows;

	for (size_t i = 0; i < table->count; i++) {
		struct group *last = table->made ? &table->groups[table->made - 1] : NULL;

		if (last && row_same(last->first, rows[i], "cell") &&
		    row_same(last->first, rows[i], "workers") &&
		    !dimensions_compare(last->first, rows[i]))
			last->count++;
		else
			table->groups[table->made++] = (struct group){rows[i], &rows[i], 1, NAN};
	}
	for (size_t i = 0; i < table->made; i++) {
		size_t n = collect(&table->groups[i], of_total, table->values);

		table->groups[i].total = stats_median(table->values, n);
	}
}

/* " in_flight 64": what tells the line from others of its name. */
static void print_setting(FILE *stream, const struct table *table, const json_t *row)
{
	char text[GRID_TEXT];

	for (int d = 0; d < DIMENSIONS; d++) {
		if (!table->varying[d])
			continue;
		dimensions_text(row, d, text, sizeof(text));
		fprintf(stream, " %s %s", dimensions[d].name, text);
	}
}

static void print_reasons(FILE *stream, const struct table *table)
{
	bool any = false;

	for (size_t i = 0; i < table->count; i++) {
		const json_t *row = table->rows[i];

		if (row_passed(row))
			continue;
		fprintf(stream, "%s%s #%.0f", any ? "" : "\n", row_text(row, "cell"),
			row_number(row, "repeat"));
		print_setting(stream, table, row);
		fprintf(stream, ": %s: %s\n", row_text(row, "verdict"), row_text(row, "reason"));
		any = true;
	}
}

static int compare(double a, double b)
{
	return (a > b) - (a < b);
}

static int by_group(const void *a, const void *b)
{
	const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
	int order = strcmp(row_text(x, "cell"), row_text(y, "cell"));

	if (!order)
		order = dimensions_compare(x, y);
	if (!order)
		order = compare(row_number(x, "workers"), row_number(y, "workers"));
	return order ? order : compare(row_number(x, "repeat"), row_number(y, "repeat"));
}

/* 0, or -ENOMEM; to be freed either way. */
static int table_make(struct table *table, const json_t *lines)
{
	size_t count = json_array_size(lines);

	*table = (struct table){
		.rows = calloc(count + 1, sizeof(*table->rows)),
		.count = count,
		.groups = calloc(count + 1, sizeof(*table->groups)),
		.values = calloc(count + 1, sizeof(*table->values)),
	};
	if (!table->rows || !table->groups || !table->values)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		table->rows[i] = json_array_get(lines, i);
	qsort(table->rows, count, sizeof(*table->rows), by_group);
	make_groups(table);
	dimensions_varying(table->rows, count, table->varying);
	return 0;
}

static void table_free(struct table *table)
{
	free(table->rows);
	free(table->groups);
	free(table->values);
}

static int print_groups(FILE *stream, const struct table *table)
{
	char(*texts)[GRID_TEXT] = calloc((table->made + 1) * TEXTS_MAX, sizeof(*texts));
	size_t width;

	if (!texts)
		return -ENOMEM;
	width = print_titles(texts, table);
	for (size_t i = 0; i < table->made; i++)
		print_row(texts + (i + 1) * width, table, &table->groups[i]);
	grid_print(stream, texts, table->made + 1, width, 2);
	free(texts);
	return 0;
}

int table_print(FILE *stream, const json_t *lines)
{
	struct table table;
	int ret = table_make(&table, lines);

	if (!ret)
		ret = print_groups(stream, &table);
	if (!ret) {
		fprintf(stream, "\n%s", legend);
		ret = growth_print(stream, lines);
	}
	if (!ret)
		ret = table_wakes_print(stream, table.rows, table.count);
	if (!ret) {
		ret = table_active_print(stream, table.rows, table.count);
		print_reasons(stream, &table);
	}
	table_free(&table);
	return ret;
}
