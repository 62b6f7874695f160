// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - median, range and percentiles. */
#include "harness/measure/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

void stats_sort(double *values, size_t count)
{
	if (count)
		qsort(values, count, sizeof(*values), compare);
}

double stats_min(const double *sorted, size_t count)
{
	return count ? sorted[0] : NAN;
}

double stats_max(const double *sorted, size_t count)
{
	return count ? sorted[count - 1] : NAN;
}

double stats_median(const double *sorted, size_t count)
{
	if (!count)
		return NAN;
	if (count % 2)
		return sorted[count / 2];
	return (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* ceil() of libm is not worth a library for one rank. */
static size_t round_up(double value)
{
	size_t whole = (size_t)value;

	return whole + ((double)whole < value);
}

double stats_percentile(const double *sorted, size_t count, double percent)
{
	if (!count)
		return NAN;
	if (percent <= 0)
		return sorted[0];
	if (percent >= 100)
		return sorted[count - 1];
	/* percent * count first: 7 % of 100 is then exactly 7, not 7.000000000000001. */
	size_t rank = round_up(percent * (double)count / 100);
	return sorted[rank ? rank - 1 : 0];
}
