// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - experiment files: what is read, and what each mistake is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "harness/bench/experiment.h"

#define FIXTURES "harness/bench/tests/fixtures/"
#define BAD FIXTURES "bad/"

static const struct known_names known = {
	.reactors = {{"classic", "epoll", "io_uring_poll"}, 3},
	.tls = {{"boringssl", "openssl", "plain"}, 3},
	.park = {{"hold", "shed", "keys", "deep"}, 4},
};

static void reads_every_setting(void **state)
{
	struct experiment exp;
	char error[512];

	(void)state;
	assert_int_equal(experiment_load(&exp, FIXTURES "good.cfg", &known, error, sizeof(error)),
			 0);
	assert_string_equal(exp.name, "good");
	assert_non_null(strstr(exp.text, "# Every setting there is."));
	assert_int_equal(exp.reactors.count, 1);
	assert_string_equal(exp.reactors.name[0], "epoll");
	assert_int_equal(exp.tls.count, 2);
	assert_string_equal(exp.tls.name[1], "boringssl");
	assert_int_equal(exp.park.count, 4);
	assert_int_equal(exp.dimension[DIM_CONNECTIONS].count, 1);
	assert_int_equal(exp.dimension[DIM_CONNECTIONS].value[0], 500);
	assert_int_equal(exp.repeat, 3);
	assert_int_equal(exp.workers, 4);
	assert_string_equal(exp.client_tls, "openssl");
	assert_string_equal(exp.client_park, "hold");
	assert_int_equal(exp.worker_model, WORKER_PROCESSES);
	assert_int_equal(exp.client_workers, 0);
	assert_int_equal(exp.clients, 3);
	assert_true(exp.memory_floor_bytes == 1e9);
	assert_int_equal(exp.dimension[DIM_IN_FLIGHT].count, 3);
	assert_int_equal(exp.dimension[DIM_IN_FLIGHT].value[0], 8);
	assert_int_equal(exp.dimension[DIM_IN_FLIGHT].value[2], 1000);
	assert_int_equal(exp.dimension[DIM_HISTORY_BYTES].count, 2);
	assert_int_equal(exp.dimension[DIM_HISTORY_BYTES].value[1], 65536);
	assert_int_equal(exp.dimension[DIM_HANDSHAKES_MAX].count, 2);
	assert_int_equal(exp.dimension[DIM_HANDSHAKES_MAX].value[0], 0);
	assert_int_equal(exp.dimension[DIM_HANDSHAKES_MAX].value[1], 64);
	assert_int_equal(exp.dimension[DIM_TRIM].count, 2);
	assert_true(exp.dimension[DIM_TRIM].value[0]);
	assert_false(exp.dimension[DIM_TRIM].value[1]);
	assert_true(exp.waves);
	assert_true(exp.settle_s == 2);
	assert_true(exp.hold_s == 0.25);
	assert_int_equal(exp.key_updates, 3);
	assert_int_equal(exp.wakes, 250);
	assert_int_equal(exp.active.count, 2);
	assert_true(exp.active.value[0] == 0.001);
	assert_true(exp.active.value[1] == 1);
	assert_true(exp.active_s == 1.5);
	assert_int_equal(exp.crypto_floor_handshakes, 50);
	assert_int_equal(exp.seed, 7);
	assert_true(exp.gates.user_bytes_per_conn_max == 8192);
	assert_true(exp.gates.ramp_s_max == 1.5);
	experiment_free(&exp);
}

