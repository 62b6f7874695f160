// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - claims: reading them, finding their figures, and whether they hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/compare.h"
#include "harness/bench/rundir.h"

#define FIXTURES "harness/bench/tests/fixtures/compare/"
#define PUBLISHED FIXTURES "published"
#define USER "memory.user_bytes_per_conn"
#define NEAR 1e-6

/* Both runs of the fixtures, and a claim to be changed by the test. */
struct context {
	json_t *published;
	json_t *run;
	struct compare_source source;
	struct claim claim;
	struct comparison comparison;
};

static int setup(void **state)
{
	struct context *c = calloc(1, sizeof(*c));
	char error[512];

	assert_non_null(c);
	assert_int_equal(rundir_load(PUBLISHED "/machine/test", &c->published, error, 512), 0);
	assert_int_equal(rundir_load(FIXTURES "run", &c->run, error, 512), 0);
	c->source = (struct compare_source){PUBLISHED, "published/cells.jsonl", c->published,
					    "run/cells.jsonl", c->run};
	c->claim = (struct claim){
		.id = "it",
		.cell = "epoll+boringssl+shed",
		.field = USER,
		.rule = CLAIM_RELATIVE,
		.bound = 0.04,
		.theirs = {.value = NAN},
	};
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct context *c = *state;

	json_decref(c->published);
	json_decref(c->run);
	free(c);
	return 0;
}

static void expect(struct context *c, enum compare_verdict verdict, const char *reason)
{
	compare_claim(&c->claim, &c->source, &c->comparison);
	if (c->comparison.verdict != verdict || !strstr(c->comparison.reason, reason))
		fail_msg("verdict %d: %s", c->comparison.verdict, c->comparison.reason);
}

/* ---- figures ---- */

static void finds_a_number_at_a_path(void **state)
{
	json_t *row =
		json_loads("{\"a\":{\"b\":1.5},\"c\":[{\"d\":2},{\"d\":3}],\"e\":null}", 0, NULL);

	(void)state;
	assert_true(claim_value_at(row, "a.b") == 1.5);
	assert_true(claim_value_at(row, "c.1.d") == 3);
	assert_true(isnan(claim_value_at(row, "c.2.d")));
	assert_true(isnan(claim_value_at(row, "e")));
	assert_true(isnan(claim_value_at(row, "e.f")));
	assert_true(isnan(claim_value_at(row, "a")));
	json_decref(row);
}

static void compares_medians(void **state)
{
	struct context *c = *state;

	expect(c, COMPARE_HOLDS, "");
	assert_true(c->comparison.published.number == 2800);
	assert_true(fabs(c->comparison.now.number - 2828) < NEAR);
	assert_true(fabs(c->comparison.difference - 0.01) < NEAR);
}

static void makes_sums_and_ratios(void **state)
{
	struct context *c = *state;

	c->claim.plus = "memory.kernel_bytes_per_conn";
	expect(c, COMPARE_HOLDS, "");
	assert_true(c->comparison.published.number == 6800);
	c->claim.pair = CLAIM_OVER;
	c->claim.other_cell = "epoll+plain+shed";
	expect(c, COMPARE_HOLDS, "");
	assert_true(fabs(c->comparison.published.number - 1.7) < NEAR);
	c->claim.pair = CLAIM_MINUS;
	expect(c, COMPARE_HOLDS, "");
	assert_true(c->comparison.published.number == 2800);
	c->claim = (struct claim){.cell = c->claim.cell,
				  .field = "cpu.server_us_per_handshake",
				  .over = "cpu.crypto_floor_us",
				  .rule = CLAIM_AT_MOST,
				  .bound = 2.5};
	expect(c, COMPARE_HOLDS, "");
	assert_true(c->comparison.now.number == 2);
}

