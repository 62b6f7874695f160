// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - how a cell's process talks with the two programs it started. */
#include "harness/bench/cell_talk.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>

#include "harness/bench/answers.h"
#include "harness/bench/cell_watch.h"
#include "harness/common/clock.h"
#include "harness/common/options.h"

/* Every step is bounded: a fixed time and a time a connection, both far beyond
 * what a slow machine needs, and beyond the client's own timeout: it knows the cause. That one
 * grows too: in a round the first response is read after the last request was sent. */
#define STEP_TIMEOUT_S 90
#define CLIENT_TIMEOUT_S 60
#define TIMEOUT_MS_PER_CONN 3

/* A process that dies closes its sockets and pipes a moment before it can be reaped. */
#define LATE_DEATH_MS 300

static uint64_t timeout_ns(const struct live_cell *cell, unsigned least_s)
{
	uint64_t connections = cell->result->cell.dimension[DIM_CONNECTIONS];

	return least_s * NS_PER_S + connections * TIMEOUT_MS_PER_CONN * NS_PER_MS;
}

uint64_t cell_timeout_ns(const struct live_cell *cell)
{
	return timeout_ns(cell, STEP_TIMEOUT_S);
}

unsigned cell_client_timeout_s(const struct live_cell *cell)
{
	uint64_t seconds = timeout_ns(cell, CLIENT_TIMEOUT_S) / NS_PER_S;

	return seconds < OPTION_SECONDS_MAX ? (unsigned)seconds : OPTION_SECONDS_MAX;
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

bool cell_client_died(struct live_cell *cell)
{
	for (unsigned i = 0; i < cell->client.count; i++)
		if (cell_died(cell, &cell->client.child[i]))
			return true;
	return false;
}

bool cell_server_died(struct live_cell *cell, const json_t *failures)
{
	if (json_object_size(failures))
		child_wait(&cell->server.child[0], LATE_DEATH_MS);
	return cell_died(cell, &cell->server.child[0]);
}

/* Judges what is wrong with waiting on; false: nothing. */
static bool must_stop(struct live_cell *cell, struct child *child, int error, bool late)
{
	/* Without a reply to read, a child that closed its output is about to end. */
	if (error == -EPIPE)
		child_wait(child, LATE_DEATH_MS);
	if (cell->server.count && cell_died(cell, &cell->server.child[0]))
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
		int error = child_read(child, cell_watch_pause_ms(cell), &answer);

		if (!error && strcmp(answer_text(answer, "event"), "progress") != 0)
			return answer;
		json_decref(answer);
		if (must_stop(cell, child, error, clock_now_ns() > deadline))
			return NULL;
		cell_watch(cell);
	}
}

json_t *cell_ask(struct live_cell *cell, struct child *child, const char *command,
		 uint64_t timeout_ns)
{
	/* That a child is gone is found out by cell_hear. */
	child_send(child, command);
	return cell_hear(cell, child, timeout_ns);
}

static void keep_progress(struct live_cell *cell, unsigned client, const json_t *progress)
{
	double ok = answer_number(progress, "ok");
	unsigned sum = 0;

	if (strcmp(answer_text(progress, "phase"), "ramp") || !(ok >= 0))
		return;
	cell->established[client] = (unsigned)ok;
	for (unsigned i = 0; i < cell->client.count; i++)
		sum += cell->established[i];
	atomic_store(&cell->shared->established, sum);
}

/* What the client has to say so far. 0: *answer is its answer; -ETIMEDOUT: it has none yet. */
static int take_answer(struct live_cell *cell, unsigned client, bool readable, json_t **answer)
{
	int timeout_ms = readable ? 1 : 0, error;

	while (!(error = child_read(&cell->client.child[client], timeout_ms, answer))) {
		if (strcmp(answer_text(*answer, "event"), "progress") != 0)
			return 0;
		keep_progress(cell, client, *answer);
		json_decref(*answer);
		*answer = NULL;
		timeout_ms = 0;
	}
	return error;
}

/* Of the clients that have not answered: who can be read. */
static void poll_clients(const struct live_cell *cell, json_t *const *answers, struct pollfd *fds)
{
	for (unsigned i = 0; i < cell->client.count; i++)
		fds[i] = (struct pollfd){.fd = answers[i] ? -1 : cell->client.child[i].out,
					 .events = POLLIN};
	poll(fds, cell->client.count, cell_watch_pause_ms(cell));
}

/* 0: every client has answered. */
static int hear_all(struct live_cell *cell, json_t **answers, uint64_t deadline)
{
	struct pollfd fds[SIDE_PROCESSES_MAX];
	unsigned missing = cell->client.count;

	while (missing) {
		poll_clients(cell, answers, fds);
		for (unsigned i = 0; i < cell->client.count; i++) {
			int error;

			if (answers[i])
				continue;
			error = take_answer(cell, i, fds[i].revents, &answers[i]);
			if (!error)
				missing--;
			else if (must_stop(cell, &cell->client.child[i], error,
					   clock_now_ns() > deadline))
				return -1;
		}
		cell_watch(cell);
	}
	return 0;
}

json_t *cell_hear_clients(struct live_cell *cell, uint64_t timeout_ns)
{
	json_t *answers[SIDE_PROCESSES_MAX] = {NULL}, *merged = NULL;

	if (!hear_all(cell, answers, clock_now_ns() + timeout_ns))
		merged = answers_merge(answers, cell->client.count);
	for (unsigned i = 0; i < cell->client.count; i++)
		json_decref(answers[i]);
	return merged;
}

json_t *cell_ask_clients(struct live_cell *cell, const char *command, uint64_t timeout_ns)
{
	for (unsigned i = 0; i < cell->client.count; i++)
		child_send(&cell->client.child[i], command);
	return cell_hear_clients(cell, timeout_ns);
}
