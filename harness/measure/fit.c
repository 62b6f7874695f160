// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - a straight line through points by least squares. */
#include "harness/measure/fit.h"

#include <math.h>

struct means {
	double x;
	double y;
	size_t count;
};

static struct means find_means(const struct fit_point *points, size_t count)
{
	struct means means = {0};

	for (size_t i = 0; i < count; i++) {
		if (isnan(points[i].y))
			continue;
		means.x += points[i].x;
		means.y += points[i].y;
		means.count++;
	}
	means.x /= (double)means.count;
	means.y /= (double)means.count;
	return means;
}

/* The sum of the squares of what the line misses. */
static double residual(const struct fit *fit, const struct fit_point *points, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		double miss = points[i].y - fit->intercept - fit->slope * points[i].x;

		if (!isnan(miss))
			sum += miss * miss;
	}
	return sum;
}

struct fit fit_line(const struct fit_point *points, size_t count)
{
	struct means means = find_means(points, count);
	struct fit fit = {NAN, NAN, NAN, means.count};
	double xx = 0, xy = 0;

	/* About the means: x goes to a million and y to 1e10, whose squares would drown the
	 * differences. */
	for (size_t i = 0; i < count; i++) {
		if (isnan(points[i].y))
			continue;
		xx += (points[i].x - means.x) * (points[i].x - means.x);
		xy += (points[i].x - means.x) * (points[i].y - means.y);
	}
	if (!(xx > 0))
		return fit;
	fit.slope = xy / xx;
	fit.intercept = means.y - fit.slope * means.x;
	if (means.count > 2)
		fit.slope_error =
			sqrt(residual(&fit, points, count) / (double)(means.count - 2) / xx);
	return fit;
}
