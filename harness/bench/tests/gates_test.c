// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - verdicts: every gate, and the reason it gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "harness/bench/gates.h"

static const struct gate_limits no_limits;
static const struct experiment experiment = {.workers = 2, .clients = 1};

/* A cell in which all went well. */
static struct result good_result(const char *tls)
{
	struct matrix_cell cell = {
		.reactor = "epoll", .park = "shed", .dimension = {[DIM_CONNECTIONS] = 100}};
	struct result result;

	strcpy(cell.tls, tls);
	result_init(&result, &cell, &experiment);
	result.established = 100;
	result.dropped_idle = 0;
	result.ramp_s = 2;
	result.phases[PHASE_IDLE].user_bytes = 300000;
	for (int i = 0; i < RESULT_ROUNDS; i++)
		result.rounds[i] = (struct result_round){100, 0, 1000};
	result.listen_overflows = 0;
	result.listen_drops = 0;
	result.client_cpu_percent = 60;
	result.server_cpu_percent = 40;
	return result;
}

static void assert_judged(const struct result *result, enum verdict verdict, const char *reason)
{
	assert_string_equal(verdict_names[result->verdict], verdict_names[verdict]);
	if (!strstr(result->reason, reason))
		fail_msg("the reason is \"%s\", not \"%s\"", result->reason, reason);
}

static void passes_when_all_is_well(void **state)
{
	const struct gate_limits limits = {.user_bytes_per_conn_max = 3000, .ramp_s_max = 2};
	struct result result = good_result("openssl");

	(void)state;
	gates_after_ramp(&result, "TLSv1.3", NULL);
	gates_after_hold(&result, NULL);
	gates_after_round(&result, 0, NULL);
	gates_after_round(&result, 1, NULL);
	gates_at_end(&result, &limits);
	assert_judged(&result, VERDICT_PASS, "");
}

static void ramp_must_be_complete(void **state)
{
	json_t *failures = json_pack("{s:i, s:i}", "ECONNRESET", 2, "handshake timeout", 1);
	struct result result = good_result("openssl");

	(void)state;
	result.established = 97;
	gates_after_ramp(&result, "TLSv1.3", failures);
	assert_judged(&result, VERDICT_FAIL,
		      "ramp: 97 of 100 established (ECONNRESET 2, handshake timeout 1)");
	json_decref(failures);
	result = good_result("openssl");
	result.established = NAN;
	gates_after_ramp(&result, "TLSv1.3", NULL);
	assert_judged(&result, VERDICT_FAIL, "cause unknown");
}

static void tls_must_be_1_3(void **state)
{
	struct result result = good_result("openssl");

	(void)state;
	gates_after_ramp(&result, "TLSv1.2", NULL);
	assert_judged(&result, VERDICT_FAIL, "negotiated TLSv1.2 instead of TLSv1.3");
	result = good_result("openssl");
	gates_after_ramp(&result, "", NULL);
	assert_judged(&result, VERDICT_FAIL, "negotiated nothing");
	result = good_result("plain");
	gates_after_ramp(&result, "", NULL);
	assert_judged(&result, VERDICT_PASS, "");
}

static void nothing_may_drop_while_idle(void **state)
{
	json_t *failures = json_pack("{s:i}", "closed by the server", 1);
	struct result result = good_result("openssl");

	(void)state;
	result.dropped_idle = 1;
	gates_after_hold(&result, failures);
	assert_judged(&result, VERDICT_FAIL,
		      "1 of 100 dropped while idle (closed by the server 1)");
	json_decref(failures);
	/* An answer without the figure is no pass. */
	result = good_result("openssl");
	result.dropped_idle = NAN;
	gates_after_hold(&result, NULL);
	assert_judged(&result, VERDICT_FAIL, "dropped while idle");
}

static void every_fetch_must_be_ok(void **state)
{
	json_t *failures = json_pack("{s:i}", "body too short", 2);
	struct result result = good_result("openssl");

	(void)state;
	result.history = (struct result_round){100, 0, 1000};
	gates_after_history(&result, NULL);
	assert_judged(&result, VERDICT_PASS, "");
	result.history = (struct result_round){98, 2, 1000};
	gates_after_history(&result, failures);
	assert_judged(&result, VERDICT_FAIL, "history: 98 of 100 ok, 2 failed (body too short 2)");
	json_decref(failures);
}

