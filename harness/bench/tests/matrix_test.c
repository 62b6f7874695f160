// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - the cells of an experiment and their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/bench/matrix.h"

static const struct experiment exp12 = {
	.reactors = {{"classic", "epoll"}, 2},
	.tls = {{"boringssl", "openssl", "plain"}, 3},
	.park = {{"hold", "shed"}, 2},
	.dimension = {[DIM_CONNECTIONS] = {{100}, 1},
		      [DIM_IN_FLIGHT] = {{64}, 1},
		      [DIM_HISTORY_BYTES] = {{0}, 1},
		      [DIM_HANDSHAKES_MAX] = {{0}, 1},
		      [DIM_TRIM] = {{true}, 1}},
	.repeat = 3,
};
#define CELLS 12

static size_t count_of(const struct matrix *matrix, const char *name, unsigned repeat)
{
	size_t count = 0;

	for (size_t i = 0; i < matrix->count; i++)
		count += !strcmp(matrix->cells[i].name, name) && matrix->cells[i].repeat == repeat;
	return count;
}

static void has_every_combination_once_a_pass(void **state)
{
	struct matrix matrix;

	(void)state;
	assert_int_equal(matrix_build(&matrix, &exp12, NULL, 1), 0);
	assert_int_equal(matrix.count, 3 * CELLS);
	for (size_t i = 0; i < matrix.count; i++) {
		const struct matrix_cell *cell = &matrix.cells[i];

		assert_int_equal(cell->order, i + 1);
		assert_int_equal(cell->repeat, i / CELLS + 1);
		assert_int_equal(count_of(&matrix, cell->name, cell->repeat), 1);
		assert_non_null(strstr(cell->name, cell->reactor));
		assert_non_null(strstr(cell->name, cell->tls));
		assert_non_null(strstr(cell->name, cell->park));
	}
	assert_int_equal(count_of(&matrix, "epoll+boringssl+shed", 2), 1);
	matrix_free(&matrix);
}

static void order_follows_the_seed(void **state)
{
	/* Written down once: a stored seed must give this order for ever. */
	static const char *const first_of_seed_42[] = {
		"epoll+openssl+shed",
		"epoll+boringssl+hold",
		"epoll+boringssl+shed",
	};
	struct matrix a, b, c;
	size_t differ = 0;

	(void)state;
	assert_int_equal(matrix_build(&a, &exp12, NULL, 42), 0);
	assert_int_equal(matrix_build(&b, &exp12, NULL, 42), 0);
	assert_int_equal(matrix_build(&c, &exp12, NULL, 43), 0);
	assert_int_equal(a.seed, 42);
	for (size_t i = 0; i < a.count; i++) {
		assert_string_equal(a.cells[i].name, b.cells[i].name);
		differ += strcmp(a.cells[i].name, c.cells[i].name) != 0;
	}
	assert_true(differ > 0);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(a.cells[i].name, first_of_seed_42[i]);
	matrix_free(&a);
	matrix_free(&b);
	matrix_free(&c);
}

static void every_pass_has_its_own_order(void **state)
{
	struct matrix matrix;
	size_t differ = 0;

	(void)state;
	assert_int_equal(matrix_build(&matrix, &exp12, NULL, 42), 0);
	for (size_t i = 0; i < CELLS; i++)
		differ += strcmp(matrix.cells[i].name, matrix.cells[i + CELLS].name) != 0;
	assert_true(differ > 0);
	matrix_free(&matrix);
}

static void only_selects_by_pattern(void **state)
{
	struct matrix matrix;

	(void)state;
	assert_int_equal(matrix_build(&matrix, &exp12, "epoll+*+shed", 1), 0);
	assert_int_equal(matrix.count, 3 * 3);
	for (size_t i = 0; i < matrix.count; i++) {
		assert_string_equal(matrix.cells[i].reactor, "epoll");
		assert_string_equal(matrix.cells[i].park, "shed");
	}
	matrix_free(&matrix);
	assert_int_equal(matrix_build(&matrix, &exp12, "epoll+plain+hold", 1), 0);
	assert_int_equal(matrix.count, 3);
	matrix_free(&matrix);
	assert_int_equal(matrix_build(&matrix, &exp12, "epoll+@(plain|nothing)+@(hold|shed)", 1),
			 0);
	assert_int_equal(matrix.count, 3 * 2);
	matrix_free(&matrix);
	/* The whole name is meant, and nothing is an error of its own. */
	assert_int_equal(matrix_build(&matrix, &exp12, "epoll", 1), -ENOENT);
	assert_int_equal(matrix_build(&matrix, &exp12, "", 1), -ENOENT);
}

