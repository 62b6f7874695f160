/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - `parkbench doctor`: every limit, what it is, what is needed, and
 * the command that fixes it. */
#ifndef HARNESS_BENCH_DOCTOR_H
#define HARNESS_BENCH_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "harness/bench/experiment.h"

/* Without an experiment (NULL) the needs are those of C10K with every reactor and
 * backend there is. True when all is well. */
bool doctor_print(FILE *stream, const struct experiment *exp);

#endif
