// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - the line of cells.jsonl: exactly the public names, null for what
 * was not measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/result.h"

static const struct experiment experiment = {
	.workers = 2, .clients = 3, .worker_model = WORKER_TABLES};

static const struct matrix_cell cell = {
	.name = "epoll+boringssl+shed",
	.reactor = "epoll",
	.tls = "boringssl",
	.park = "shed",
	.dimension = {[DIM_CONNECTIONS] = 1000,
		      [DIM_IN_FLIGHT] = 64,
		      [DIM_HANDSHAKES_MAX] = 32,
		      [DIM_TRIM] = true},
	.repeat = 2,
	.order = 5,
};

/* The keys of an object, in order, as one string. */
static void assert_keys(const json_t *object, const char *expected)
{
	char keys[1024] = "";
	const char *key;
	json_t *value;

	assert_true(json_is_object(object));
	json_object_foreach((json_t *)object, key, value)
	{
		strcat(keys, *keys ? " " : "");
		strcat(keys, key);
	}
	assert_string_equal(keys, expected);
}

static void assert_names(const json_t *line)
{
	assert_keys(line,
		    "schema run cell reactor tls park worker_model workers clients connections "
		    "in_flight history_bytes handshakes_max trim repeat order "
		    "verdict reason established dropped_idle handshakes_peak ramp_s handshake_us "
		    "rounds "
		    "memory memory_peak_bytes predicted_memory_bytes cpu client net tls_version");
	assert_keys(json_object_get(line, "handshake_us"), "p50 p99 max");
	assert_keys(json_object_get(line, "memory"),
		    "user_bytes_per_conn kernel_bytes_per_conn user_rss_bytes_per_conn "
		    "slab_bytes_per_conn user_baseline_bytes handshake_peak_bytes phases "
		    "user_method kernel_method");
	assert_keys(json_object_get(line, "cpu"),
		    "server_us_per_handshake client_us_per_handshake crypto_floor_us "
		    "client_crypto_floor_us server_us_per_request server_syscalls_per_request");
	assert_keys(json_object_get(line, "client"),
		    "user_bytes_per_conn kernel_bytes_per_conn cpu_percent");
	assert_keys(json_object_get(line, "net"),
		    "listen_overflows listen_drops retrans_segs out_rsts");
}

static void fill(struct result *result)
{
	result_init(result, &cell, &experiment);
	result->established = 1000;
	result->dropped_idle = 0;
	result->handshakes_peak = 48;
	result->ramp_s = 0.51239;
	result->handshake_us_p50 = 100;
	result->handshake_us_p99 = 200;
	result->handshake_us_max = 300;
	result->rounds[0] = (struct result_round){1000, 0, 5000.26};
	result->rounds[1] = (struct result_round){999, 1, 6000};
	result->user_baseline_bytes = 2e6;
	result->handshake_peak_bytes = 4e6;
	result->phases[PHASE_IDLE] = (struct result_memory){3.0e6, 3.1e6, 3.8e6};
	result->phases[PHASE_ROUND1] = (struct result_memory){3.2e6, 3.3e6, 3.9e6};
	result->phases[PHASE_ROUND2] = (struct result_memory){3.1e6, 3.4e6, 4.0e6};
	result->phases[PHASE_CLOSE] = (struct result_memory){9.0e6, 9.0e6, -1000};
	result->client_phases[PHASE_ROUND1] = (struct result_memory){5.0e6, 5.1e6, 4.1e6};
	result->slab_bytes = 872500;
	result->client_cpu_percent = 41.26;
	result->server_us_per_request = 9.876;
	strcpy(result->user_method, "pss");
	strcpy(result->kernel_method, "memcg-v1");
	strcpy(result->tls_version, "BoringSSL");
}

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static void has_exactly_the_public_names(void **state)
{
	struct result result;
	json_t *line, *phases;

	(void)state;
	fill(&result);
	line = result_json(&result, "a-run");
	assert_names(line);
	assert_keys(json_array_get(json_object_get(line, "rounds"), 1), "ok failed rps");
	phases = json_object_get(json_object_get(line, "memory"), "phases");
	assert_keys(phases, "idle round_1 round_2 close");
	assert_keys(json_object_get(phases, "idle"), "user_bytes user_rss_bytes kernel_bytes");
	json_decref(line);
}

