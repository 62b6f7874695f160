// SPDX-License-Identifier: Apache-2.0
/* harness/load/tests/ - times: percentiles by nearest rank, and the file of all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/load/times.h"

static void tells_percentiles_by_nearest_rank(void **state)
{
	struct load_latency latency;
	struct times times;

	(void)state;
	assert_int_equal(times_init(&times, 200, 1), 0);
	for (uint64_t us = 200; us; us--)
		times_add(&times, us * 1000 + 999);
	times_sort(&times);
	latency = times_latency(&times);
	assert_true(latency.p50 == 100);
	assert_true(latency.p99 == 198);
	assert_true(latency.max == 200);
	times_free(&times);
}

static void adds_up_workers(void **state)
{
	struct times all, one, none;

	(void)state;
	assert_int_equal(times_init(&all, 3, 10), 0);
	assert_int_equal(times_init(&one, 3, 10), 0);
	assert_int_equal(times_init(&none, 0, 10), 0);
	times_add(&one, 70300);
	times_add(&one, 40250);
	times_append(&all, &one);
	times_append(&all, &none);
	times_add(&all, 50000);
	times_sort(&all);
	assert_int_equal(all.count, 3);
	assert_true(times_latency(&all).p50 == 50);
	assert_true(times_latency(&all).max == 70.3);
	times_free(&all);
	times_free(&one);
	times_free(&none);
}

static void says_0_of_no_times(void **state)
{
	struct times times = {0};

	(void)state;
	assert_true(times_latency(&times).p50 == 0);
	assert_true(times_latency(&times).max == 0);
	times_free(&times);
}

static void assert_written(unsigned per_us, const char *expected)
{
	char path[] = "/tmp/parkbench-times-XXXXXX", text[256] = "";
	int fd = mkstemp(path);
	struct times times;

	assert_true(fd >= 0);
	assert_int_equal(times_init(&times, 3, per_us), 0);
	times_add(&times, 12345);
	times_add(&times, 0);
	/* More than the ticks can hold. */
	times_add(&times, 5000ull * 1000000000);
	assert_int_equal(times_write(&times, path), 0);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, expected);
	assert_int_equal(times_write(&times, "/no/such/directory"), -ENOENT);
	times_free(&times);
	close(fd);
	unlink(path);
}

static void writes_microseconds(void **state)
{
	(void)state;
	assert_written(1, "12\n0\n4294967295\n");
	assert_written(10, "12.3\n0.0\n429496729.5\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_percentiles_by_nearest_rank),
		cmocka_unit_test(adds_up_workers),
		cmocka_unit_test(says_0_of_no_times),
		cmocka_unit_test(writes_microseconds),
	};

	return cmocka_run_group_tests_name("times", tests, NULL, NULL);
}
