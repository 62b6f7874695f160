// SPDX-License-Identifier: Apache-2.0
/* harness/measure/tests/ - output and exit status of short commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "harness/measure/command.h"

static void keeps_output_and_status(void **state)
{
	char *const script[] = {"sh", "-c", "echo out; echo err >&2; exit 3", NULL};
	char out[64];

	(void)state;
	assert_int_equal(command_capture(script, false, out, sizeof(out)), 3);
	assert_string_equal(out, "out\n");
	assert_int_equal(command_capture(script, true, out, sizeof(out)), 3);
	assert_string_equal(out, "out\nerr\n");
}

static void drops_what_does_not_fit(void **state)
{
	/* More than a pipe holds: the command must not hang or die of SIGPIPE. */
	char *const script[] = {"sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x", NULL};
	char out[11];

	(void)state;
	assert_int_equal(command_capture(script, false, out, sizeof(out)), 0);
	assert_string_equal(out, "xxxxxxxxxx");
}

static void reports_signals_and_missing_commands(void **state)
{
	char *const killed[] = {"sh", "-c", "kill -TERM $$", NULL};
	char *const missing[] = {"parkbench-no-such-command", NULL};
	char out[16];

	(void)state;
	assert_int_equal(command_capture(killed, false, out, sizeof(out)), 128 + 15);
	assert_int_equal(command_capture(missing, false, out, sizeof(out)), -ENOENT);
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_output_and_status),
		cmocka_unit_test(drops_what_does_not_fit),
		cmocka_unit_test(reports_signals_and_missing_commands),
	};

	return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