static void keeps_the_values(void **state)
{
	struct result result;
	json_t *line, *memory, *round;

	(void)state;
	fill(&result);
	line = result_json(&result, "a-run");
	assert_int_equal(number(line, "schema"), 1);
	assert_string_equal(json_string_value(json_object_get(line, "run")), "a-run");
	assert_string_equal(json_string_value(json_object_get(line, "verdict")), "pass");
	assert_true(json_is_null(json_object_get(line, "reason")));
	assert_int_equal(number(line, "repeat"), 2);
	assert_int_equal(number(line, "order"), 5);
	assert_int_equal(number(line, "connections"), 1000);
	assert_int_equal(number(line, "in_flight"), 64);
	assert_int_equal(number(line, "handshakes_max"), 32);
	assert_true(json_is_true(json_object_get(line, "trim")));
	assert_int_equal(number(line, "handshakes_peak"), 48);
	assert_true(fabs(number(line, "ramp_s") - 0.5124) < 1e-9);
	round = json_array_get(json_object_get(line, "rounds"), 1);
	assert_int_equal(number(round, "failed"), 1);
	memory = json_object_get(line, "memory");
	/* The largest settled reading, and the kernel's of the same moment. */
	assert_true(number(memory, "user_bytes_per_conn") == 3200);
	assert_true(number(memory, "kernel_bytes_per_conn") == 3900);
	assert_true(number(memory, "user_rss_bytes_per_conn") == 3300);
	assert_true(number(memory, "slab_bytes_per_conn") == 872.5);
	assert_int_equal(number(memory, "handshake_peak_bytes"), 4000000);
	assert_true(number(json_object_get(line, "client"), "user_bytes_per_conn") == 5000);
	assert_true(number(json_object_get(line, "client"), "cpu_percent") == 41.3);
	json_decref(line);
}

/* Only a run with the step has the key. */
static void has_the_fractions_that_were_active(void **state)
{
	struct result result;
	json_t *line, *active;

	(void)state;
	fill(&result);
	result.active[0] = (struct result_active){0.001, 1, 500, 0, 1000.04, 9.876, 3.00004};
	result.active[1] = (struct result_active){1, 1000, 0, 3, 0, NAN, NAN};
	line = result_json(&result, "a-run");
	active = json_object_get(line, "active");
	assert_int_equal(json_array_size(active), 2);
	assert_keys(json_array_get(active, 0), "fraction connections ok failed rps "
					       "server_us_per_request server_syscalls_per_request");
	assert_true(number(json_array_get(active, 0), "fraction") == 0.001);
	assert_true(number(json_array_get(active, 0), "server_us_per_request") == 9.88);
	assert_true(number(json_array_get(active, 0), "server_syscalls_per_request") == 3);
	assert_int_equal(number(json_array_get(active, 1), "failed"), 3);
	assert_true(
		json_is_null(json_object_get(json_array_get(active, 1), "server_us_per_request")));
	json_decref(line);
}

/* Only a cell with a history has the key. */
static void has_the_history(void **state)
{
	struct result result;
	json_t *line, *history;

	(void)state;
	fill(&result);
	result.cell.dimension[DIM_HISTORY_BYTES] = 65536;
	result.history = (struct result_round){998, 2, 1234.56};
	line = result_json(&result, "a-run");
	assert_int_equal(number(line, "history_bytes"), 65536);
	history = json_object_get(line, "history");
	assert_keys(history, "ok failed rps");
	assert_int_equal(number(history, "ok"), 998);
	assert_int_equal(number(history, "failed"), 2);
	json_decref(line);
}

/* Only a cell with the step has the key. */
static void has_the_key_updates(void **state)
{
	struct result result;
	json_t *line, *updates;

	(void)state;
	fill(&result);
	result.key_updates = (struct result_key_updates){2999, 1};
	line = result_json(&result, "a-run");
	updates = json_object_get(line, "key_updates");
	assert_keys(updates, "ok failed");
	assert_int_equal(number(updates, "ok"), 2999);
	assert_int_equal(number(updates, "failed"), 1);
	json_decref(line);
}

/* Only a cell with the step has the key. */
static void has_the_wakes(void **state)
{
	struct result result;
	json_t *line, *wakes;

	(void)state;
	fill(&result);
	result.wakes = (struct result_wakes){999, 1, 41.25, 90, 1234.56};
	line = result_json(&result, "a-run");
	wakes = json_object_get(line, "wakes");
	assert_keys(wakes, "ok failed p50_us p99_us max_us");
	assert_int_equal(number(wakes, "ok"), 999);
	assert_int_equal(number(wakes, "failed"), 1);
	assert_true(number(wakes, "p50_us") == 41.3);
	assert_true(number(wakes, "max_us") == 1234.6);
	json_decref(line);
	/* Of no wakes there is no time. */
	result.wakes = (struct result_wakes){0, 3, NAN, NAN, NAN};
	line = result_json(&result, "a-run");
	assert_true(json_is_null(json_object_get(json_object_get(line, "wakes"), "p50_us")));
	json_decref(line);
}

