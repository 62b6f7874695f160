// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - several clients answer as one: sums, failures by cause, percentiles over
 * every sample; and the lines of a timeline. */
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

#include "harness/bench/answers.h"
#include "harness/bench/gates.h"
#include "harness/bench/samples.h"
#include "harness/bench/timeline.h"

static json_t *merge(const char *const *texts, unsigned count)
{
	json_t *answers[4], *merged;

	for (unsigned i = 0; i < count; i++) {
		answers[i] = json_loads(texts[i], 0, NULL);
		assert_non_null(answers[i]);
	}
	merged = answers_merge(answers, count);
	for (unsigned i = 0; i < count; i++)
		json_decref(answers[i]);
	return merged;
}

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

static void one_answer_stays_as_it_is(void **state)
{
	static const char *const texts[] = {"{\"event\":\"round\",\"ok\":5,\"rps\":7.5,"
					    "\"seconds\":2.0,\"failures\":{\"EPIPE\":1}}"};
	json_t *merged = merge(texts, 1), *same = json_loads(texts[0], 0, NULL);

	(void)state;
	assert_true(json_equal(merged, same));
	json_decref(merged);
	json_decref(same);
}

static void ramps_add_up(void **state)
{
	static const char *const texts[] = {
		"{\"event\":\"ramp\",\"established\":34,\"failed\":0,\"ramp_s\":1.5,"
		"\"handshake_us\":{\"p50\":10.0,\"max\":90.0},\"tls_protocol\":\"TLSv1.3\","
		"\"failures\":{}}",
		"{\"event\":\"ramp\",\"established\":30,\"failed\":3,\"ramp_s\":2.5,"
		"\"handshake_us\":{\"p50\":20.0,\"max\":70.0},\"tls_protocol\":\"TLSv1.3\","
		"\"failures\":{\"ECONNRESET\":2,\"handshake timeout\":1}}",
		"{\"event\":\"ramp\",\"established\":32,\"failed\":1,\"ramp_s\":2.0,"
		"\"handshake_us\":{\"p50\":15.0,\"max\":80.0},\"tls_protocol\":\"older\","
		"\"failures\":{\"ECONNRESET\":1}}",
	};
	json_t *merged = merge(texts, 3), *failures = json_object_get(merged, "failures");
	char causes[256];

	(void)state;
	assert_true(number(merged, "established") == 96);
	assert_true(number(merged, "failed") == 4);
	assert_true(number(merged, "ramp_s") == 2.5);
	assert_true(number(json_object_get(merged, "handshake_us"), "max") == 90);
	assert_string_equal(json_string_value(json_object_get(merged, "event")), "ramp");
	assert_string_equal(json_string_value(json_object_get(merged, "tls_protocol")), "mixed");
	gates_failures_text(failures, causes, sizeof(causes));
	assert_string_equal(causes, "ECONNRESET 3, handshake timeout 1, in client 2, client 3");
	json_decref(merged);
}

static void rates_are_of_the_whole(void **state)
{
	static const char *const texts[] = {
		"{\"ok\":100,\"seconds\":2.0,\"rps\":50.0,\"stopped\":false,\"failures\":{}}",
		"{\"ok\":100,\"seconds\":1.0,\"rps\":100.0,\"stopped\":true,\"failures\":{}}",
	};
	json_t *merged = merge(texts, 2);

	(void)state;
	assert_true(number(merged, "rps") == 100);
	assert_true(json_is_true(json_object_get(merged, "stopped")));
	/* Nothing failed anywhere: nobody is named. */
	assert_int_equal(json_object_size(json_object_get(merged, "failures")), 0);
	json_decref(merged);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void every_sample_is_kept(void **state)
{
	char dir[] = "/tmp/parkbench-samples-XXXXXX", path[64], part[80], text[64];
	struct samples samples;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/all.txt", dir);
	snprintf(part, sizeof(part), "%s.1", path);
	write_file(part, "30\n10\n");
	snprintf(part, sizeof(part), "%s.2", path);
	write_file(part, "20\n40\n1000\n");
	assert_int_equal(samples_merge(path, 2, &samples), 0);
	assert_true(samples.p50 == 30 && samples.p99 == 1000 && samples.max == 1000);
	file = fopen(path, "r");
	assert_int_equal(fread(text, 1, sizeof(text), file), 17);
	assert_memory_equal(text, "10\n20\n30\n40\n1000\n", 17);
	fclose(file);
	assert_int_equal(access(part, F_OK), -1);
	assert_int_equal(samples_merge(path, 2, &samples), -ENOENT);
	write_file(part, "nonsense\n");
	snprintf(part, sizeof(part), "%s.1", path);
	write_file(part, "1\n");
	assert_int_equal(samples_merge(path, 2, &samples), -EBADMSG);
	unlink(part);
	snprintf(part, sizeof(part), "%s.2", path);
	unlink(part);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

static void a_timeline_is_a_line_a_sample(void **state)
{
	const struct timeline_sample sample = {
		.t_s = 1.23456,
		.step = "ramp",
		.established = 500,
		.handshakes = 20,
		.server_user_bytes = 1000,
		.server_kernel_bytes = NAN,
		.client_user_bytes = 2000,
		.client_kernel_bytes = 3000,
		.memory_available_bytes = 22e9,
	};
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(timeline_write(stream, &sample), 0);
	fclose(stream);
	assert_string_equal(text, "{\"t_s\":1.235,\"step\":\"ramp\",\"established\":500,"
				  "\"handshakes\":20,\"server_user_bytes\":1000,"
				  "\"server_kernel_bytes\":null,\"client_user_bytes\":2000,"
				  "\"client_kernel_bytes\":3000,"
				  "\"memory_available_bytes\":22000000000}\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_answer_stays_as_it_is),
		cmocka_unit_test(ramps_add_up),
		cmocka_unit_test(rates_are_of_the_whole),
		cmocka_unit_test(every_sample_is_kept),
		cmocka_unit_test(a_timeline_is_a_line_a_sample),
	};

	return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