static void fills_in_the_rest(void **state)
{
	struct experiment exp;
	char error[512];

	(void)state;
	assert_int_equal(
		experiment_load(&exp, FIXTURES "minimal.cfg", &known, error, sizeof(error)), 0);
	assert_int_equal(exp.reactors.count, 3);
	assert_int_equal(exp.tls.count, 3);
	assert_int_equal(exp.repeat, 1);
	assert_int_equal(exp.worker_model, WORKER_AUTO);
	assert_int_equal(exp.clients, 1);
	assert_true(exp.memory_floor_bytes == 512 * 1048576);
	assert_int_equal(exp.seed, 0);
	assert_int_equal(exp.active.count, 0);
	assert_int_equal(exp.key_updates, 0);
	assert_int_equal(exp.wakes, 0);
	assert_false(exp.waves);
	assert_int_equal(exp.dimension[DIM_IN_FLIGHT].count, 1);
	assert_int_equal(exp.dimension[DIM_IN_FLIGHT].value[0], 64);
	assert_int_equal(exp.dimension[DIM_HISTORY_BYTES].count, 1);
	assert_int_equal(exp.dimension[DIM_HISTORY_BYTES].value[0], 0);
	assert_int_equal(exp.dimension[DIM_HANDSHAKES_MAX].value[0], 256);
	assert_int_equal(exp.dimension[DIM_TRIM].count, 1);
	assert_true(exp.dimension[DIM_TRIM].value[0]);
	assert_true(exp.gates.ramp_s_max == 0);
	assert_string_equal(experiment_client_tls(&exp, "plain"), "plain");
	assert_string_equal(experiment_client_tls(&exp, "openssl"), "boringssl");
	experiment_free(&exp);
}

/* Each message begins with the file and the line. */
static const struct {
	const char *file;
	const char *says;
} mistakes[] = {
	{"syntax.cfg", ":4: syntax error"},
	{"unclosed.cfg", ":6: syntax error"},
	{"duplicate.cfg", ":5: duplicate setting name"},
	{"unknown_setting.cfg", ":5: unknown setting \"conections\"; known here: reactors, tls,"},
	{"unknown_gate.cfg", ":6: unknown setting \"ramp_max\"; known here: "
			     "user_bytes_per_conn_max, ramp_s_max"},
	{"unknown_reactor.cfg",
	 ":1: reactors: unknown name \"kqueue\"; known here: classic, epoll"},
	{"unknown_tls.cfg",
	 ":2: tls: unknown name \"gnutls\"; known here: boringssl, openssl, plain"},
	{"unknown_park.cfg", ":1: park: unknown name \"dark\"; known here: hold, shed, keys"},
	{"unknown_client.cfg", ":5: client_tls: unknown name \"schannel\"; known here: boringssl,"},
	{"twice.cfg", ":1: tls: \"plain\" is listed twice"},
	{"empty.cfg", ":1: tls: must be \"all\" or an array of names"},
	{"names_type.cfg", ":1: tls: must be \"all\" or an array of names"},
	{"element_type.cfg", ":1: tls: element 1 is not a string"},
	{"all_typo.cfg", ":1: tls: must be \"all\" or an array of names"},
	{"count_type.cfg", ":4: connections: must be a whole number"},
	{"count_real.cfg", ":4: connections: must be a whole number"},
	{"count_zero.cfg", ":4: connections: must be from 1 to 16000000, not 0"},
	{"count_negative.cfg", ":4: connections: must be from 1 to 16000000, not -5"},
	{"count_huge.cfg", ":4: connections: must be from 1 to 16000000, not 99999999999"},
	{"list_empty.cfg", ":4: connections: must be one value or an array of 1 to 16, as in [ 1,"},
	{"list_group.cfg", ":4: connections: must be one value or an array"},
	{"list_long.cfg", ":5: in_flight: must be one value or an array of 1 to 16"},
	{"list_type.cfg", ":4: connections: must be a whole number"},
	{"list_range.cfg", ":5: in_flight: must be from 1 to 65536, not 0"},
	{"list_twice.cfg", ":4: connections: 100 is listed twice"},
	{"history_large.cfg", ":5: history_bytes: must be from 0 to 1048576, not 1048577"},
	{"updates_list.cfg", ":5: key_updates: must be a whole number"},
	{"wakes_large.cfg", ":5: wakes: must be from 0 to 100000, not 100001"},
	{"switch_type.cfg", ":5: trim: must be true, false or [ true, false ]"},
	{"switch_element.cfg", ":5: trim: must be true, false or [ true, false ]"},
	{"switch_twice.cfg", ":5: trim: 1 is listed twice"},
	{"switch_empty.cfg", ":5: trim: must be one value or an array of 1 to 16"},
	{"waves_list.cfg", ":5: waves: must be true or false"},
	{"real_type.cfg", ":5: settle_s: must be a number"},
	{"real_range.cfg", ":5: hold_s: must be from 0 to 86400, not -0.5"},
	{"fraction_zero.cfg", ":5: active: element 1 must be a number with a point, more than 0"},
	{"fraction_large.cfg", ":5: active: element 2 must be a number with a point, more than 0 "
			       "and at most 1.0"},
	{"fraction_whole.cfg", ":5: active: element 1 must be a number with a point"},
	{"fraction_twice.cfg", ":5: active: 0.5 is listed twice"},
	{"fraction_type.cfg", ":5: active: must be an array of 1 to 8 fractions"},
	{"fraction_many.cfg", ":5: active: must be an array of 1 to 8 fractions"},
	{"client_type.cfg", ":5: client_park: must be a string"},
	{"workers_text.cfg", ":5: workers: must be a whole number or \"auto\""},
	{"worker_model.cfg", ":5: worker_model: must be \"auto\", \"threads\", \"tables\" or"},
	{"gates_type.cfg", ":5: gates: must be a group"},
	{"deep_clients.cfg", ": client_park = \"deep\" takes one client process"},
	{"missing.cfg", ": the setting \"connections\" is missing"},
	{"nothing.cfg", ": the setting \"reactors\" is missing"},
};

