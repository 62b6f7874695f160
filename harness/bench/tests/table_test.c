// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - the table of a run, and reading a run's directory again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/growth.h"
#include "harness/bench/rundir.h"
#include "harness/bench/table.h"

#define FIXTURES "harness/bench/tests/fixtures/"

/* The table of a fixture as text; the caller frees it. */
static char *table_of(const char *dir)
{
	char *text = NULL, error[512] = "";
	size_t size = 0;
	json_t *lines;
	FILE *stream;

	if (rundir_load(dir, &lines, error, sizeof(error)))
		fail_msg("%s", error);
	stream = open_memstream(&text, &size);
	assert_int_equal(table_print(stream, lines), 0);
	fclose(stream);
	json_decref(lines);
	return text;
}

/* The words of the line that begins with `name`, one blank between them. */
static void line_of(const char *table, const char *name, char *line, size_t size)
{
	const char *from = strstr(table, name);
	size_t used = 0;

	assert_non_null(from);
	for (; *from != '\n' && used < size - 1; from++)
		if (*from != ' ' || (used && line[used - 1] != ' '))
			line[used++] = *from;
	line[used] = '\0';
}

static void shows_medians_ranges_and_ratios(void **state)
{
	char *table = table_of(FIXTURES "run"), line[512];

	(void)state;
	line_of(table, "cell ", line, sizeof(line));
	assert_string_equal(line,
			    "cell verdict conns user B kernel B total B x plain ramp s p99 ms "
			    "us/hs x floor us/req sys/req req/s client % client x floor client B");
	line_of(table, "epoll+boringssl+shed", line, sizeof(line));
	assert_string_equal(line, "epoll+boringssl+shed pass 1000 2800 (2700-2900) 3900 6700 1.68 "
				  "0.50 (0.40-0.60) 2.5 310 2.07 9.5 - 5000 41 2.50 3000");
	line_of(table, "epoll+plain+shed", line, sizeof(line));
	assert_string_equal(line, "epoll+plain+shed pass 1000 100 3900 4000 1.00 0.05 2.5 8 - 9.5 "
				  "- 5000 41 - 3000");
	free(table);
}

/* The column of a dimension that varies; repeats and the floor are those of the same setting. */
static void shows_the_dimensions_that_vary(void **state)
{
	char *table = table_of(FIXTURES "dimensions"), line[512], *row = table;

	(void)state;
	line_of(table, "cell ", line, sizeof(line));
	assert_non_null(strstr(line, "cell verdict in flight conns user B"));
	line_of(table, "epoll+boringssl+shed", line, sizeof(line));
	assert_non_null(strstr(line, "shed pass 32 1000 250 (200-300) 3900 4150 1.04 "));
	row = strstr(row, "epoll+boringssl+shed") + 1;
	line_of(row, "epoll+boringssl+shed", line, sizeof(line));
	assert_non_null(strstr(line, "shed fail 64 - -"));
	row = strstr(row, "epoll+boringssl+shed") + 1;
	line_of(row, "epoll+boringssl+shed", line, sizeof(line));
	assert_non_null(strstr(line, "shed pass 1000 1000 3050 (3000-3100) 3900 6950 1.16 "));
	assert_non_null(strstr(table, "epoll+boringssl+shed #1 in_flight 64: fail: it died\n"));
	free(table);
	table = table_of(FIXTURES "run");
	assert_null(strstr(table, "in flight"));
	free(table);
}

/* Ratios pair the repeats: that the machine was slower in the second does not show in them. */
static void shows_what_active_connections_cost(void **state)
{
	char *table = table_of(FIXTURES "active"), *active = strstr(table, "\ncell  "), line[512];

	(void)state;
	assert_non_null(active);
	line_of(active + 1, "cell ", line, sizeof(line));
	assert_string_equal(line, "cell active conns us/req x epoll syscalls/req x epoll req/s");
	line_of(active, "uring+plain+shed", line, sizeof(line));
	assert_string_equal(line, "uring+plain+shed 1 % 10 12.00 (9.00-20.00) 0.95 (0.90-1.00) "
				  "0.300 (0.300-0.400) 0.10 (0.10-0.10) 5400");
	line_of(active, "epoll+plain+shed", line, sizeof(line));
	assert_string_equal(line, "epoll+plain+shed 1 % 10 15.00 (10.00-20.00) 1.00 (1.00-1.00) "
				  "3.000 (3.000-3.000) 1.00 (1.00-1.00) 3750");
	/* Its second repeat failed. */
	line_of(strstr(active, "\npoll+plain+shed") + 1, "poll", line, sizeof(line));
	assert_string_equal(line, "poll+plain+shed 1 % 10 100.00 10.00 1.500 0.50 900");
	free(table);
	table = table_of(FIXTURES "run");
	assert_null(strstr(table, "syscalls/req"));
	free(table);
}