static void every_key_must_change(void **state)
{
	json_t *failures = json_pack("{s:i}", "the server did not update its keys", 1);
	struct result result = good_result("openssl");

	(void)state;
	result.key_updates = (struct result_key_updates){300, 0};
	gates_after_key_updates(&result, 3, NULL);
	assert_judged(&result, VERDICT_PASS, "");
	result.key_updates = (struct result_key_updates){299, 1};
	gates_after_key_updates(&result, 3, failures);
	assert_judged(
		&result, VERDICT_FAIL,
		"key updates: 299 of 300 ok, 1 failed (the server did not update its keys 1)");
	json_decref(failures);
	/* One that is gone takes no part. */
	result = good_result("openssl");
	result.key_updates = (struct result_key_updates){299, 0};
	gates_after_key_updates(&result, 3, NULL);
	assert_judged(&result, VERDICT_FAIL, "cause unknown");
}

static void no_session_may_be_kept(void **state)
{
	struct result result = good_result("openssl");

	(void)state;
	gates_after_parking(&result);
	assert_judged(&result, VERDICT_PASS, "");
	tally_add(&result.kept, "TLS 1.2", 3);
	tally_add(&result.kept, "bytes pending", 1);
	gates_after_parking(&result);
	assert_judged(&result, VERDICT_INVALID, "sessions were kept (TLS 1.2 3, bytes pending 1)");
}

static void every_response_must_be_ok(void **state)
{
	json_t *failures = json_pack("{s:i}", "status 500", 3);
	struct result result = good_result("openssl");

	(void)state;
	result.rounds[1] = (struct result_round){97, 3, 1000};
	gates_after_round(&result, 1, failures);
	assert_judged(&result, VERDICT_FAIL, "round 2: 97 of 100 ok, 3 failed (status 500 3)");
	json_decref(failures);
	/* Nothing failed, but not all were asked. */
	result = good_result("openssl");
	result.rounds[0].ok = 99;
	gates_after_round(&result, 0, NULL);
	assert_judged(&result, VERDICT_FAIL, "round 1: 99 of 100 ok");
}

static void active_connections_must_be_answered(void **state)
{
	json_t *failures = json_pack("{s:i, s:i}", "ECONNRESET", 2, "timeout", 1);
	struct result result = good_result("openssl");

	(void)state;
	result.active[1] = (struct result_active){0.001, 10, 5000, 0, 5000, 10, 3};
	gates_after_active(&result, 1, NULL);
	assert_judged(&result, VERDICT_PASS, "");
	result.active[1].failed = 3;
	gates_after_active(&result, 1, failures);
	assert_judged(&result, VERDICT_FAIL,
		      "0.1 % active: 5000 requests ok, 3 failed (ECONNRESET 2, timeout 1)");
	json_decref(failures);
	/* Nobody answered, or the client did not say. */
	result = good_result("openssl");
	result.active[0] = (struct result_active){1, 100, 0, 0, 0, NAN, NAN};
	gates_after_active(&result, 0, NULL);
	assert_judged(&result, VERDICT_FAIL, "100 % active: 0 requests ok, 0 failed");
	result = good_result("openssl");
	result.active[0] = (struct result_active){1, 100, 5, NAN, 0, NAN, NAN};
	gates_after_active(&result, 0, NULL);
	assert_judged(&result, VERDICT_FAIL, "cause unknown");
}

static void every_wake_must_be_ok(void **state)
{
	json_t *failures = json_pack("{s:i}", "request timeout", 1);
	struct result result = good_result("openssl");

	(void)state;
	result.wakes = (struct result_wakes){50, 0, 40, 90, 100};
	gates_after_wakes(&result, 50, NAN, NULL);
	gates_after_wakes(&result, 50, 50, NULL);
	assert_judged(&result, VERDICT_PASS, "");
	result.wakes = (struct result_wakes){49, 1, 40, 90, 100};
	gates_after_wakes(&result, 50, 49, failures);
	assert_judged(&result, VERDICT_FAIL, "wakes: 49 of 50 ok, 1 failed (request timeout 1)");
	json_decref(failures);
	/* Nothing failed, but not all were woken. */
	result = good_result("openssl");
	result.wakes = (struct result_wakes){49, 0, 40, 90, 100};
	gates_after_wakes(&result, 50, NAN, NULL);
	assert_judged(&result, VERDICT_FAIL, "wakes: 49 of 50 ok, 0 failed (cause unknown)");
}

