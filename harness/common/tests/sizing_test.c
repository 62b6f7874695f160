// SPDX-License-Identifier: Apache-2.0
/* harness/common/ - sizing: what is chosen fits, and what does not fit is refused with advice. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/common/limits.h"
#include "harness/common/sizing.h"

#define FILES 20000

static char reason[512];

static int choose(struct sizing_wish wish, struct sizing *sizing)
{
	*reason = '\0';
	if (!wish.files)
		wish.files = FILES;
	if (!wish.cpus)
		wish.cpus = 2;
	return sizing_choose(&wish, sizing, reason, sizeof(reason));
}

static void one_table_is_kept_while_it_is_enough(void **state)
{
	struct sizing s;

	(void)state;
	assert_int_equal(choose((struct sizing_wish){.connections = 15000, .spread = true}, &s), 0);
	assert_int_equal(s.model, WORKER_THREADS);
	assert_int_equal(s.workers, 2);
	assert_int_equal(s.connections_max, 15000);
	assert_int_equal(choose((struct sizing_wish){.connections = 15001}, &s), 0);
	assert_int_equal(s.model, WORKER_THREADS);
	assert_int_equal(s.connections_max, 7501);
}

static void a_million_over_twenty_thousand_takes_sixty_four(void **state)
{
	const struct sizing_wish wish = {.connections = 1000000, .spread = true};
	struct sizing s;

	(void)state;
	assert_int_equal(choose(wish, &s), 0);
	assert_int_equal(s.model, WORKER_TABLES);
	assert_int_equal(s.workers, 64);
	assert_int_equal(s.connections, 1000000);
	assert_in_range(s.connections_max, 16370, FILES - LIMITS_SPARE_FILES);
}

static void without_sockets_no_table_is_too_small(void **state)
{
	struct sizing_wish wish = {.connections = 4000000, .socketless = true, .spread = true};
	struct sizing s;

	(void)state;
	assert_int_equal(choose(wish, &s), 0);
	assert_int_equal(s.model, WORKER_THREADS);
	assert_int_equal(s.workers, 2);
	assert_int_equal(s.connections_max, 4000000);
	/* As many as fit is still what the files allow: all may be awake. */
	wish.connections = 0;
	assert_int_equal(choose(wish, &s), 0);
	assert_true(s.connections < FILES);
}

static void exact_shares_take_fewer(void **state)
{
	const struct sizing_wish wish = {.connections = 1000000};
	struct sizing s;

	(void)state;
	assert_int_equal(choose(wish, &s), 0);
	assert_int_equal(s.model, WORKER_TABLES);
	assert_int_equal(s.workers, 51);
}

static void too_few_workers_are_refused_with_what_would_do(void **state)
{
	struct sizing_wish wish = {.connections = 1000000, .workers = 52, .spread = true};
	struct sizing s;

	(void)state;
	assert_int_equal(choose(wish, &s), -EMFILE);
	assert_non_null(strstr(reason, "64 workers with their own tables"));
	assert_non_null(strstr(reason, "the 52 asked for hold at most"));
	wish.workers = 64;
	assert_int_equal(choose(wish, &s), 0);
	assert_int_equal(s.workers, 64);
	wish.workers = 100;
	assert_int_equal(choose(wish, &s), 0);
	assert_int_equal(s.workers, 100);
}

static void one_table_for_too_many_is_refused_with_what_would_do(void **state)
{
	const struct sizing_wish wish = {
		.connections = 100000, .model = WORKER_THREADS, .spread = true};
	struct sizing s;

	(void)state;
	assert_int_equal(choose(wish, &s), -EMFILE);
	assert_non_null(strstr(reason, "need 100080 open files"));
	assert_non_null(strstr(reason, "--nofile=100080"));
	assert_non_null(strstr(reason, "give 7 workers their own tables"));
}

static void a_model_asked_for_is_given(void **state)
{
	struct sizing s;

	(void)state;
	for (int model = WORKER_TABLES; model < WORKER_MODELS; model++) {
		const struct sizing_wish wish = {
			.connections = 1000, .model = (enum worker_model)model, .spread = true};

		assert_int_equal(choose(wish, &s), 0);
		assert_int_equal(s.model, model);
		assert_int_equal(s.workers, 2);
		assert_int_equal(s.connections_max, 1000);
	}
}

