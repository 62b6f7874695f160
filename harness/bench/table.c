// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the table of a run. */
#include "harness/bench/table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/grid.h"
#include "harness/bench/result.h"
#include "harness/bench/table_active.h"
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
	{"conns", of_conns, 0, false},         {"user B", of_user, 0, true},
	{"kernel B", of_kernel, 0, false},     {"total B", of_total, 0, false},
	{"x plain", NULL, 2, false},           {"ramp s", of_ramp, 2, true},
	{"p99 ms", of_p99_ms, 1, false},       {"us/hs", of_handshake, 0, false},
	{"x floor", of_floor, 2, false},       {"us/req", of_request, 1, false},
	{"sys/req", of_syscalls, 2, false},    {"req/s", of_rps, 0, false},
	{"client %", of_client_cpu, 0, false}, {"client B", of_client_user, 0, false},
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))
/* Before them: the name and the verdict. */
#define TEXTS (COLUMNS + 2)

static const char legend[] =
	"B: bytes a connection, the server's (client B: the client's, user); x plain: total "
	"against the same cell without TLS\n"
	"us/hs, us/req: server CPU a handshake, a request; x floor: us/hs against the same "
	"handshake in memory\n"
	"sys/req: system calls of the reactor, a request; "
	"req/s: the slower round; client %: of the CPUs its workers can use, in the ramp\n";

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

/* The total of the same cell without TLS; NAN when the run has none. */
static double plain_total(const struct group *groups, size_t count, const struct group *group)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(row_text(groups[i].first, "tls"), "plain") &&
		    row_same(groups[i].first, group->first, "reactor") &&
		    row_same(groups[i].first, group->first, "park") &&
		    row_same(groups[i].first, group->first, "connections"))
			return groups[i].total;
	return NAN;
}

static void print_row(char (*row)[GRID_TEXT], const struct group *groups, size_t count,
		      const struct group *group, double *values)
{
	snprintf(row[0], GRID_TEXT, "%s", row_text(group->first, "cell"));
	print_verdict(row[1], group);
	for (size_t c = 0; c < COLUMNS; c++) {
		size_t n = 1;

		if (columns[c].of)
			n = collect(group, columns[c].of, values);
		else
			values[0] = group->total / plain_total(groups, count, group);
		if (n == 1 && !isfinite(values[0]))
			n = 0;
		grid_figure(row[c + 2], columns[c].decimals, columns[c].range, values, n);
	}
}

/* Sums up each cell's repeats; the lines are sorted, so they stand together. */
static size_t make_groups(const json_t **rows, size_t count, struct group *groups, double *values)
{
	size_t made = 0;

	for (size_t i = 0; i < count; i++) {
		struct group *last = made ? &groups[made - 1] : NULL;

		if (last && row_same(last->first, rows[i], "cell") &&
		    row_same(last->first, rows[i], "connections"))
			last->count++;
		else
			groups[made++] = (struct group){rows[i], &rows[i], 1, NAN};
	}
	for (size_t i = 0; i < made; i++)
		groups[i].total = stats_median(values, collect(&groups[i], of_total, values));
	return made;
}

static void print_reasons(FILE *stream, const json_t **rows, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (row_passed(rows[i]))
			continue;
		fprintf(stream, "%s%s #%.0f: %s: %s\n", any ? "" : "\n", row_text(rows[i], "cell"),
			row_number(rows[i], "repeat"), row_text(rows[i], "verdict"),
			row_text(rows[i], "reason"));
		any = true;
	}
}

static int by_name(const void *a, const void *b)
{
	const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
	int order = strcmp(row_text(x, "cell"), row_text(y, "cell"));
	double difference = row_number(x, "connections") - row_number(y, "connections");

	if (!order)
		order = (difference > 0) - (difference < 0);
	difference = row_number(x, "repeat") - row_number(y, "repeat");
	return order ? order : (difference > 0) - (difference < 0);
}

int table_print(FILE *stream, const json_t *lines)
{
	size_t count = json_array_size(lines), made;
	const json_t **rows = calloc(count + 1, sizeof(const json_t *));
	struct group *groups = calloc(count + 1, sizeof(*groups));
	double *values = calloc(count + 1, sizeof(*values));
	char(*texts)[TEXTS][GRID_TEXT] = calloc(count + 1, sizeof(*texts));
	int ret = -ENOMEM;

	if (!rows || !groups || !values || !texts)
		goto out;
	for (size_t i = 0; i < count; i++)
		rows[i] = json_array_get(lines, i);
	qsort(rows, count, sizeof(const json_t *), by_name);
	made = make_groups(rows, count, groups, values);
	strcpy(texts[0][0], "cell");
	strcpy(texts[0][1], "verdict");
	for (size_t c = 0; c < COLUMNS; c++)
		strcpy(texts[0][c + 2], columns[c].title);
	for (size_t i = 0; i < made; i++)
		print_row(texts[i + 1], groups, made, &groups[i], values);
	grid_print(stream, texts[0], made + 1, TEXTS, 2);
	fprintf(stream, "\n%s", legend);
	ret = table_active_print(stream, rows, count);
	print_reasons(stream, rows, count);
out:
	free(rows);
	free(groups);
	free(values);
	free(texts);
	return ret;
}
