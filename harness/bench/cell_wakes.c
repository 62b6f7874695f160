// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - how long parked connections take to wake. */
#include "harness/bench/cell_wakes.h"

#include <math.h>
#include <stdio.h>

#include "harness/bench/cell_watch.h"
#include "harness/bench/gates.h"
#include "harness/common/clock.h"

/* Far beyond what a slow machine takes for one, its part of the rests included. */
#define WAKE_NS (20 * NS_PER_MS)

/* Sockets that the server has made again so far, at level deep; else NAN. -1: it does not say. */
static int read_restored(struct live_cell *cell, double *restored)
{
	json_t *stats = cell_ask(cell, &cell->server.child[0], "stats", cell_timeout_ns(cell));

	*restored = answer_number(json_object_get(stats, "deep"), "woken");
	json_decref(stats);
	return stats ? 0 : -1;
}

static void keep(struct result_wakes *wakes, const json_t *answer)
{
	wakes->ok = answer_number(answer, "ok");
	wakes->failed = answer_number(answer, "failed");
	/* Of none the client says 0. */
	if (!(wakes->ok > 0))
		return;
	wakes->p50_us = answer_number(answer, "p50_us");
	wakes->p99_us = answer_number(answer, "p99_us");
	wakes->max_us = answer_number(answer, "max_us");
}

static int do_wakes(struct live_cell *cell, unsigned count)
{
	double before, after;
	json_t *answer, *failures;
	char command[32];
	int ret = -1;

	if (read_restored(cell, &before))
		return -1;
	snprintf(command, sizeof(command), "wakes %u", count);
	answer = cell_ask(cell, &cell->client.child[0], command,
			  cell_timeout_ns(cell) + count * WAKE_NS);
	failures = json_object_get(answer, "failures");
	if (answer && !cell_server_died(cell, failures) && !read_restored(cell, &after)) {
		keep(&cell->result->wakes, answer);
		gates_after_wakes(cell->result, count, after - before, failures);
		ret = 0;
	}
	json_decref(answer);
	return ret;
}

int cell_step_wakes(struct live_cell *cell)
{
	unsigned count = cell->setup->exp->wakes;
	int ret;

	if (!count)
		return 0;
	cell_watch_end(cell);
	ret = do_wakes(cell, count);
	cell_watch_peak(cell, NULL);
	return ret;
}
