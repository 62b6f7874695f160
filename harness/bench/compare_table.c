// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the table of `parkbench compare`. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/compare.h"
#include "harness/bench/grid.h"
#include "harness/bench/rundir.h"
#include "harness/measure/text_file.h"

#define UNUSABLE 2

enum {
	COLUMN_ID,
	COLUMN_CLAIM,
	COLUMN_THEIRS,
	COLUMN_PUBLISHED,
	COLUMN_NOW,
	COLUMN_DIFFERENCE,
	COLUMN_TOLERANCE,
	COLUMN_VERDICT,
	COLUMNS
};

static const char *const titles[COLUMNS] = {
	"id", "claim", "theirs", "published", "now", "difference", "tolerance", "verdict",
};
static const char *const verdict_texts[] = {
	[COMPARE_HOLDS] = "holds",
	[COMPARE_DIFFERS] = "DIFFERS",
	[COMPARE_CANNOT] = "can not be compared",
};

/* Three digits or more. */
static void print_figure(char *text, double number, const char *unit)
{
	double size = fabs(number);

	if (isnan(number))
		snprintf(text, GRID_TEXT, "-");
	else
		snprintf(text, GRID_TEXT, "%.*f%s%s",
			 number == round(number) ? 0
			 : size < 10             ? 2
			 : size < 100            ? 1
						 : 0,
			 number, *unit ? " " : "", unit);
}

static void print_row(char (*row)[GRID_TEXT], const struct comparison *comparison)
{
	const struct claim *claim = comparison->claim;

	snprintf(row[COLUMN_ID], GRID_TEXT, "%s", claim->id);
	snprintf(row[COLUMN_CLAIM], GRID_TEXT, "%s", claim->sentence);
	print_figure(row[COLUMN_THEIRS], claim->theirs.value, claim->unit);
	print_figure(row[COLUMN_PUBLISHED], comparison->published.number, claim->unit);
	print_figure(row[COLUMN_NOW], comparison->now.number, claim->unit);
	if (isnan(comparison->difference))
		snprintf(row[COLUMN_DIFFERENCE], GRID_TEXT, "-");
	else
		snprintf(row[COLUMN_DIFFERENCE], GRID_TEXT, "%+.1f %%",
			 100 * comparison->difference);
	if (claim->rule == CLAIM_RELATIVE)
		snprintf(row[COLUMN_TOLERANCE], GRID_TEXT, "%g %%", 100 * claim->bound);
	else
		snprintf(row[COLUMN_TOLERANCE], GRID_TEXT, "%s %.12g",
			 claim->rule == CLAIM_AT_MOST ? "at most" : "at least", claim->bound);
	snprintf(row[COLUMN_VERDICT], GRID_TEXT, "%s", verdict_texts[comparison->verdict]);
}

static bool is_same_row(const struct claim_theirs *a, const struct claim_theirs *b)
{
	return b->source && !strcmp(a->source, b->source) && !strcmp(a->row, b->row);
}

/* Where theirs come from, each row once. */
static void print_sources(FILE *stream, const char *dir, const struct comparison *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct claim_theirs *theirs = &all[i].claim->theirs;
		size_t before = 0;

		while (theirs->source && before < i &&
		       !is_same_row(theirs, &all[before].claim->theirs))
			before++;
		if (theirs->source && before == i)
			fprintf(stream, "theirs: %s/%s, row %s\n", dir, theirs->source,
				theirs->row);
	}
}

static size_t print_verdicts(FILE *stream, const struct comparison *all, size_t count)
{
	size_t of[3] = {0};

	for (size_t i = 0; i < count; i++) {
		of[all[i].verdict]++;
		if (all[i].verdict != COMPARE_HOLDS)
			fprintf(stream, "%s: %s: %s\n", verdict_texts[all[i].verdict],
				all[i].claim->id, all[i].reason);
	}
	fprintf(stream, "\n%zu claims: %zu hold, %zu differ, %zu can not be compared\n", count,
		of[COMPARE_HOLDS], of[COMPARE_DIFFERS], of[COMPARE_CANNOT]);
	return of[COMPARE_DIFFERS];
}

