// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - whether a claim holds. */
#include "harness/bench/compare.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "harness/bench/grid.h"
#include "harness/measure/text_file.h"

__attribute__((format(printf, 3, 4))) static void
judge(struct comparison *comparison, enum compare_verdict verdict, const char *format, ...)
{
	va_list args;

	comparison->verdict = verdict;
	va_start(args, format);
	vsnprintf(comparison->reason, sizeof(comparison->reason), format, args);
	va_end(args);
}

/* Theirs as the source has it; NAN where it has not. */
static double theirs_in(const json_t *source, const struct claim_theirs *theirs)
{
	size_t index;
	const json_t *row;

	json_array_foreach(json_object_get(source, "results"), index, row)
	{
		if (!strcmp(row_text(row, "name"), theirs->row))
			return claim_value_at(row, theirs->field);
	}
	return NAN;
}

/* The claim cites a figure: the source must have it. */
static void check_theirs(struct comparison *comparison, const char *dir)
{
	const struct claim_theirs *theirs = &comparison->claim->theirs;
	char path[PATH_MAX];
	json_error_t why;
	json_t *source;
	double value;

	if (!theirs->source)
		return;
	if (text_format(path, sizeof(path), "%s/%s", dir, theirs->source))
		return;
	source = json_load_file(path, 0, &why);
	value = theirs_in(source, theirs);
	if (!source)
		judge(comparison, COMPARE_DIFFERS, "theirs: %s: %s", path, why.text);
	else if (isnan(value))
		judge(comparison, COMPARE_DIFFERS, "theirs: %s: row %s has no number %s", path,
		      theirs->row, theirs->field);
	else if (value != theirs->value)
		judge(comparison, COMPARE_DIFFERS,
		      "theirs: %s: row %s, %s is %.12g, but the claim cites %.12g", path,
		      theirs->row, theirs->field, value, theirs->value);
	json_decref(source);
}

/* Whether both figures are there; else says why not. */
static bool both_known(struct comparison *comparison, const struct compare_source *source)
{
	const struct claim_value *published = &comparison->published, *now = &comparison->now;

	if (!source->published)
		judge(comparison, COMPARE_CANNOT, "not published: there is no %s",
		      source->published_cells);
	else if (published->state != VALUE_KNOWN)
		judge(comparison,
		      published->state == VALUE_FAILED ? COMPARE_DIFFERS : COMPARE_CANNOT,
		      "not published: %s: %s", source->published_cells, published->reason);
	else if (now->state == VALUE_FAILED)
		judge(comparison, COMPARE_DIFFERS, "%s: %s", source->run_cells, now->reason);
	else if (now->state == VALUE_SKIPPED)
		judge(comparison, COMPARE_CANNOT, "skipped here: %s", now->reason);
	else if (now->state == VALUE_INVALID)
		judge(comparison, COMPARE_CANNOT, "invalid here: %s", now->reason);
	else if (now->state == VALUE_NO_CELL)
		judge(comparison, COMPARE_CANNOT, "not run here: %s", now->reason);
	else if (now->state == VALUE_MISSING)
		judge(comparison, COMPARE_CANNOT, "not measured here: %s", now->reason);
	return published->state == VALUE_KNOWN && now->state == VALUE_KNOWN;
}

/* "cell a, b + c / d against cell e": where to look. */
static void print_place(const struct claim *claim, char *text, size_t size)
{
	snprintf(text, size, "cell %s, %s%s%s%s%s%s%s%s", claim->cell,
		 claim->slope ? "slope of " : "", claim->field, claim->plus ? " + " : "",
		 claim->plus ? claim->plus : "", claim->over ? " / " : "",
		 claim->over ? claim->over : "",
		 claim->pair == CLAIM_OVER    ? " over that of cell "
		 : claim->pair == CLAIM_MINUS ? " less that of cell "
					      : "",
		 claim->other_cell ? claim->other_cell : "");
}

static void judge_relative(struct comparison *comparison, const struct compare_source *source)
{
	double published = comparison->published.number, now = comparison->now.number;
	char place[512];

	print_place(comparison->claim, place, sizeof(place));
	if (published == 0 && now != 0)
		judge(comparison, COMPARE_CANNOT, "%s: %s is 0: a part of it says nothing",
		      source->published_cells, place);
	else if (published != 0 && fabs(comparison->difference) > comparison->claim->bound)
		judge(comparison, COMPARE_DIFFERS,
		      "%s: %.6g in %s, %.6g in %s, %+.1f %%, more than %.6g %%", place, published,
		      source->published_cells, now, source->run_cells, 100 * comparison->difference,
		      100 * comparison->claim->bound);
}

static bool is_beyond(const struct claim *claim, double number)
{
	return claim->rule == CLAIM_AT_MOST ? number > claim->bound : number < claim->bound;
}

static void judge_limit(struct comparison *comparison, const struct compare_source *source)
{
	const struct claim *claim = comparison->claim;
	bool ours = is_beyond(claim, comparison->published.number);
	char place[512];

	if (!ours && !is_beyond(claim, comparison->now.number))
		return;
	print_place(claim, place, sizeof(place));
	judge(comparison, COMPARE_DIFFERS, "%s: %.6g in %s, %.6g in %s, the limit is %.12g %s",
	      place, comparison->published.number, source->published_cells, comparison->now.number,
	      source->run_cells, claim->bound,
	      claim->rule == CLAIM_AT_MOST ? "at most" : "at least");
}

void compare_claim(const struct claim *claim, const struct compare_source *source,
		   struct comparison *comparison)
{
	*comparison = (struct comparison){
		.claim = claim,
		.published = {.state = VALUE_NO_CELL, .number = NAN},
		.verdict = COMPARE_HOLDS,
	};
	if (source->published)
		claim_value_find(claim, source->published, &comparison->published);
	claim_value_find(claim, source->run, &comparison->now);
	comparison->difference =
		comparison->published.number == 0
			? NAN
			: comparison->now.number / comparison->published.number - 1;
	if (both_known(comparison, source)) {
		if (claim->rule == CLAIM_RELATIVE)
			judge_relative(comparison, source);
		else
			judge_limit(comparison, source);
	}
	/* Last, as a wrong citation is wrong whatever we measured. */
	check_theirs(comparison, source->published_dir);
}
