// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - what several clients answered. Library: jansson. */
#include "harness/bench/answers.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_time(const char *key)
{
	return !strcmp(key, "seconds") || !strcmp(key, "ramp_s");
}

static json_t *merge_numbers(const char *key, const json_t *a, const json_t *b, bool slowest)
{
	double x = json_number_value(a), y = json_number_value(b);

	if (slowest || is_time(key))
		return json_real(fmax(x, y));
	if (json_is_integer(a) && json_is_integer(b))
		return json_integer(json_integer_value(a) + json_integer_value(b));
	return json_real(x + y);
}

static void merge_into(json_t *sum, const json_t *answer, bool slowest);

static void merge_value(json_t *sum, const char *key, json_t *mine, json_t *value, bool slowest)
{
	if (!mine)
		json_object_set_new(sum, key, json_deep_copy(value));
	else if (json_is_object(mine) && json_is_object(value))
		merge_into(mine, value, !strcmp(key, "handshake_us"));
	else if (json_is_number(mine) && json_is_number(value))
		json_object_set_new(sum, key, merge_numbers(key, mine, value, slowest));
	else if (json_is_boolean(mine) && json_is_boolean(value))
		json_object_set_new(sum, key,
				    json_boolean(json_is_true(mine) || json_is_true(value)));
	else if (!json_equal(mine, value))
		json_object_set_new(sum, key, json_string("mixed"));
}

static void merge_into(json_t *sum, const json_t *answer, bool slowest)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)answer, key, value)
		merge_value(sum, key, json_object_get(sum, key), value, slowest);
}

/* "client 2, client 5": a failure that only some have is theirs. */
static void name_failing(json_t *sum, json_t *const *answers, unsigned count)
{
	json_t *failures = json_object_get(sum, "failures");
	char names[256] = "";
	size_t used = 0;

	for (unsigned i = 0; i < count && used < sizeof(names); i++)
		if (json_object_size(json_object_get(answers[i], "failures")))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%sclient %u",
						 used ? ", " : "", i + 1);
	if (used)
		json_object_set_new(failures, "in", json_string(names));
}

json_t *answers_merge(json_t *const *answers, unsigned count)
{
	json_t *sum, *ok, *seconds;

	if (count == 1)
		return json_incref(answers[0]);
	sum = json_object();
	for (unsigned i = 0; i < count; i++)
		merge_into(sum, answers[i], false);
	name_failing(sum, answers, count);
	ok = json_object_get(sum, "ok");
	seconds = json_object_get(sum, "seconds");
	if (json_object_get(sum, "rps") && ok && json_number_value(seconds) > 0)
		json_object_set_new(sum, "rps",
				    json_real(json_number_value(ok) / json_number_value(seconds)));
	return sum;
}
