/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - what several clients answered to one command, as if one had. */
#ifndef HARNESS_BENCH_ANSWERS_H
#define HARNESS_BENCH_ANSWERS_H

#include <jansson.h>

/*
 * A new reference; of one answer that answer itself. Counts are added up, also inside of
 * `failures`, where "in" names the clients that had any, from 1. The times `seconds` and
 * `ramp_s` are those of the slowest, as is `handshake_us` (samples.h knows better), and
 * `rps` is what all did in that time. Booleans are true when one is, a text that is not the same
 * everywhere is "mixed".
 */
json_t *answers_merge(json_t *const *answers, unsigned count);

#endif
