/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - kernel bytes that an idle connection takes beyond its socket, as
 * runs have measured them: the median of the cells <reactor>+plain+shed that passed,
 * minus that of poll+plain+shed in the same run with as many connections. The poll
 * reactor keeps nothing in the kernel while a connection is idle, so that its cell
 * shows the socket alone. The larger of two figures counts, as each is blind for
 * something: kernel_bytes_per_conn for what the kernel charges to no memory cgroup,
 * slab_bytes_per_conn for what is no object of a slab cache (stacks, page tables).
 */
#ifndef HARNESS_BENCH_MEASURED_H
#define HARNESS_BENCH_MEASURED_H

#include <jansson.h>
#include <limits.h>
#include <stddef.h>

#define MEASURED_REFERENCE "poll"

/* One run; the lines are owned. */
struct measured_run {
	char path[PATH_MAX];
	char date[32]; /* of its manifest; empty without one */
	json_t *lines;
};

/* Made by measured_load, ended by measured_free; newest first, local before published. */
struct measured {
	struct measured_run *runs; /* owned */
	size_t count;
};

/* Of these lines; NAN when they do not tell. */
double measured_kernel_conn_bytes(const json_t *lines, const char *reactor);

/*
 * The runs directly below `local`, and up to two levels below `published`. What can not
 * be read is left out: `parkbench show` says what is wrong with it. 0 or -ENOMEM.
 */
int measured_load(struct measured *measured, const char *local, const char *published);
void measured_free(struct measured *measured);

/* The newest run that tells, and its figure in *bytes; NULL when none does. */
const struct measured_run *measured_find(const struct measured *measured, const char *reactor,
					 double *bytes);

#endif
