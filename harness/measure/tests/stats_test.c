// SPDX-License-Identifier: Apache-2.0
/* harness/measure/tests/ - median, range, nearest-rank percentiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "harness/measure/stats.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void sorted_values(void **state)
{
	double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, one[] = {7};

	(void)state;
	stats_sort(odd, COUNT(odd));
	stats_sort(even, COUNT(even));
	stats_sort(one, COUNT(one));
	assert_true(stats_min(odd, 3) == 1 && stats_median(odd, 3) == 5 && stats_max(odd, 3) == 9);
	assert_true(stats_min(even, 4) == 1 && stats_median(even, 4) == 2.5 &&
		    stats_max(even, 4) == 4);
	assert_true(stats_min(one, 1) == 7 && stats_median(one, 1) == 7 && stats_max(one, 1) == 7);
}

static void nearest_rank(void **state)
{
	/* The textbook example of the nearest-rank method. */
	static const double marks[] = {15, 20, 35, 40, 50};
	static const struct {
		double percent, mark;
	} cases[] = {{-1, 15}, {0, 15},  {5, 15},  {20, 15}, {20.1, 20}, {30, 20},
		     {40, 20}, {50, 35}, {80, 40}, {99, 50}, {100, 50},  {101, 50}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_true(stats_percentile(marks, COUNT(marks), cases[i].percent) ==
			    cases[i].mark);
}

static void every_percent_of_a_hundred_values(void **state)
{
	double values[100];

	(void)state;
	for (int i = 0; i < 100; i++)
		values[i] = i + 1;
	for (int percent = 1; percent <= 100; percent++)
		assert_true(stats_percentile(values, 100, percent) == percent);
}

static void no_values(void **state)
{
	(void)state;
	stats_sort(NULL, 0);
	assert_true(isnan(stats_min(NULL, 0)) && isnan(stats_max(NULL, 0)));
	assert_true(isnan(stats_median(NULL, 0)) && isnan(stats_percentile(NULL, 0, 50)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted_values),
		cmocka_unit_test(nearest_rank),
		cmocka_unit_test(every_percent_of_a_hundred_values),
		cmocka_unit_test(no_values),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
