// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - the line through points: exact ones, noisy ones, and too few. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "harness/measure/fit.h"

static void assert_close(double value, double expected, double within)
{
	if (!(fabs(value - expected) <= within))
		fail_msg("%.12g is not %.12g", value, expected);
}

/* The seed's C10K, C100K and C1M: 4,872 bytes a connection and 10.3 MB. */
static void exact_points_give_their_line(void **state)
{
	struct fit_point points[4];
	struct fit fit;

	(void)state;
	for (int i = 0; i < 4; i++) {
		points[i].x = 1000 * pow(10, i);
		points[i].y = 4872 * points[i].x + 10.3e6;
	}
	fit = fit_line(points, 4);
	assert_int_equal(fit.count, 4);
	assert_close(fit.slope, 4872, 1e-6);
	assert_close(fit.intercept, 10.3e6, 1e-1);
	assert_close(fit.slope_error, 0, 1e-6);
}

/* By hand: the means are 2.5 and 5, xx is 5, xy 9; the line misses by 0.7, -1.1, 0.1, 0.3. */
static void noisy_points_tell_how_sure_the_slope_is(void **state)
{
	const struct fit_point points[] = {{1, 3}, {2, 3}, {3, 6}, {4, 8}};
	struct fit fit = fit_line(points, 4);

	(void)state;
	assert_close(fit.slope, 1.8, 1e-12);
	assert_close(fit.intercept, 0.5, 1e-12);
	assert_close(fit.slope_error, sqrt(1.8 / 2 / 5), 1e-12);
}

static void what_was_not_measured_is_left_out(void **state)
{
	const struct fit_point points[] = {{1, 12}, {2, NAN}, {3, 16}};
	struct fit fit = fit_line(points, 3);

	(void)state;
	assert_int_equal(fit.count, 2);
	assert_close(fit.slope, 2, 1e-12);
	assert_close(fit.intercept, 10, 1e-12);
	assert_true(isnan(fit.slope_error));
}

static void one_place_is_no_line(void **state)
{
	const struct fit_point repeats[] = {{5, 1}, {5, 2}, {5, 3}};

	(void)state;
	assert_true(isnan(fit_line(repeats, 3).slope));
	assert_true(isnan(fit_line(repeats, 1).intercept));
	assert_true(isnan(fit_line(NULL, 0).slope));
	assert_int_equal(fit_line(NULL, 0).count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_points_give_their_line),
		cmocka_unit_test(noisy_points_tell_how_sure_the_slope_is),
		cmocka_unit_test(what_was_not_measured_is_left_out),
		cmocka_unit_test(one_place_is_no_line),
	};

	return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