/* What fits is all that the limit allows, and asking for exactly that works. */
static void without_a_number_all_that_fits_is_chosen(void **state)
{
	struct sizing_wish wish = {.spread = true};
	struct sizing s;

	(void)state;
	assert_int_equal(choose(wish, &s), 0);
	assert_int_equal(s.model, WORKER_THREADS);
	assert_int_equal(s.connections, FILES - LIMITS_SPARE_FILES - 2 * SIZING_FILES_PER_WORKER);
	for (wish.workers = 1; wish.workers <= 256; wish.workers *= 2) {
		struct sizing_wish exactly = wish;

		exactly.model = wish.model = WORKER_TABLES;
		assert_int_equal(choose(wish, &s), 0);
		exactly.connections = s.connections;
		assert_int_equal(choose(exactly, &s), 0);
		exactly.connections += 2 * wish.workers;
		assert_int_equal(choose(exactly, &s), -EMFILE);
	}
}

/* Whatever is chosen: the mean share, six standard deviations and the worker's own files are
 * no more than a table holds, and no more than its slots. */
static void every_share_fits_its_table(void **state)
{
	struct sizing s;

	(void)state;
	for (uint64_t connections = 1000; connections < 5000000; connections += 99991) {
		const struct sizing_wish wish = {
			.connections = connections, .model = WORKER_TABLES, .spread = true};
		double mean, most;

		assert_int_equal(choose(wish, &s), 0);
		mean = (double)connections / s.workers;
		most = mean + 6 * sqrt(mean * (1 - 1.0 / s.workers));
		assert_true(most + SIZING_FILES_PER_WORKER + LIMITS_SPARE_FILES <= FILES);
		assert_true(s.connections_max >= connections || most <= s.connections_max);
	}
}

static void what_can_not_be_is_invalid(void **state)
{
	struct sizing s;

	(void)state;
	assert_int_equal(choose((struct sizing_wish){.connections = 10, .files = 64}, &s), -EINVAL);
	assert_non_null(strstr(reason, "leaves no room"));
	assert_int_equal(choose((struct sizing_wish){.connections = 4000000000, .files = 1024}, &s),
			 -EINVAL);
	assert_non_null(strstr(reason, "fewer connections"));
	assert_int_equal(choose((struct sizing_wish){.workers = 2000}, &s), -EINVAL);
	assert_non_null(strstr(reason, "1 to 1024"));
	assert_int_equal(choose((struct sizing_wish){.connections = 1ull << 33}, &s), -EINVAL);
}

static void no_limit_is_one_table(void **state)
{
	const struct sizing_wish wish = {
		.connections = 2000000, .files = UINT64_MAX, .spread = true};
	struct sizing s;

	(void)state;
	assert_int_equal(choose(wish, &s), 0);
	assert_int_equal(s.model, WORKER_THREADS);
	assert_int_equal(s.workers, 2);
}

static void models_have_names(void **state)
{
	(void)state;
	for (int model = 0; model < WORKER_MODELS; model++)
		assert_int_equal(worker_model_find(worker_model_name((enum worker_model)model)),
				 model);
	assert_int_equal(worker_model_find("fork"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_table_is_kept_while_it_is_enough),
		cmocka_unit_test(a_million_over_twenty_thousand_takes_sixty_four),
		cmocka_unit_test(exact_shares_take_fewer),
		cmocka_unit_test(too_few_workers_are_refused_with_what_would_do),
		cmocka_unit_test(one_table_for_too_many_is_refused_with_what_would_do),
		cmocka_unit_test(a_model_asked_for_is_given),
		cmocka_unit_test(without_a_number_all_that_fits_is_chosen),
		cmocka_unit_test(every_share_fits_its_table),
		cmocka_unit_test(what_can_not_be_is_invalid),
		cmocka_unit_test(no_limit_is_one_table),
		cmocka_unit_test(without_sockets_no_table_is_too_small),
		cmocka_unit_test(models_have_names),
	};

	return cmocka_run_group_tests_name("sizing", tests, NULL, NULL);
}
