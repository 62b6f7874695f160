// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - what a pilot foretells, and when the cell is refused for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "harness/bench/forecast.h"

#define GIB 1073741824.0

static const struct experiment experiment = {.workers = 2, .clients = 1};

/* 2,000 connections: 130 + 4,000 bytes each on the server, 1,300 + 4,000 on the client. */
static struct result good_pilot(void)
{
	const struct matrix_cell cell = {
		.dimension = {[DIM_CONNECTIONS] = FORECAST_PILOT, [DIM_IN_FLIGHT] = 64}};
	struct result result;

	result_init(&result, &cell, &experiment);
	result.established = 2000;
	result.user_baseline_bytes = 8e6;
	result.client_user_baseline_bytes = 2e6;
	result.phases[PHASE_IDLE] = (struct result_memory){260e3, 300e3, 8e6};
	result.client_phases[PHASE_IDLE] = (struct result_memory){2.6e6, 3e6, 8e6};
	result.ramp_peak_bytes = 25e6;
	result.round_peak_bytes = 18.86e6 + 2000 * 3000;
	return result;
}

static void foretells_in_proportion(void **state)
{
	struct result pilot = good_pilot();
	struct forecast forecast;

	(void)state;
	forecast_make(&forecast, &pilot, 1000000, UINT_MAX);
	assert_true(fabs(forecast.server.user - 130) < 1e-6);
	assert_true(fabs(forecast.server.kernel - 4000) < 1e-6);
	assert_true(fabs(forecast.client.user - 1300) < 1e-6);
	assert_true(fabs(forecast.client.kernel - 4000) < 1e-6);
	assert_true(fabs(forecast.busy - 3000) < 1e-6);
	assert_true(fabs(forecast.bytes - (10e6 + 1e6 * (9430 + 3000))) < 1);
	/* A round that takes them in turns. */
	forecast_make(&forecast, &pilot, 1000000, 10000);
	assert_true(fabs(forecast.bytes - (10e6 + 1e6 * 9430 + 10000 * 3000)) < 1);
}

/* They are bound by in_flight, so they do not grow with the connections. */
static void handshakes_count_once(void **state)
{
	struct result pilot = good_pilot();
	struct forecast forecast;

	(void)state;
	pilot.round_peak_bytes = 0;
	forecast_make(&forecast, &pilot, 1000000, UINT_MAX);
	assert_true(forecast.busy == 0);
	assert_true(fabs(forecast.bytes - (10e6 + 1e6 * 9430 + 25e6)) < 1);
	/* The pilot could not have as many at a time. */
	pilot.cell.dimension[DIM_IN_FLIGHT] = 8000;
	forecast_make(&forecast, &pilot, 1000000, UINT_MAX);
	assert_true(fabs(forecast.bytes - (10e6 + 1e6 * 9430 + 100e6)) < 1);
}

static void without_a_meter_the_kernel_is_guessed(void **state)
{
	struct result pilot = good_pilot();
	struct forecast forecast;

	(void)state;
	pilot.phases[PHASE_IDLE].kernel_bytes = NAN;
	pilot.client_phases[PHASE_IDLE].kernel_bytes = NAN;
	pilot.round_peak_bytes = NAN;
	forecast_make(&forecast, &pilot, 1000000, UINT_MAX);
	assert_true(forecast.server.kernel >= 4096);
	assert_true(forecast.client.kernel >= 4096);
	assert_true(isfinite(forecast.bytes));
}

static void what_does_not_fit_is_refused_with_its_parts(void **state)
{
	struct result pilot = good_pilot();
	struct forecast forecast;
	char reason[512] = "";

	(void)state;
	forecast_make(&forecast, &pilot, 1000000, UINT_MAX);
	assert_int_equal(forecast_refuse(&forecast, 14 * GIB, 0.5 * GIB, reason, sizeof(reason)),
			 0);
	assert_int_equal(forecast_refuse(&forecast, NAN, 0, reason, sizeof(reason)), 0);
	assert_int_equal(forecast_refuse(&forecast, 13 * GIB, 0.5 * GIB, reason, sizeof(reason)),
			 -ENOMEM);
	assert_string_equal(reason,
			    "needs 13.2 GiB (server user 130 B, kernel 4000 B; client user 1300 B, "
			    "kernel 4000 B a connection, 3000 B more in a round; 0.5 GiB stay "
			    "free), has 13.0 GiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foretells_in_proportion),
		cmocka_unit_test(handshakes_count_once),
		cmocka_unit_test(without_a_meter_the_kernel_is_guessed),
		cmocka_unit_test(what_does_not_fit_is_refused_with_its_parts),
	};

	return cmocka_run_group_tests_name("forecast", tests, NULL, NULL);
}
