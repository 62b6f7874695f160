/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - the memory that a large cell will need, foretold from a pilot: the same cell
 * with few connections, run just before. What does not fit is skipped, so that nothing is killed
 * for want of memory.
 */
#ifndef HARNESS_BENCH_FORECAST_H
#define HARNESS_BENCH_FORECAST_H

#include <stddef.h>

#include "harness/bench/result.h"

/* Cells with more connections have a pilot, with so many. */
#define FORECAST_ABOVE 50000
#define FORECAST_PILOT 2000

/* Of an idle connection, in bytes. */
struct forecast_side {
	double user;
	double kernel;
};

struct forecast {
	struct forecast_side server;
	struct forecast_side client;
	double busy;       /* bytes a connection beyond these, when all have a request under way */
	double handshakes; /* bytes, of the handshakes in flight */
	double fixed;      /* bytes, of the processes without a connection */
	double bytes;      /* all that the cell needs at its worst moment */
};

/*
 * From what the pilot of a cell found. Where its kernel memory is not known for each side, a
 * rough figure is taken. The connections are those of the large cell; its handshakes in flight are
 * those of the pilot, which had at most as many as it had connections. In a round at most
 * `busy_most` have something under way.
 */
void forecast_make(struct forecast *forecast, const struct result *pilot, unsigned connections,
		   unsigned busy_most);

/* 0, or -ENOMEM with the reason: so much is needed, margin included, and so much is there. The
 * floor is what must stay available. */
int forecast_refuse(const struct forecast *forecast, double available_bytes, double floor_bytes,
		    char *reason, size_t reason_size);

#endif