/* What is fixed, 20,000 bytes here, is not in it. */
static void takes_the_slope(void **state)
{
	struct context *c = *state;

	c->claim.cell = "epoll+boringssl+keys";
	expect(c, COMPARE_CANNOT, "several cells epoll+boringssl+keys differ in connections");
	c->claim.slope = true;
	expect(c, COMPARE_HOLDS, "");
	assert_true(fabs(c->comparison.now.number - 128) < NEAR);
	c->claim.cell = "epoll+boringssl+shed";
	expect(c, COMPARE_CANNOT, "connections (two different numbers at least)");
}

static void picks_one_of_several_cells(void **state)
{
	struct context *c = *state;
	json_t *where = json_pack("{s:i}", "connections", 2000);

	c->claim.cell = "epoll+boringssl+keys";
	c->claim.where = where;
	expect(c, COMPARE_HOLDS, "");
	assert_true(c->comparison.now.number == 138);
	json_object_set_new(where, "connections", json_integer(3000));
	expect(c, COMPARE_CANNOT, "there is no cell epoll+boringssl+keys");
	json_decref(where);
}

/* ---- verdicts ---- */

static void can_not_compare_what_is_not_there(void **state)
{
	struct context *c = *state;

	c->claim.cell = "nobody+plain+shed";
	expect(c, COMPARE_CANNOT,
	       "not published: published/cells.jsonl: there is no cell nobody+plain+shed");
	c->claim.cell = "classic+plain+shed";
	expect(c, COMPARE_CANNOT,
	       "skipped here: cell classic+plain+shed: reactor classic: no threads");
	c->claim.cell = "poll+plain+shed";
	expect(c, COMPARE_CANNOT,
	       "invalid here: cell poll+plain+shed: the client was the bottleneck");
	c->claim.cell = "io_uring+plain+shed";
	expect(c, COMPARE_CANNOT,
	       "not measured here: cell io_uring+plain+shed: " USER " is missing");
	c->claim.field = "memory.no_such_field";
	expect(c, COMPARE_CANNOT, "memory.no_such_field is missing");
	c->claim.field = USER;
	c->source.published = NULL;
	expect(c, COMPARE_CANNOT, "not published: there is no published/cells.jsonl");
}

static void a_cell_that_is_not_run_is_no_failure(void **state)
{
	struct context *c = *state;

	c->source.run = json_array();
	expect(c, COMPARE_CANNOT, "not run here: there is no cell epoll+boringssl+shed");
	json_decref((json_t *)c->source.run);
}

static void a_cell_that_failed_differs(void **state)
{
	struct context *c = *state;

	c->claim.cell = "libev+plain+shed";
	expect(c, COMPARE_DIFFERS,
	       "run/cells.jsonl: cell libev+plain+shed failed in 1 of 2 repeats: 3 "
	       "of 1,000 not established");
	assert_true(c->comparison.now.number == 200);
	c->claim.pair = CLAIM_OVER;
	c->claim.other_cell = "epoll+plain+shed";
	expect(c, COMPARE_DIFFERS, "run/cells.jsonl: cell libev+plain+shed failed");
	assert_true(fabs(c->comparison.now.number - 2) < NEAR);
	c->claim.cell = "epoll+plain+shed";
	c->claim.other_cell = "libev+plain+shed";
	expect(c, COMPARE_DIFFERS, "run/cells.jsonl: cell libev+plain+shed failed");
	c->claim.other_cell = "zero+plain+shed";
	expect(c, COMPARE_CANNOT, "cell zero+plain+shed: " USER " is 0 and can not divide");
}

static void does_not_divide_by_zero(void **state)
{
	struct context *c = *state;

	c->claim.cell = "zero+plain+shed";
	expect(c, COMPARE_HOLDS, "");
	assert_true(isnan(c->comparison.difference));
	json_object_set_new(json_object_get(json_array_get(c->run, 7), "memory"),
			    "user_bytes_per_conn", json_real(1));
	expect(c, COMPARE_CANNOT, USER " is 0: a part of it says nothing");
	c->claim.over = "memory.kernel_bytes_per_conn";
	expect(c, COMPARE_CANNOT, "memory.kernel_bytes_per_conn is missing, null or divides by 0");
}

