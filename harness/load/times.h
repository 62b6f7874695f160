/* SPDX-License-Identifier: Apache-2.0 */
/* harness/load/ - how long things took: every time is kept, and told by percentiles. */
#ifndef HARNESS_LOAD_TIMES_H
#define HARNESS_LOAD_TIMES_H

#include <stdint.h>

/* Percentiles in microseconds, by nearest rank; 0 where there are no times. */
struct load_latency {
	double p50, p99, max;
};

struct times {
	uint32_t *ticks; /* owned: `room` of them, 4 bytes each */
	uint32_t count;
	uint32_t room;
	unsigned per_us; /* ticks a microsecond */
};

/* Makes room for so many. 0, or -ENOMEM: then there is room for none. */
int times_init(struct times *times, uint32_t room, unsigned per_us);
/* Of zeroed ones as well. */
void times_free(struct times *times);
/* There must be room; what the ticks can not hold (an hour at one a microsecond) is the most that
 * they can. */
void times_add(struct times *times, uint64_t ns);
/* All of `more`, which has the same unit and for which there must be room. */
void times_append(struct times *times, const struct times *more);
void times_sort(struct times *times);
/* Of sorted times. */
struct load_latency times_latency(const struct times *sorted);
/* In microseconds, one a line, with as many decimals as they have. 0, or a negative errno. */
int times_write(const struct times *times, const char *file);

#endif
