// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - what a connection has been through before it idles. */
#include "harness/bench/cell_history.h"

#include <stdio.h>

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
	answer = cell_ask(cell, &cell->client.child, command, cell_timeout_ns(cell));
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