static void says_what_is_wrong_and_where(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
		char path[256], error[512] = "";
		struct experiment exp;

		snprintf(path, sizeof(path), BAD "%s", mistakes[i].file);
		assert_int_equal(experiment_load(&exp, path, &known, error, sizeof(error)),
				 -EINVAL);
		if (strncmp(error, path, strlen(path)) != 0 || !strstr(error, mistakes[i].says))
			fail_msg("%s: said \"%s\" instead of \"%s\"", path, error,
				 mistakes[i].says);
	}
}

static void names_the_file_it_can_not_read(void **state)
{
	struct experiment exp;
	char error[512];

	(void)state;
	assert_int_equal(experiment_load(&exp, "no/such.cfg", &known, error, sizeof(error)),
			 -ENOENT);
	assert_string_equal(error, "no/such.cfg: No such file or directory");
	assert_int_equal(experiment_load(&exp, FIXTURES, &known, error, sizeof(error)), -EISDIR);
	assert_non_null(strstr(error, FIXTURES));
}

/* The experiments that are shipped stay readable, also where a reactor is not built. */
static void reads_the_shipped_experiments(void **state)
{
	static const struct known_names every = {
		.reactors = {{"c1m", "classic", "epoll", "epoll_lt", "io_uring", "io_uring_direct",
			      "io_uring_epoll", "io_uring_poll", "libev", "poll"},
			     10},
		.tls = {{"boringssl", "openssl", "plain"}, 3},
		.park = {{"hold", "shed", "keys", "deep"}, 4},
	};
	char error[512] = "";
	struct experiment exp;
	glob_t shipped;

	(void)state;
	assert_int_equal(glob("experiments/*.cfg", 0, NULL, &shipped), 0);
	for (size_t i = 0; i < shipped.gl_pathc; i++) {
		if (experiment_load(&exp, shipped.gl_pathv[i], &every, error, sizeof(error)))
			fail_msg("%s", error);
		assert_non_null(strstr(shipped.gl_pathv[i], exp.name));
		experiment_free(&exp);
	}
	globfree(&shipped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_setting),
		cmocka_unit_test(fills_in_the_rest),
		cmocka_unit_test(says_what_is_wrong_and_where),
		cmocka_unit_test(names_the_file_it_can_not_read),
		cmocka_unit_test(reads_the_shipped_experiments),
	};

	return cmocka_run_group_tests_name("experiment", tests, NULL, NULL);
}
