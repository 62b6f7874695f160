// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - what a connection goes through. */
#include "harness/bench/cell_history.h"

#include <stdio.h>
#include <string.h>

#include "harness/bench/gates.h"

int cell_step_history(struct live_cell *cell)
{
	unsigned bytes = cell->result->cell.dimension[DIM_HISTORY_BYTES];
	struct result_round *history = &cell->result->history;
	json_t *answer, *failures;
	char command[32];
	int ret = -1;

	if (!bytes)
		return 0;
	snprintf(command, sizeof(command), "fetch %u", bytes);
	answer = cell_ask_clients(cell, command, cell_timeout_ns(cell));
	failures = json_object_get(answer, "failures");
	if (answer && !cell_server_died(cell, failures)) {
		history->ok = answer_number(answer, "ok");
		history->failed = answer_number(answer, "failed");
		history->rps = answer_number(answer, "rps");
		gates_after_history(cell->result, failures);
		/* Where some failed, what follows would be another cell. */
		ret = history->ok == cell->result->established ? 0 : -1;
	}
	json_decref(answer);
	return ret;
}

/* One cycle over all connections: 0 when every one of them went well. */
static int update_keys(struct live_cell *cell, unsigned cycle)
{
	struct result_key_updates *updates = &cell->result->key_updates;
	json_t *answer = cell_ask_clients(cell, "key_update", cell_timeout_ns(cell));
	json_t *failures = json_object_get(answer, "failures");
	int ret = -1;

	if (answer && !cell_server_died(cell, failures)) {
		updates->ok += answer_number(answer, "ok");
		updates->failed += answer_number(answer, "failed");
		gates_after_key_updates(cell->result, cycle, failures);
		ret = updates->ok == cycle * cell->result->established ? 0 : -1;
	}
	json_decref(answer);
	return ret;
}

int cell_step_key_updates(struct live_cell *cell)
{
	unsigned cycles = cell->setup->exp->key_updates;

	if (!cycles || !strcmp(cell->result->cell.tls, "plain"))
		return 0;
	cell->result->key_updates = (struct result_key_updates){0, 0};
	for (unsigned cycle = 1; cycle <= cycles; cycle++)
		if (update_keys(cell, cycle))
			return -1;
	return 0;
}