/* What is beyond level keys pairs the repeats; the third has none to compare with. */
static void shows_how_long_wakes_take(void **state)
{
	char *table = table_of(FIXTURES "wakes"), *wakes = strstr(table, "\ncell  "), line[512];

	(void)state;
	assert_non_null(wakes);
	line_of(wakes + 1, "cell ", line, sizeof(line));
	assert_string_equal(line, "cell wakes p50 us + keys p99 us max us");
	line_of(wakes, "c1m+plain+deep", line, sizeof(line));
	assert_string_equal(line, "c1m+plain+deep 50 90.5 (70.0-101.0) 45.8 (41.0-50.5) 181.0 "
				  "(140.0-202.0) 1002");
	line_of(wakes, "c1m+plain+keys", line, sizeof(line));
	assert_string_equal(line, "c1m+plain+keys 50 50.0 (40.0-60.0) 0.0 (0.0-0.0) 100.0 "
				  "(80.0-120.0) 1002");
	line_of(wakes, "c1m+boringssl+deep", line, sizeof(line));
	assert_string_equal(line, "c1m+boringssl+deep 50 99.0 - 198.0 1001");
	assert_null(strstr(wakes, "c1m+openssl+keys  "));
	free(table);
	table = table_of(FIXTURES "run");
	assert_null(strstr(table, "+ keys"));
	free(table);
}

/* What did not pass has no figures, but its reason. */
static void shows_reasons_instead_of_figures(void **state)
{
	char *table = table_of(FIXTURES "run"), line[512];

	(void)state;
	line_of(table, "classic+boringssl+shed", line, sizeof(line));
	assert_string_equal(line, "classic+boringssl+shed fail - - - - - - - - - - - - - - -");
	assert_non_null(strstr(table, "classic+boringssl+shed #1: fail: server died in step ramp: "
				      "signal 9 (Killed)\n"));
	assert_non_null(
		strstr(table, "classic+plain+shed #1: skip: reactor classic: no threads\n"));
	free(table);
}

static void leaves_out_a_line_cut_short(void **state)
{
	char error[512] = "";
	json_t *lines;

	(void)state;
	assert_int_equal(rundir_load(FIXTURES "cut", &lines, error, sizeof(error)), 0);
	assert_int_equal(json_array_size(lines), 1);
	assert_int_equal(rundir_planned(FIXTURES "cut"), 12);
	assert_int_equal(rundir_planned(FIXTURES "run"), 0);
	json_decref(lines);
}

static void names_file_and_line_of_a_broken_run(void **state)
{
	char path[PATH_MAX], error[512] = "";
	json_t *lines;

	(void)state;
	assert_int_equal(rundir_load(FIXTURES "broken", &lines, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, FIXTURES "broken/cells.jsonl:2: "));
	assert_int_equal(rundir_find("no-such-run", path, sizeof(path), error, sizeof(error)),
			 -ENOENT);
	assert_non_null(strstr(error, "no-such-run: no run of that name"));
	assert_int_equal(rundir_find(FIXTURES "run", path, sizeof(path), error, sizeof(error)), 0);
	assert_string_equal(path, FIXTURES "run");
}

static void prints_a_table_of_nothing(void **state)
{
	json_t *lines = json_array();
	size_t size = 0;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(table_print(stream, lines), 0);
	fclose(stream);
	assert_int_equal(strncmp(text, "cell", 4), 0);
	free(text);
	json_decref(lines);
}

/* 4,872 bytes a connection and 10,000 KiB exactly, and a kernel that is not so exact. */
static void shows_how_memory_grows(void **state)
{
	char *table = table_of(FIXTURES "growth"), line[512];
	char *growth = strstr(table, "user B/conn");

	(void)state;
	assert_non_null(growth);
	line_of(growth, "epoll+boringssl+shed", line, sizeof(line));
	assert_string_equal(line, "epoll+boringssl+shed 3 1000 100000 4872.0 0.0 10000 4021.0 1.7 "
				  "-109");
	/* Any line meets two points, and what was not measured has none. */
	line_of(growth, "epoll+plain+shed", line, sizeof(line));
	assert_string_equal(line, "epoll+plain+shed 2 1000 2000 100.0 - 1 - - -");
	assert_null(strstr(growth, "classic"));
	free(table);
}

static void gives_growth_as_json(void **state)
{
	json_t *lines, *growth, *first;
	char error[512];

	(void)state;
	assert_int_equal(rundir_load(FIXTURES "growth", &lines, error, sizeof(error)), 0);
	growth = growth_json(lines);
	assert_int_equal(json_array_size(growth), 2);
	first = json_array_get(growth, 0);
	assert_string_equal(json_string_value(json_object_get(first, "tls")), "boringssl");
	assert_int_equal(json_integer_value(json_object_get(first, "in_flight")), 64);
	first = json_object_get(first, "user");
	assert_true(json_number_value(json_object_get(first, "bytes_per_conn")) == 4872);
	assert_true(json_number_value(json_object_get(first, "fixed_bytes")) == 10240000);
	assert_true(json_is_null(json_object_get(
		json_object_get(json_array_get(growth, 1), "kernel"), "bytes_per_conn")));
	json_decref(growth);
	json_decref(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_medians_ranges_and_ratios),
		cmocka_unit_test(shows_the_dimensions_that_vary),
		cmocka_unit_test(shows_what_active_connections_cost),
		cmocka_unit_test(shows_how_long_wakes_take),
		cmocka_unit_test(shows_how_memory_grows),
		cmocka_unit_test(gives_growth_as_json),
		cmocka_unit_test(shows_reasons_instead_of_figures),
		cmocka_unit_test(leaves_out_a_line_cut_short),
		cmocka_unit_test(names_file_and_line_of_a_broken_run),
		cmocka_unit_test(prints_a_table_of_nothing),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
