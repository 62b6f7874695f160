// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - kernel bytes of idle connections in the runs there are. Source: glob(3). */
#include "harness/bench/measured.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/bench/dimensions.h"
#include "harness/bench/grid.h"
#include "harness/bench/rundir.h"
#include "harness/measure/stats.h"
#include "harness/measure/text_file.h"

#define SUFFIX "+plain+shed"

static bool is_cell(const json_t *row, const char *reactor)
{
	const char *cell = row_text(row, "cell");
	size_t len = strlen(reactor);

	return !strncmp(cell, reactor, len) && !strcmp(cell + len, SUFFIX) && row_passed(row);
}

/* The median of the cells in the same dimensions that passed; NAN without any. */
static double median_of(const json_t *lines, const char *reactor, const json_t *like,
			const char *key, double *values)
{
	size_t index, count = 0;
	const json_t *row;

	json_array_foreach((json_t *)lines, index, row)
	{
		double value = row_number(json_object_get(row, "memory"), key);

		if (is_cell(row, reactor) && !dimensions_compare(row, like) && isfinite(value))
			values[count++] = value;
	}
	stats_sort(values, count);
	return stats_median(values, count);
}

double measured_kernel_conn_bytes(const json_t *lines, const char *reactor)
{
	static const char *const keys[] = {"kernel_bytes_per_conn", "slab_bytes_per_conn"};
	double *values = calloc(json_array_size(lines) + 1, sizeof(*values)), most = NAN;
	size_t index;
	const json_t *row;

	if (!values)
		return NAN;
	json_array_foreach((json_t *)lines, index, row)
	{
		if (!is_cell(row, reactor))
			continue;
		for (int k = 0; k < 2; k++)
			most = fmax(most, median_of(lines, reactor, row, keys[k], values) -
						  median_of(lines, MEASURED_REFERENCE, row, keys[k],
							    values));
		break;
	}
	free(values);
	return most;
}

static void read_date(struct measured_run *run)
{
	char file[PATH_MAX];
	json_t *manifest = NULL;
	const char *date;

	*run->date = '\0';
	if (!text_format(file, sizeof(file), "%s/manifest.json", run->path))
		manifest = json_load_file(file, 0, NULL);
	date = json_string_value(json_object_get(manifest, "date"));
	if (date)
		snprintf(run->date, sizeof(run->date), "%s", date);
	json_decref(manifest);
}

/* Adds the run of a cells.jsonl, unless it can not be read or is reached by a link. */
static void add_run(struct measured *measured, const char *cells)
{
	struct measured_run *run = &measured->runs[measured->count];
	char error[512];
	struct stat stat;

	if (text_format(run->path, sizeof(run->path), "%.*s", (int)(strrchr(cells, '/') - cells),
			cells) ||
	    lstat(run->path, &stat) || S_ISLNK(stat.st_mode) ||
	    rundir_load(run->path, &run->lines, error, sizeof(error)))
		return;
	read_date(run);
	measured->count++;
}

/* ISO 8601 in UTC: the order of the text is that of time. */
static int newest_first(const void *a, const void *b)
{
	return strcmp(((const struct measured_run *)b)->date,
		      ((const struct measured_run *)a)->date);
}

static int add_place(struct measured *measured, const char *place, const char *below)
{
	size_t before = measured->count;
	struct measured_run *more;
	char pattern[PATH_MAX];
	glob_t found = {0};

	if (text_format(pattern, sizeof(pattern), "%s%s/cells.jsonl", place, below) ||
	    glob(pattern, GLOB_BRACE, NULL, &found)) {
		globfree(&found);
		return 0;
	}
	more = reallocarray(measured->runs, before + found.gl_pathc, sizeof(*more));
	if (more) {
		measured->runs = more;
		for (size_t i = 0; i < found.gl_pathc; i++)
			add_run(measured, found.gl_pathv[i]);
		qsort(more + before, measured->count - before, sizeof(*more), newest_first);
	}
	globfree(&found);
	return more ? 0 : -ENOMEM;
}

int measured_load(struct measured *measured, const char *local, const char *published)
{
	int ret;

	*measured = (struct measured){0};
	ret = add_place(measured, local, "/*");
	if (!ret)
		ret = add_place(measured, published, "/*{,/*}");
	return ret;
}

void measured_free(struct measured *measured)
{
	for (size_t i = 0; i < measured->count; i++)
		json_decref(measured->runs[i].lines);
	free(measured->runs);
	*measured = (struct measured){0};
}

const struct measured_run *measured_find(const struct measured *measured, const char *reactor,
					 double *bytes)
{
	for (size_t i = 0; i < measured->count; i++) {
		*bytes = measured_kernel_conn_bytes(measured->runs[i].lines, reactor);
		if (!isnan(*bytes))
			return &measured->runs[i];
	}
	return NULL;
}
