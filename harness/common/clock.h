/* SPDX-License-Identifier: Apache-2.0 */
/* harness/common/ - the one clock: CLOCK_MONOTONIC in nanoseconds. */
#ifndef HARNESS_COMMON_CLOCK_H
#define HARNESS_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull
#define NS_PER_US 1000ull
#define NS_NEVER UINT64_MAX

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