/* One that had its socket still was not woken from level deep. */
static void wakes_must_be_from_their_level(void **state)
{
	struct result result = good_result("openssl");

	(void)state;
	result.wakes = (struct result_wakes){50, 0, 40, 90, 100};
	gates_after_wakes(&result, 50, 48, NULL);
	assert_judged(&result, VERDICT_INVALID,
		      "of 50 connections only 48 had no socket when they were woken");
}

static void limits_of_the_experiment_hold(void **state)
{
	const struct gate_limits memory = {.user_bytes_per_conn_max = 2999};
	const struct gate_limits ramp = {.ramp_s_max = 1.99};
	struct result result = good_result("openssl");

	(void)state;
	gates_at_end(&result, &memory);
	assert_judged(&result, VERDICT_FAIL,
		      "3000 user bytes a connection, the gate is at most 2999");
	result = good_result("openssl");
	gates_at_end(&result, &ramp);
	assert_judged(&result, VERDICT_FAIL, "ramp took 2.00 s, the gate is at most 1.99 s");
}

static void figures_that_do_not_count_are_invalid(void **state)
{
	const struct gate_limits ramp = {.ramp_s_max = 1};
	struct result result = good_result("openssl");

	(void)state;
	result.listen_overflows = 3;
	result.listen_drops = 3;
	/* Invalid comes before a limit: the figure that breaks it does not count. */
	gates_at_end(&result, &ramp);
	assert_judged(&result, VERDICT_INVALID, "ListenOverflows 3, ListenDrops 3");
	result = good_result("openssl");
	result.client_cpu_percent = 95;
	result.server_cpu_percent = 49;
	gates_at_end(&result, &no_limits);
	assert_judged(&result, VERDICT_INVALID, "the client was the bottleneck");
	/* In a ramp of a moment the CPUs tell nothing. */
	result.verdict = VERDICT_PASS;
	result.reason[0] = '\0';
	result.ramp_s = 0.19;
	gates_at_end(&result, &no_limits);
	assert_judged(&result, VERDICT_PASS, "");
	/* A busy client beside a busy server is no bottleneck. */
	result = good_result("openssl");
	result.client_cpu_percent = 99;
	result.server_cpu_percent = 50;
	gates_at_end(&result, &no_limits);
	assert_judged(&result, VERDICT_PASS, "");
}

static void failures_are_listed_by_cause(void **state)
{
	json_t *failures = json_pack("{s:i, s:i, s:i}", "EPIPE", 5, "none", 0, "timeout", 2);
	char text[64], small[8];

	(void)state;
	gates_failures_text(failures, text, sizeof(text));
	assert_string_equal(text, "EPIPE 5, timeout 2");
	gates_failures_text(failures, small, sizeof(small));
	assert_string_equal(small, "EPIPE 5");
	gates_failures_text(NULL, text, sizeof(text));
	assert_string_equal(text, "cause unknown");
	json_decref(failures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_when_all_is_well),
		cmocka_unit_test(ramp_must_be_complete),
		cmocka_unit_test(tls_must_be_1_3),
		cmocka_unit_test(nothing_may_drop_while_idle),
		cmocka_unit_test(every_fetch_must_be_ok),
		cmocka_unit_test(every_key_must_change),
		cmocka_unit_test(no_session_may_be_kept),
		cmocka_unit_test(every_response_must_be_ok),
		cmocka_unit_test(active_connections_must_be_answered),
		cmocka_unit_test(every_wake_must_be_ok),
		cmocka_unit_test(wakes_must_be_from_their_level),
		cmocka_unit_test(limits_of_the_experiment_hold),
		cmocka_unit_test(figures_that_do_not_count_are_invalid),
		cmocka_unit_test(failures_are_listed_by_cause),
	};

	return cmocka_run_group_tests_name("gates", tests, NULL, NULL);
}