/* Only a cell that kept some has the key. */
static void has_the_sessions_that_were_kept(void **state)
{
	struct result result;
	json_t *line;

	(void)state;
	fill(&result);
	tally_add(&result.kept, "TLS 1.2", 3);
	tally_add(&result.kept, "cipher", 1);
	line = result_json(&result, "a-run");
	assert_keys(json_object_get(line, "kept"), "TLS 1.2 cipher");
	assert_int_equal(number(json_object_get(line, "kept"), "TLS 1.2"), 3);
	json_decref(line);
}

static void says_null_for_what_was_not_measured(void **state)
{
	struct result result;
	json_t *line, *cpu;
	const char *key;
	json_t *value;

	(void)state;
	result_init(&result, &cell, &experiment);
	result_judge(&result, VERDICT_SKIP, "no %s here", "epoll");
	line = result_json(&result, "a-run");
	assert_names(line);
	assert_string_equal(json_string_value(json_object_get(line, "verdict")), "skip");
	assert_string_equal(json_string_value(json_object_get(line, "reason")), "no epoll here");
	assert_true(json_is_null(json_object_get(line, "established")));
	assert_true(json_is_null(json_object_get(line, "ramp_s")));
	assert_true(json_is_null(json_object_get(line, "tls_version")));
	assert_int_equal(json_array_size(json_object_get(line, "rounds")), 0);
	cpu = json_object_get(line, "cpu");
	json_object_foreach(cpu, key, value)
	{
		assert_true(json_is_null(value));
	}
	assert_keys(json_object_get(json_object_get(line, "memory"), "phases"), "");
	json_decref(line);
}

/* JSON has no infinity: a division by nothing must not lose the key. */
static void survives_nothing_established_and_odd_text(void **state)
{
	struct result result;
	json_t *line;

	(void)state;
	fill(&result);
	result.established = 0;
	strcpy(result.tls_version, "\xff\xfe");
	line = result_json(&result, "a-run");
	assert_names(line);
	assert_true(json_is_null(
		json_object_get(json_object_get(line, "memory"), "user_bytes_per_conn")));
	assert_true(json_is_string(json_object_get(line, "tls_version")));
	json_decref(line);
}

static void first_verdict_stands(void **state)
{
	struct result result;

	(void)state;
	result_init(&result, &cell, &experiment);
	result_judge(&result, VERDICT_FAIL, "first");
	result_judge(&result, VERDICT_INVALID, "second");
	assert_int_equal(result.verdict, VERDICT_FAIL);
	assert_string_equal(result.reason, "first");
}

static void appends_one_line_each(void **state)
{
	char path[] = "/tmp/parkbench-result-XXXXXX", text[8192] = "";
	int fd = mkstemp(path);
	struct result result;
	json_t *line;
	FILE *file;

	(void)state;
	assert_true(fd >= 0);
	fill(&result);
	line = result_json(&result, "a-run");
	assert_int_equal(result_append(fd, line), 0);
	assert_int_equal(result_append(fd, line), 0);
	file = fopen(path, "r");
	for (int i = 0; i < 2; i++) {
		json_t *again;

		assert_non_null(fgets(text, sizeof(text), file));
		again = json_loads(text, 0, NULL);
		assert_true(json_equal(again, line));
		json_decref(again);
	}
	assert_null(fgets(text, sizeof(text), file));
	fclose(file);
	json_decref(line);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_exactly_the_public_names),
		cmocka_unit_test(keeps_the_values),
		cmocka_unit_test(has_the_fractions_that_were_active),
		cmocka_unit_test(has_the_history),
		cmocka_unit_test(has_the_key_updates),
		cmocka_unit_test(has_the_wakes),
		cmocka_unit_test(has_the_sessions_that_were_kept),
		cmocka_unit_test(says_null_for_what_was_not_measured),
		cmocka_unit_test(survives_nothing_established_and_odd_text),
		cmocka_unit_test(first_verdict_stands),
		cmocka_unit_test(appends_one_line_each),
	};

	return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