/* By 10 %, either way. */
static void notices_an_altered_figure(void **state)
{
	static const double factors[] = {0.9, 1.1};
	struct context *c = *state;

	for (int f = 0; f < 2; f++) {
		for (size_t i = 0; i < 3; i++) {
			json_t *memory = json_object_get(json_array_get(c->run, i), "memory");
			double now = i == 0 ? 2700 : i == 1 ? 2800 : 3000;

			json_object_set_new(memory, "user_bytes_per_conn",
					    json_real(now * factors[f]));
		}
		expect(c, COMPARE_DIFFERS,
		       f ? "2800 in published/cells.jsonl, 3080 in run/cells.jsonl, "
			   "+10.0 %, more than 4 %"
			 : "2520 in run/cells.jsonl, -10.0 %");
		assert_non_null(strstr(c->comparison.reason, "cell epoll+boringssl+shed, " USER));
	}
}

static void holds_both_sides_to_a_limit(void **state)
{
	struct context *c = *state;

	c->claim.rule = CLAIM_AT_MOST;
	c->claim.bound = 2828.5;
	expect(c, COMPARE_HOLDS, "");
	c->claim.bound = 2810;
	expect(c, COMPARE_DIFFERS,
	       "2800 in published/cells.jsonl, 2828 in run/cells.jsonl, the limit "
	       "is 2810 at most");
	c->claim.rule = CLAIM_AT_LEAST;
	expect(c, COMPARE_DIFFERS, "2810 at least");
	c->claim.bound = 2800;
	expect(c, COMPARE_HOLDS, "");
}

static void checks_what_it_cites(void **state)
{
	struct context *c = *state;

	c->claim.theirs = (struct claim_theirs){"theirs.json", "C1K", USER, 5906};
	expect(c, COMPARE_HOLDS, "");
	c->claim.theirs.value = 5907;
	expect(c, COMPARE_DIFFERS,
	       "theirs.json: row C1K, " USER " is 5906, but the claim cites 5907");
	c->claim.theirs.row = "C2K";
	expect(c, COMPARE_DIFFERS, "row C2K has no number " USER);
	c->claim.theirs.source = "nowhere.json";
	expect(c, COMPARE_DIFFERS, "nowhere.json");
}

/* ---- claims.json ---- */

#define HEAD "{\"schema\":1,\"published\":\"m\",\"experiments\":{},\"claims\":["
#define CLAIM                                                                                      \
	"\"id\":\"a\",\"claim\":\"b\",\"scale\":\"c\",\"experiment\":\"d\",\"figure\":\"e\","      \
	"\"cell\":\"f\",\"field\":\"g\",\"unit\":\"B\""

static void refuses(const char *text, const char *reason)
{
	char path[] = "/tmp/parkbench-claims-XXXXXX", error[512] = "";
	int fd = mkstemp(path);
	struct claims claims;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	assert_int_not_equal(claims_load(&claims, path, error, sizeof(error)), 0);
	unlink(path);
	if (!strstr(error, reason) || !strstr(error, path))
		fail_msg("%s", error);
}

static void refuses_claims_that_make_no_sense(void **state)
{
	(void)state;
	refuses("{\n\"schema\": 1,\n", "line 3: ");
	refuses("[]", "object");
	refuses(HEAD "]", "'}'");
	refuses("{\"schema\":2,\"published\":\"m\",\"experiments\":{},\"claims\":[]}", "schema");
	refuses(HEAD "{\"id\":\"a\"}]}", "claim 1 (a): ");
	refuses(HEAD "{" CLAIM ",\"compare\":\"relative\",\"tolerence\":1}]}", "tolerence");
	refuses(HEAD "{" CLAIM ",\"compare\":\"about\",\"tolerance\":0.1}]}",
		"claim 1 (a): compare is \"about\"; there are relative, at_most, at_least");
	refuses(HEAD "{" CLAIM ",\"compare\":\"relative\",\"tolerance\":4}]}",
		"above 0 and below 1");
	refuses(HEAD "{" CLAIM ",\"compare\":\"relative\",\"limit\":4}]}", "give a tolerance");
	refuses(HEAD "{" CLAIM ",\"compare\":\"at_most\",\"limit\":\"theirs\"}]}",
		"the limit must be a number or \"theirs\"");
	refuses(HEAD "{" CLAIM ",\"compare\":\"at_most\",\"limit\":1},{" CLAIM
		     ",\"compare\":\"at_most\",\"limit\":1}]}",
		"claim 2 (a): another claim has this id");
}

