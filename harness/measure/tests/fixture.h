/* SPDX-License-Identifier: Apache-2.0 */
/* harness/measure/tests/ - a private copy of a fixture tree, for code that writes into it. */
#ifndef HARNESS_MEASURE_TESTS_FIXTURE_H
#define HARNESS_MEASURE_TESTS_FIXTURE_H

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "harness/measure/command.h"
#include "harness/measure/text_file.h"

#define FIXTURES "harness/measure/tests/fixtures/"

/* Copies FIXTURES/name to a new directory, whose path is left in dir. */
static inline void fixture_copy(const char *name, char dir[PATH_MAX])
{
	char source[PATH_MAX], output[256];
	const char *tmp = getenv("TMPDIR");

	assert_int_equal(text_format(dir, PATH_MAX, "%s/parkbench-test-XXXXXX", tmp ? tmp : "/tmp"),
			 0);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(text_format(source, sizeof(source), FIXTURES "%s/.", name), 0);
	char *const argv[] = {"cp", "-R", source, dir, NULL};
	assert_int_equal(command_capture(argv, true, output, sizeof(output)), 0);
}

static inline void fixture_remove(char *dir)
{
	char *const argv[] = {"rm", "-rf", dir, NULL};
	char output[256];

	assert_int_equal(command_capture(argv, true, output, sizeof(output)), 0);
}

#endif
