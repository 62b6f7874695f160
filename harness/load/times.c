// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - how long things took. */
#include "harness/load/times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/common/clock.h"

int times_init(struct times *times, uint32_t room, unsigned per_us)
{
	/* None is a number too, but malloc may say NULL to it. */
	uint32_t *ticks = calloc(room ? room : 1, sizeof(*ticks));

	*times = (struct times){.ticks = ticks, .room = ticks ? room : 0, .per_us = per_us};
	return ticks ? 0 : -ENOMEM;
}

void times_free(struct times *times)
{
	free(times->ticks);
	*times = (struct times){0};
}

void times_add(struct times *times, uint64_t ns)
{
	uint64_t ticks = ns * times->per_us / NS_PER_US;

	times->ticks[times->count++] = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

void times_append(struct times *times, const struct times *more)
{
	memcpy(times->ticks + times->count, more->ticks, more->count * sizeof(*more->ticks));
	times->count += more->count;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void times_sort(struct times *times)
{
	qsort(times->ticks, times->count, sizeof(*times->ticks), by_value);
}

static double nearest_rank(const struct times *sorted, double fraction)
{
	uint64_t rank = (uint64_t)(fraction * (double)sorted->count + 0.999999);

	if (!sorted->count)
		return 0;
	return (double)sorted->ticks[rank ? rank - 1 : 0] / sorted->per_us;
}

struct load_latency times_latency(const struct times *sorted)
{
	return (struct load_latency){
		.p50 = nearest_rank(sorted, 0.50),
		.p99 = nearest_rank(sorted, 0.99),
		.max = nearest_rank(sorted, 1.0),
	};
}

int times_write(const struct times *times, const char *file)
{
	FILE *out = fopen(file, "w");
	int decimals = times->per_us > 1, error = 0;

	if (!out)
		return -errno;
	for (uint32_t i = 0; i < times->count && !error; i++)
		if (fprintf(out, "%.*f\n", decimals, (double)times->ticks[i] / times->per_us) < 0)
			error = errno;
	if (fclose(out) && !error)
		error = errno;
	return -error;
}