/* ---- the command ---- */

/* What `parkbench compare` prints, or its message; the caller frees it. */
static char *printed(const char *claims, const char *published, const char *run, const char *about,
		     int status)
{
	struct compare_options options = {claims, published, run, about};
	char error[512] = "", *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	int got = compare_print(stream, &options, error, sizeof(error));

	fprintf(stream, "%s", error);
	fclose(stream);
	if (got != status)
		fail_msg("status %d: %s", got, text);
	return text;
}

static void says(char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("%s", text);
	free(text);
}

static void prints_a_table(void **state)
{
	char *text = printed(FIXTURES "claims.json", PUBLISHED, FIXTURES "run", NULL, 0);

	(void)state;
	assert_non_null(strstr(text, "5906 B     2800 B  2828 B      +1.0 %        4 %"));
	assert_non_null(strstr(text, "theirs: " PUBLISHED "/theirs.json, row C1K\n"));
	assert_non_null(strstr(text, "can not be compared: skipped: skipped here: "));
	says(text, "\n2 claims: 1 hold, 0 differ, 1 can not be compared\n");
	says(printed(FIXTURES "claims.json", PUBLISHED, NULL, "test", 0),
	     "test: 2 claims; a run takes about 3 minutes and 0.5 GiB");
}

static void says_which_file_is_at_fault(void **state)
{
	(void)state;
	says(printed("nowhere.json", PUBLISHED, FIXTURES "run", NULL, 2), "nowhere.json: ");
	says(printed(FIXTURES "claims.json", PUBLISHED, "nowhere", NULL, 2),
	     "nowhere: no run of that name");
	says(printed(FIXTURES "claims.json", "nowhere", FIXTURES "run", NULL, 2),
	     "nowhere: No such file");
	says(printed(FIXTURES "claims.json", PUBLISHED, FIXTURES "broken", NULL, 2),
	     "broken/cells.jsonl:2: ");
	says(printed(FIXTURES "claims.json", PUBLISHED, FIXTURES "unnamed", NULL, 2),
	     "unnamed/manifest.json: it names no experiment");
	says(printed(FIXTURES "claims.json", PUBLISHED, NULL, "nothing", 2),
	     "no claim is of experiment nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_a_number_at_a_path),
		cmocka_unit_test_setup_teardown(compares_medians, setup, teardown),
		cmocka_unit_test_setup_teardown(makes_sums_and_ratios, setup, teardown),
		cmocka_unit_test_setup_teardown(takes_the_slope, setup, teardown),
		cmocka_unit_test_setup_teardown(picks_one_of_several_cells, setup, teardown),
		cmocka_unit_test_setup_teardown(can_not_compare_what_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cell_that_is_not_run_is_no_failure, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_cell_that_failed_differs, setup, teardown),
		cmocka_unit_test_setup_teardown(does_not_divide_by_zero, setup, teardown),
		cmocka_unit_test_setup_teardown(notices_an_altered_figure, setup, teardown),
		cmocka_unit_test_setup_teardown(holds_both_sides_to_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(checks_what_it_cites, setup, teardown),
		cmocka_unit_test(refuses_claims_that_make_no_sense),
		cmocka_unit_test(prints_a_table),
		cmocka_unit_test(says_which_file_is_at_fault),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
