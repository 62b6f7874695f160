// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the table of a run. */
#include "harness/bench/table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/result.h"
#include "harness/measure/stats.h"

#define TEXT_SIZE 96

/* One cell with all its repeats; borrows from the lines. */
struct group {
	const json_t *first;
	const json_t **rows; /* this one and those after it */
	size_t count;
	double total; /* median bytes a connection, for the ratio to plain */
};

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "?";
}

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static double memory_of(const json_t *row, const char *key)
{
	return number_of(json_object_get(row, "memory"), key);
}

static double cpu_of(const json_t *row, const char *key)
{
	return number_of(json_object_get(row, "cpu"), key);
}

static double of_conns(const json_t *row)
{
	return number_of(row, "established");
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
	return number_of(row, "ramp_s");
}

static double of_p99_ms(const json_t *row)
{
	return number_of(json_object_get(row, "handshake_us"), "p99") / 1000;
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

static double of_rps(const json_t *row)
{
	const json_t *rounds = json_object_get(row, "rounds");

	return fmin(number_of(json_array_get(rounds, 0), "rps"),
		    number_of(json_array_get(rounds, 1), "rps"));
}

static double of_client_cpu(const json_t *row)
{
	return number_of(json_object_get(row, "client"), "cpu_percent");
}

static double of_client_user(const json_t *row)
{
	return number_of(json_object_get(row, "client"), "user_bytes_per_conn");
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
	{"req/s", of_rps, 0, false},
	{"client %", of_client_cpu, 0, false},
	{"client B", of_client_user, 0, false},
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))
/* Before them: the name and the verdict. */
#define TEXTS (COLUMNS + 2)

static const char legend[] =
	"B: bytes a connection, the server's (client B: the client's, user); x plain: total "
	"against the same cell without TLS\n"
	"us/hs, us/req: server CPU a handshake, a request; x floor: us/hs against the same "
	"handshake in memory\n"
	"req/s: the slower round; client %: of the CPUs its workers can use, in the ramp\n";

static bool passed(const json_t *row)
{
	return !strcmp(text_of(row, "verdict"), verdict_names[VERDICT_PASS]);
}

/* Sorted figures of the rows that passed and have one; their number. */
static size_t collect(const struct group *group, double (*of)(const json_t *row), double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < group->count; i++) {
		double value = passed(group->rows[i]) ? of(group->rows[i]) : NAN;

		if (isfinite(value))
			values[count++] = value;
	}
	stats_sort(values, count);
	return count;
}

static void print_figure(char *text, const struct column *column, const double *values,
			 size_t count)
{
	int decimals = column->decimals;

	if (count == 0)
		snprintf(text, TEXT_SIZE, "-");
	else if (column->range && count > 1)
		snprintf(text, TEXT_SIZE, "%.*f (%.*f-%.*f)", decimals, stats_median(values, count),
			 decimals, stats_min(values, count), decimals, stats_max(values, count));
	else
		snprintf(text, TEXT_SIZE, "%.*f", decimals, stats_median(values, count));
}

/* "pass", or "2 pass 1 fail". */
static void print_verdict(char *text, const struct group *group)
{
	size_t used = 0;

	*text = '\0';
	for (int v = 0; v < VERDICTS; v++) {
		size_t count = 0;

		for (size_t i = 0; i < group->count; i++)
			count += !strcmp(text_of(group->rows[i], "verdict"), verdict_names[v]);
		if (count == group->count) {
			snprintf(text, TEXT_SIZE, "%s", verdict_names[v]);
			return;
		}
		if (count)
			used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%s%zu %s",
						 used ? " " : "", count, verdict_names[v]);
	}
}

static bool same(const json_t *a, const json_t *b, const char *key)
{
	return json_equal(json_object_get(a, key), json_object_get(b, key));
}

/* The total of the same cell without TLS; NAN when the run has none. */
static double plain_total(const struct group *groups, size_t count, const struct group *group)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(text_of(groups[i].first, "tls"), "plain") &&
		    same(groups[i].first, group->first, "reactor") &&
		    same(groups[i].first, group->first, "park") &&
		    same(groups[i].first, group->first, "connections"))
			return groups[i].total;
	return NAN;
}

static void print_row(char (*row)[TEXT_SIZE], const struct group *groups, size_t count,
		      const struct group *group, double *values)
{
	snprintf(row[0], TEXT_SIZE, "%s", text_of(group->first, "cell"));
	print_verdict(row[1], group);
	for (size_t c = 0; c < COLUMNS; c++) {
		size_t n = 1;

		if (columns[c].of)
			n = collect(group, columns[c].of, values);
		else
			values[0] = group->total / plain_total(groups, count, group);
		if (n == 1 && !isfinite(values[0]))
			n = 0;
		print_figure(row[c + 2], &columns[c], values, n);
	}
}

/* Sums up each cell's repeats; the lines are sorted, so they stand together. */
static size_t make_groups(const json_t **rows, size_t count, struct group *groups, double *values)
{
	size_t made = 0;

	for (size_t i = 0; i < count; i++) {
		struct group *last = made ? &groups[made - 1] : NULL;

		if (last && same(last->first, rows[i], "cell") &&
		    same(last->first, rows[i], "connections"))
			last->count++;
		else
			groups[made++] = (struct group){rows[i], &rows[i], 1, NAN};
	}
	for (size_t i = 0; i < made; i++)
		groups[i].total = stats_median(values, collect(&groups[i], of_total, values));
	return made;
}

static void print_texts(FILE *stream, char (*texts)[TEXTS][TEXT_SIZE], size_t rows)
{
	size_t width[TEXTS] = {0};

	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < TEXTS; c++)
			if (strlen(texts[r][c]) > width[c])
				width[c] = strlen(texts[r][c]);
	for (size_t r = 0; r < rows; r++) {
		fprintf(stream, "%-*s  %-*s", (int)width[0], texts[r][0], (int)width[1],
			texts[r][1]);
		for (size_t c = 2; c < TEXTS; c++)
			fprintf(stream, "  %*s", (int)width[c], texts[r][c]);
		fprintf(stream, "\n");
	}
}

static void print_reasons(FILE *stream, const json_t **rows, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (passed(rows[i]))
			continue;
		fprintf(stream, "%s%s #%.0f: %s: %s\n", any ? "" : "\n", text_of(rows[i], "cell"),
			number_of(rows[i], "repeat"), text_of(rows[i], "verdict"),
			text_of(rows[i], "reason"));
		any = true;
	}
}

static int by_name(const void *a, const void *b)
{
	const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
	int order = strcmp(text_of(x, "cell"), text_of(y, "cell"));
	double difference = number_of(x, "connections") - number_of(y, "connections");

	if (!order)
		order = (difference > 0) - (difference < 0);
	difference = number_of(x, "repeat") - number_of(y, "repeat");
	return order ? order : (difference > 0) - (difference < 0);
}

int table_print(FILE *stream, const json_t *lines)
{
	size_t count = json_array_size(lines), made;
	const json_t **rows = calloc(count + 1, sizeof(const json_t *));
	struct group *groups = calloc(count + 1, sizeof(*groups));
	double *values = calloc(count + 1, sizeof(*values));
	char(*texts)[TEXTS][TEXT_SIZE] = calloc(count + 1, sizeof(*texts));
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
	print_texts(stream, texts, made + 1);
	fprintf(stream, "\n%s", legend);
	print_reasons(stream, rows, count);
	ret = 0;
out:
	free(rows);
	free(groups);
	free(values);
	free(texts);
	return ret;
}
