/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - the janitor: a small process that outlives parkbench by a moment
 * and removes what a cell leaves when parkbench is killed with SIGKILL, which no
 * handler can. It waits for the end of a pipe that only parkbench holds open.
 */
#ifndef HARNESS_BENCH_JANITOR_H
#define HARNESS_BENCH_JANITOR_H

#include <sys/types.h>

#include "harness/measure/kernel_memory.h"

#define JANITOR_METERS 2

/* What there is to remove at the moment; plain values, sent as they are. */
struct janitor_order {
	pid_t group;                                /* the cell's process group; 0: none */
	struct kernel_meter meters[JANITOR_METERS]; /* method none: nothing to remove */
};

struct janitor {
	pid_t pid;
	int pipe; /* close it in every process that is forked */
};

/* 0 or a negative errno. */
int janitor_start(struct janitor *janitor);
/* Replaces the order before. An empty one when the cell is gone. */
int janitor_tell(struct janitor *janitor, const struct janitor_order *order);
/* Lets it end and waits for it. What the last order names is removed. */
void janitor_end(struct janitor *janitor);

/* Ends every process of the order and removes its memory groups. Also what
 * parkbench itself does after each cell. 0, or -EBUSY: processes are still ending,
 * as one with many sockets does for a while; may be called again. */
int janitor_clean(struct janitor_order *order);

#endif
