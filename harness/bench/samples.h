/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - the handshake times of several clients in one file: each kept, and the
 * percentiles over all of them. The format is that of parkbench-load --samples: microseconds, one a
 * line. */
#ifndef HARNESS_BENCH_SAMPLES_H
#define HARNESS_BENCH_SAMPLES_H

struct samples {
	double p50, p99, max; /* microseconds; NAN: there are none */
};

/*
 * Merges <path>.1 to <path>.<count> into `path`, sorted, and removes them. 0, or a negative
 * errno: -EBADMSG for a line that is no number.
 */
int samples_merge(const char *path, unsigned count, struct samples *samples);

#endif
