// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - how a cell's process talks with the two programs it started. */
#include "harness/bench/cell_talk.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "harness/common/clock.h"

/* Every step is bounded: a fixed time and a time a connection, both far beyond
 * what a slow machine needs, and beyond the client's own timeout of 60 s: it knows the
 * cause. */
#define STEP_TIMEOUT_NS (90 * NS_PER_S)
#define STEP_TIMEOUT_NS_PER_CONN (3 * NS_PER_MS)

/* How often the children are looked at while one is waited for. */
#define LOOK_MS 50

/* How often the server's memory is read in the ramp, and how much longer than the
 * last reading took the pause is at least: it walks the page tables of a process
 * under load, and may not take more than a few percent of a CPU. */
#define SAMPLE_NS (250 * NS_PER_MS)
#define SAMPLE_COST_FACTOR 20

/* A process that dies closes its sockets and pipes a moment before it can be reaped. */
#define LATE_DEATH_MS 300

uint64_t cell_timeout_ns(const struct live_cell *cell)
{
	return STEP_TIMEOUT_NS +
	       cell->result->cell.dimension[DIM_CONNECTIONS] * STEP_TIMEOUT_NS_PER_CONN;
}

double answer_number(const json_t *answer, const char *key)
{
	const json_t *value = json_object_get(answer, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *answer_text(const json_t *answer, const char *key)
{
	const char *text = json_string_value(json_object_get(answer, key));

	return text ? text : "";
}

static const char *step_name(const struct live_cell *cell)
{
	return cell_step_name(atomic_load(&cell->shared->step));
}

bool cell_died(struct live_cell *cell, struct child *child)
{
	char words[384];

	if (child_alive(child))
		return false;
	child_obituary(child, words, sizeof(words));
	result_judge(cell->result, VERDICT_FAIL, "%s died in step %s: %s", child->name,
		     step_name(cell), words);
	return true;
}

bool cell_server_died(struct live_cell *cell, const json_t *failures)
{
	if (json_object_size(failures))
		child_wait(&cell->server.child, LATE_DEATH_MS);
	return cell_died(cell, &cell->server.child);
}

void cell_sample_peak(struct live_cell *cell)
{
	uint64_t started = clock_now_ns(), pause;
	struct result_memory memory;

	if (!side_memory(&cell->server, &memory))
		cell->result->handshake_peak_bytes =
			fmax(cell->result->handshake_peak_bytes, memory.user_bytes);
	pause = (clock_now_ns() - started) * SAMPLE_COST_FACTOR;
	cell->next_sample_ns = started + (pause > SAMPLE_NS ? pause : SAMPLE_NS);
}

/* Judges what is wrong with waiting on; false: nothing. */
static bool must_stop(struct live_cell *cell, struct child *child, int error, bool late)
{
	/* Without a reply to read, a child that closed its output is about to end. */
	if (error == -EPIPE)
		child_wait(child, LATE_DEATH_MS);
	if (cell->server.child.name && cell_died(cell, &cell->server.child))
		return true;
	if (error && cell_died(cell, child))
		return true;
	if (error && error != -ETIMEDOUT)
		result_judge(cell->result, VERDICT_FAIL, "%s answered nonsense in step %s: %s",
			     child->name, step_name(cell), strerror(-error));
	else if (late)
		result_judge(cell->result, VERDICT_FAIL, "%s took too long in step %s", child->name,
			     step_name(cell));
	else
		return false;
	return true;
}

json_t *cell_hear(struct live_cell *cell, struct child *child, uint64_t timeout_ns)
{
	uint64_t deadline = clock_now_ns() + timeout_ns;

	for (;;) {
		json_t *answer;
		int error = child_read(child, LOOK_MS, &answer);
		double established = answer_number(answer, "established");

		if (!error && strcmp(answer_text(answer, "event"), "progress") != 0)
			return answer;
		json_decref(answer);
		if (established >= 0)
			atomic_store(&cell->shared->established, (unsigned)established);
		if (must_stop(cell, child, error, clock_now_ns() > deadline))
			return NULL;
		if (clock_now_ns() >= cell->next_sample_ns)
			cell_sample_peak(cell);
	}
}

json_t *cell_ask(struct live_cell *cell, struct child *child, const char *command,
		 uint64_t timeout_ns)
{
	/* That a child is gone is found out by cell_hear. */
	child_send(child, command);
	return cell_hear(cell, child, timeout_ns);
}
