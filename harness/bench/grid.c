// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - what the tables share. */
#include "harness/bench/grid.h"

#include <math.h>
#include <string.h>

#include "harness/bench/result.h"
#include "harness/measure/stats.h"

#define COLUMNS_MAX 32

const char *row_text(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "?";
}

double row_number(const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

bool row_passed(const json_t *row)
{
	return !strcmp(row_text(row, "verdict"), verdict_names[VERDICT_PASS]);
}

bool row_same(const json_t *a, const json_t *b, const char *key)
{
	return json_equal(json_object_get(a, key), json_object_get(b, key));
}

void grid_figure(char text[GRID_TEXT], int decimals, bool range, const double *sorted, size_t count)
{
	if (count == 0)
		snprintf(text, GRID_TEXT, "-");
	else if (range && count > 1)
		snprintf(text, GRID_TEXT, "%.*f (%.*f-%.*f)", decimals, stats_median(sorted, count),
			 decimals, stats_min(sorted, count), decimals, stats_max(sorted, count));
	else
		snprintf(text, GRID_TEXT, "%.*f", decimals, stats_median(sorted, count));
}

size_t grid_dimensions(char (*texts)[GRID_TEXT], const json_t *row, const bool varying[DIMENSIONS])
{
	size_t many = 0;

	for (int d = 0; d < DIMENSIONS; d++) {
		if (!varying[d])
			continue;
		if (row)
			dimensions_text(row, d, texts[many++], GRID_TEXT);
		else
			snprintf(texts[many++], GRID_TEXT, "%s", dimensions[d].title);
	}
	return many;
}

void grid_print(FILE *stream, char (*texts)[GRID_TEXT], size_t rows, size_t columns, size_t left)
{
	size_t width[COLUMNS_MAX] = {0};

	for (size_t i = 0; i < rows * columns; i++)
		if (strlen(texts[i]) > width[i % columns])
			width[i % columns] = strlen(texts[i]);
	for (size_t r = 0; r < rows; r++) {
		char(*row)[GRID_TEXT] = texts + r * columns;

		for (size_t c = 0; c < columns && *row[0]; c++)
			fprintf(stream, "%s%*s", c ? "  " : "",
				c < left ? -(int)width[c] : (int)width[c], row[c]);
		fprintf(stream, "\n");
	}
}