/* Every combination once a pass, also of the numbers; the names stay. */
static void dimensions_multiply(void **state)
{
	struct experiment exp = exp12;
	unsigned seen[3][2] = {{0}};
	struct matrix matrix;

	(void)state;
	exp.repeat = 2;
	exp.dimension[DIM_CONNECTIONS] = (struct choices){{100, 200, 300}, 3};
	exp.dimension[DIM_IN_FLIGHT] = (struct choices){{32, 64}, 2};
	assert_int_equal(matrix_build(&matrix, &exp, NULL, 1), 0);
	assert_int_equal(matrix.count, 2 * 6 * CELLS);
	for (size_t i = 0; i < matrix.count; i++) {
		const struct matrix_cell *cell = &matrix.cells[i];
		char setting[SETTING_SIZE];

		snprintf(setting, sizeof(setting), "connections %u, in_flight %u",
			 cell->dimension[DIM_CONNECTIONS], cell->dimension[DIM_IN_FLIGHT]);
		assert_string_equal(cell->setting, setting);
		assert_int_equal(cell->repeat, i / (6 * CELLS) + 1);
		if (!strcmp(cell->name, "epoll+plain+shed") && cell->repeat == 2)
			seen[cell->dimension[DIM_CONNECTIONS] / 100 - 1]
			    [cell->dimension[DIM_IN_FLIGHT] / 32 - 1]++;
	}
	for (int i = 0; i < 6; i++)
		assert_int_equal(seen[i / 2][i % 2], 1);
	matrix_free(&matrix);
	/* A pattern selects by the name, so all of that name. */
	assert_int_equal(matrix_build(&matrix, &exp, "epoll+plain+hold", 1), 0);
	assert_int_equal(matrix.count, 2 * 6);
	matrix_free(&matrix);
}

/* What there is one value of need not be told with every cell. */
static void a_single_value_is_no_setting(void **state)
{
	struct matrix matrix;

	(void)state;
	assert_int_equal(matrix_build(&matrix, &exp12, NULL, 1), 0);
	for (size_t i = 0; i < matrix.count; i++) {
		assert_string_equal(matrix.cells[i].setting, "");
		assert_int_equal(matrix.cells[i].dimension[DIM_CONNECTIONS], 100);
	}
	matrix_free(&matrix);
}

static void a_switch_is_yes_or_no(void **state)
{
	struct experiment exp = exp12;
	struct matrix matrix;
	size_t trimmed = 0;

	(void)state;
	exp.dimension[DIM_TRIM] = (struct choices){{true, false}, 2};
	assert_int_equal(matrix_build(&matrix, &exp, "epoll+plain+shed", 1), 0);
	assert_int_equal(matrix.count, 3 * 2);
	for (size_t i = 0; i < matrix.count; i++) {
		bool trim = matrix.cells[i].dimension[DIM_TRIM];

		assert_string_equal(matrix.cells[i].setting, trim ? "trim yes" : "trim no");
		trimmed += trim;
	}
	assert_int_equal(trimmed, 3);
	matrix_free(&matrix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_every_combination_once_a_pass),
		cmocka_unit_test(order_follows_the_seed),
		cmocka_unit_test(every_pass_has_its_own_order),
		cmocka_unit_test(only_selects_by_pattern),
		cmocka_unit_test(dimensions_multiply),
		cmocka_unit_test(a_switch_is_yes_or_no),
		cmocka_unit_test(a_single_value_is_no_setting),
	};

	return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
