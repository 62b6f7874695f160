/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - `parkbench list`: what there is to combine. */
#ifndef HARNESS_BENCH_LIST_H
#define HARNESS_BENCH_LIST_H

#include <stdio.h>

/* Reactors, TLS backends and park levels, each available or with the reason not. */
void list_print(FILE *stream);

#endif
