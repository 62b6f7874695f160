// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - results/claims.json. Library: jansson, whose json_unpack refuses what it does
 * not know. */
#include "harness/bench/claims.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const claim_rule_names[CLAIM_RULES] = {
	[CLAIM_RELATIVE] = "relative",
	[CLAIM_AT_MOST] = "at_most",
	[CLAIM_AT_LEAST] = "at_least",
};

/* What is read before it is put in its place. */
struct raw {
	const char *rule;
	const char *over_cell;
	const char *minus_cell;
	const json_t *tolerance;
	const json_t *limit;
	json_t *theirs;
	int slope;
};

__attribute__((format(printf, 3, 4))) static int refuse(char *why, size_t size, const char *format,
							...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
	return -EINVAL;
}

static int read_theirs(struct claim *claim, json_t *object, char *why, size_t size)
{
	struct claim_theirs *theirs = &claim->theirs;
	json_error_t error;

	theirs->value = NAN;
	if (!object)
		return 0;
	if (json_unpack_ex(object, &error, JSON_STRICT, "{s:s, s:s, s:s, s:F}", "source",
			   &theirs->source, "row", &theirs->row, "field", &theirs->field, "value",
			   &theirs->value))
		return refuse(why, size, "theirs: %s", error.text);
	return 0;
}

/* A relative claim has a tolerance, the others a limit, which may be theirs. */
static int read_bound(struct claim *claim, const struct raw *raw, char *why, size_t size)
{
	const json_t *bound = claim->rule == CLAIM_RELATIVE ? raw->tolerance : raw->limit;
	const json_t *other = claim->rule == CLAIM_RELATIVE ? raw->limit : raw->tolerance;
	const char *text = json_string_value(bound);

	if (!bound || other)
		return refuse(why, size, "compare is %s: give a %s, and nothing else", raw->rule,
			      claim->rule == CLAIM_RELATIVE ? "tolerance" : "limit");
	if (json_is_number(bound))
		claim->bound = json_number_value(bound);
	else if (claim->rule != CLAIM_RELATIVE && text && !strcmp(text, "theirs") &&
		 claim->theirs.source)
		claim->bound = claim->theirs.value;
	else
		return refuse(why, size, "the %s must be a number%s",
			      claim->rule == CLAIM_RELATIVE ? "tolerance" : "limit",
			      claim->rule == CLAIM_RELATIVE ? "" : " or \"theirs\"");
	if (claim->rule == CLAIM_RELATIVE && !(claim->bound > 0 && claim->bound < 1))
		return refuse(why, size, "the tolerance must be above 0 and below 1");
	return 0;
}

static int read_rest(struct claim *claim, const struct raw *raw, char *why, size_t size)
{
	int rule = 0;

	while (rule < CLAIM_RULES && strcmp(claim_rule_names[rule], raw->rule))
		rule++;
	if (rule == CLAIM_RULES)
		return refuse(why, size, "compare is \"%s\"; there are relative, at_most, at_least",
			      raw->rule);
	if (raw->over_cell && raw->minus_cell)
		return refuse(why, size, "over_cell and minus_cell exclude each other");
	if (claim->where && !json_is_object(claim->where))
		return refuse(why, size, "where must be an object");
	claim->rule = rule;
	claim->slope = raw->slope;
	claim->pair = raw->over_cell ? CLAIM_OVER : raw->minus_cell ? CLAIM_MINUS : CLAIM_ALONE;
	claim->other_cell = raw->over_cell ? raw->over_cell : raw->minus_cell;
	if (read_theirs(claim, raw->theirs, why, size))
		return -EINVAL;
	return read_bound(claim, raw, why, size);
}

static int read_claim(struct claim *claim, json_t *object, char *why, size_t size)
{
	struct raw raw = {0};
	json_error_t error;

	*claim = (struct claim){0};
	if (json_unpack_ex(object, &error, JSON_STRICT,
			   "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s,"
			   " s?o, s?s, s?s, s?b, s?s, s?s, s?o, s?o, s?o}",
			   "id", &claim->id, "claim", &claim->sentence, "scale", &claim->scale,
			   "experiment", &claim->experiment, "figure", &claim->figure, "cell",
			   &claim->cell, "field", &claim->field, "unit", &claim->unit, "compare",
			   &raw.rule, "where", &claim->where, "plus", &claim->plus, "over",
			   &claim->over, "slope", &raw.slope, "over_cell", &raw.over_cell,
			   "minus_cell", &raw.minus_cell, "tolerance", &raw.tolerance, "limit",
			   &raw.limit, "theirs", &raw.theirs))
		return refuse(why, size, "%s", error.text);
	return read_rest(claim, &raw, why, size);
}

static bool is_twice(const struct claims *claims, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(claims->claim[i].id, claims->claim[index].id))
			return true;
	return false;
}

static int read_claims(struct claims *claims, json_t *array, const char *path, char *error,
		       size_t error_size)
{
	char why[512];

	claims->claim = calloc(json_array_size(array) + 1, sizeof(*claims->claim));
	if (!claims->claim)
		return refuse(error, error_size, "%s: out of memory", path);
	for (size_t i = 0; i < json_array_size(array); i++) {
		json_t *object = json_array_get(array, i);
		const char *id = json_string_value(json_object_get(object, "id"));
		int ret = read_claim(&claims->claim[i], object, why, sizeof(why));

		if (!ret && is_twice(claims, i))
			ret = refuse(why, sizeof(why), "another claim has this id");
		if (ret)
			return refuse(error, error_size, "%s: claim %zu (%s): %s", path, i + 1,
				      id ? id : "no id", why);
		claims->count++;
	}
	return 0;
}

int claims_load(struct claims *claims, const char *path, char *error, size_t error_size)
{
	json_t *array, *experiments;
	json_error_t why;
	int schema, ret;

	*claims = (struct claims){0};
	claims->root = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
	if (!claims->root)
		return refuse(error, error_size, why.line > 0 ? "%s: line %d: %s" : "%s: %.0d%s",
			      path, why.line > 0 ? why.line : 0, why.text);
	if (json_unpack_ex(claims->root, &why, JSON_STRICT, "{s:i, s:s, s:o, s:o}", "schema",
			   &schema, "published", &claims->published, "experiments", &experiments,
			   "claims", &array))
		ret = refuse(error, error_size, "%s: %s", path, why.text);
	else if (schema != 1 || !json_is_array(array) || !json_is_object(experiments))
		ret = refuse(error, error_size,
			     "%s: schema must be 1, claims an array, experiments an object", path);
	else
		ret = read_claims(claims, array, path, error, error_size);
	if (ret)
		claims_free(claims);
	return ret;
}

void claims_free(struct claims *claims)
{
	json_decref(claims->root);
	free(claims->claim);
	*claims = (struct claims){0};
}

const char *claims_published(const struct claims *claims, const char *experiment)
{
	const json_t *object =
		json_object_get(json_object_get(claims->root, "experiments"), experiment);
	const char *own = json_string_value(json_object_get(object, "published"));

	return own ? own : claims->published;
}

bool claims_effort(const struct claims *claims, const char *experiment, struct claim_effort *effort)
{
	json_t *object = json_object_get(json_object_get(claims->root, "experiments"), experiment);

	return object && !json_unpack(object, "{s:F, s:F}", "minutes", &effort->minutes,
				      "memory_gib", &effort->memory_gib);
}
