/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/measure/ - a straight line through points by least squares. Source: any textbook,
 * e.g. Draper and Smith, Applied Regression Analysis, chapter 1.
 */
#ifndef HARNESS_MEASURE_FIT_H
#define HARNESS_MEASURE_FIT_H

#include <stddef.h>

struct fit_point {
	double x;
	double y;
};

struct fit {
	double slope;       /* NAN: there are not two different x */
	double intercept;   /* likewise */
	double slope_error; /* its standard error; NAN with two points, which any line meets */
	size_t count;       /* of the points that were taken */
};

/* Points whose y is NAN are left out. All others weigh the same. */
struct fit fit_line(const struct fit_point *points, size_t count);

#endif
