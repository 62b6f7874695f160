/* SPDX-License-Identifier: Apache-2.0 */
/* harness/measure/ - median, range and percentiles of repeats and of handshake latencies. */
#ifndef HARNESS_MEASURE_STATS_H
#define HARNESS_MEASURE_STATS_H

#include <stddef.h>

/* Sorts ascending, in place. The other functions take sorted values. No NaN may be among them. */
void stats_sort(double *values, size_t count);

/* Of sorted values; NAN when there are none. The median of an even number is the middle two's mean.
 */
double stats_min(const double *sorted, size_t count);
double stats_max(const double *sorted, size_t count);
double stats_median(const double *sorted, size_t count);

/*
 * Nearest rank: the smallest value that at least `percent` of the values do not
 * exceed, always one of the values. percent is held to 0..100.
 */
double stats_percentile(const double *sorted, size_t count, double percent);

#endif