static int print_table(FILE *stream, const char *dir, const struct comparison *all, size_t count)
{
	char(*texts)[COLUMNS][GRID_TEXT] = calloc(count + 1, sizeof(*texts));

	if (!texts)
		return -ENOMEM;
	for (int c = 0; c < COLUMNS; c++)
		strcpy(texts[0][c], titles[c]);
	for (size_t i = 0; i < count; i++)
		print_row(texts[i + 1], &all[i]);
	grid_print(stream, texts[0], count + 1, COLUMNS, 2);
	fprintf(stream, "\nboth sides: medians of the repeats that passed\n");
	print_sources(stream, dir, all, count);
	free(texts);
	return 0;
}

/* Of the claims of one experiment. */
static int compare_all(FILE *stream, const struct claims *claims, const char *experiment,
		       const struct compare_source *source)
{
	struct comparison *all = calloc(claims->count + 1, sizeof(*all));
	size_t count = 0;
	int status = UNUSABLE;

	if (!all)
		return UNUSABLE;
	for (size_t i = 0; i < claims->count; i++)
		if (!strcmp(claims->claim[i].experiment, experiment))
			compare_claim(&claims->claim[i], source, &all[count++]);
	if (!print_table(stream, source->published_dir, all, count))
		status = print_verdicts(stream, all, count) ? 1 : 0;
	free(all);
	return status;
}

static size_t count_claims(const struct claims *claims, const char *experiment)
{
	size_t count = 0;

	for (size_t i = 0; i < claims->count; i++)
		count += !strcmp(claims->claim[i].experiment, experiment);
	return count;
}

static int no_claims(const struct compare_options *options, const char *experiment, char *error,
		     size_t size)
{
	snprintf(error, size, "%s: no claim is of experiment %s", options->claims, experiment);
	return UNUSABLE;
}

/* Both runs are read, ours need not be there. */
static int compare_run(FILE *stream, const struct compare_options *options,
		       const struct claims *claims, const char *run, const char *experiment,
		       char *error, size_t error_size)
{
	char published_cells[PATH_MAX], run_cells[PATH_MAX], dir[PATH_MAX];
	struct compare_source source = {options->published, published_cells, NULL, run_cells, NULL};
	json_t *published = NULL, *lines = NULL;
	int status = UNUSABLE;

	if (text_format(dir, sizeof(dir), "%s/%s/%s", options->published,
			claims_published(claims, experiment), experiment) ||
	    text_format(published_cells, sizeof(published_cells), "%s/cells.jsonl", dir) ||
	    text_format(run_cells, sizeof(run_cells), "%s/cells.jsonl", run))
		snprintf(error, error_size, "%s: the path is too long", options->published);
	else if (access(options->published, R_OK | X_OK))
		snprintf(error, error_size, "%s: %s", options->published, strerror(errno));
	else if (!rundir_load(run, &lines, error, error_size) &&
		 (access(published_cells, F_OK) ||
		  !rundir_load(dir, &published, error, error_size))) {
		source.published = published;
		source.run = lines;
		status = compare_all(stream, claims, experiment, &source);
	}
	json_decref(published);
	json_decref(lines);
	return status;
}

static int find_and_compare(FILE *stream, const struct compare_options *options,
			    const struct claims *claims, char *error, size_t error_size)
{
	char run[PATH_MAX], experiment[64];

	if (rundir_find(options->run, run, sizeof(run), error, error_size) ||
	    rundir_experiment(run, experiment, sizeof(experiment), error, error_size))
		return UNUSABLE;
	if (!count_claims(claims, experiment))
		return no_claims(options, experiment, error, error_size);
	return compare_run(stream, options, claims, run, experiment, error, error_size);
}

/* What make reproduce says before it starts. */
static int print_about(FILE *stream, const struct compare_options *options,
		       const struct claims *claims, char *error, size_t error_size)
{
	size_t count = count_claims(claims, options->about);
	struct claim_effort effort;

	if (!count || !claims_effort(claims, options->about, &effort))
		return no_claims(options, options->about, error, error_size);
	fprintf(stream,
		"%s: %zu claims; a run takes about %.0f minutes and %.1f GiB of memory (%s)\n",
		options->about, count, effort.minutes, effort.memory_gib,
		claims_published(claims, options->about));
	return 0;
}

int compare_print(FILE *stream, const struct compare_options *options, char *error,
		  size_t error_size)
{
	struct claims claims;
	int status;

	if (claims_load(&claims, options->claims, error, error_size))
		return UNUSABLE;
	if (options->about)
		status = print_about(stream, options, &claims, error, error_size);
	else
		status = find_and_compare(stream, options, &claims, error, error_size);
	claims_free(&claims);
	return status;
}
