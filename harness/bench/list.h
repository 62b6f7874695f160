/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - `parkbench list`: what there is to combine. */
#ifndef HARNESS_BENCH_LIST_H
#define HARNESS_BENCH_LIST_H

#include <stdio.h>

/* Reactors, TLS backends and park levels, each available or with the reason not; of reactors
 * also the kernel bytes an idle connection, predicted and as the newest run measured them. */
void list_print(FILE *stream);

/* Only the names of what is available of a kind ("reactors", "tls" or "park"), one a line. 0, or
 * -EINVAL when there is no such kind. */
int list_print_names(FILE *stream, const char *kind);

#endif
