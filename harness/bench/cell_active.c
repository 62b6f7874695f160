// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - what requests cost the server, and the active step of a cell. */
#include "harness/bench/cell_active.h"

#include <math.h>
#include <stdio.h>

#include "harness/bench/gates.h"

int server_work_read(struct live_cell *cell, struct server_work *work)
{
	json_t *stats = cell_ask(cell, &cell->server.child[0], "stats", cell_timeout_ns(cell));

	work->syscalls = answer_number(stats, "syscalls");
	work->cpu_us = (double)side_cpu_ns(&cell->server) / 1e3;
	json_decref(stats);
	return stats ? 0 : -1;
}

static void keep(struct result_active *active, const json_t *answer,
		 const struct server_work *before, const struct server_work *after)
{
	active->connections = answer_number(answer, "connections");
	active->ok = answer_number(answer, "ok");
	active->failed = answer_number(answer, "failed");
	active->rps = answer_number(answer, "rps");
	if (!(active->ok > 0))
		return;
	active->server_us_per_request = (after->cpu_us - before->cpu_us) / active->ok;
	active->server_syscalls_per_request = (after->syscalls - before->syscalls) / active->ok;
}

static int do_fraction(struct live_cell *cell, int index)
{
	const struct experiment *exp = cell->setup->exp;
	struct result_active *active = &cell->result->active[index];
	struct server_work before, after;
	json_t *answer, *failures;
	char command[64];
	int ret = -1;

	if (server_work_read(cell, &before))
		return -1;
	snprintf(command, sizeof(command), "active %.12g %.12g", exp->active.value[index],
		 exp->active_s);
	answer = cell_ask_clients(cell, command,
				  cell_timeout_ns(cell) + (uint64_t)(exp->active_s * 1e9));
	failures = json_object_get(answer, "failures");
	if (answer && !cell_server_died(cell, failures) && !server_work_read(cell, &after)) {
		active->fraction = exp->active.value[index];
		keep(active, answer, &before, &after);
		gates_after_active(cell->result, index, failures);
		/* Connections that failed are gone: the next fraction would be another one. */
		ret = active->failed == 0 ? 0 : -1;
	}
	json_decref(answer);
	return ret;
}

int cell_step_active(struct live_cell *cell)
{
	for (size_t i = 0; i < cell->setup->exp->active.count; i++)
		if (do_fraction(cell, (int)i))
			return -1;
	return 0;
}
