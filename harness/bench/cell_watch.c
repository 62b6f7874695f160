// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - what is read while a cell waits. */
#include "harness/bench/cell_watch.h"

#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>

#include "harness/bench/capacity.h"
#include "harness/bench/timeline.h"
#include "harness/common/clock.h"

/* How often the children are looked at, and the memory available. */
#define LOOK_MS 50

/* How often the memory of both sides is read, and how much longer than the last reading took the
 * pause is at least: it walks the page tables of processes under load, and may not take more than
 * a few percent of a CPU. A pilot is over before a sample would be due: it is looked at as often
 * as it takes to see its peaks. */
#define SAMPLE_NS (250 * NS_PER_MS)
#define SAMPLE_COST_FACTOR 30
#define PILOT_SAMPLE_NS NS_PER_MS
#define PILOT_COST_FACTOR 4

static double available(struct live_cell *cell)
{
	int64_t bytes = capacity_meminfo("/proc", "MemAvailable:");

	if (bytes < 0)
		return NAN;
	cell->result->memory_peak_bytes =
		fmax(cell->result->memory_peak_bytes, cell->available_start_bytes - (double)bytes);
	return (double)bytes;
}

void cell_watch_open(struct live_cell *cell)
{
	const struct matrix_cell *spec = &cell->result->cell;
	char path[PATH_MAX];

	cell->started_ns = clock_now_ns();
	cell->available_start_bytes = (double)capacity_meminfo("/proc", "MemAvailable:");
	if (cell->setup->pilot)
		return;
	snprintf(path, sizeof(path), "%s/timeline/%u-%s.jsonl", cell->setup->dir, spec->order,
		 spec->name);
	cell->timeline = fopen(path, "we");
	if (!cell->timeline)
		result_judge(cell->result, VERDICT_FAIL, "%s can not be written", path);
}

void cell_watch_close(struct live_cell *cell)
{
	if (cell->timeline)
		fclose(cell->timeline);
	cell->timeline = NULL;
}

static double known(double bytes)
{
	return isnan(bytes) ? 0 : bytes;
}

static void keep_peaks(struct live_cell *cell, const struct result_memory *server,
		       const struct result_memory *client)
{
	struct result *result = cell->result;

	if (!cell->peak_bytes)
		return;
	*cell->peak_bytes = fmax(*cell->peak_bytes,
				 known(server->user_bytes) + known(server->kernel_bytes) +
					 known(client->user_bytes) + known(client->kernel_bytes));
	if (cell->peak_bytes == &result->ramp_peak_bytes)
		result->handshake_peak_bytes =
			fmax(result->handshake_peak_bytes, server->user_bytes);
}

static void write_sample(struct live_cell *cell, uint64_t now_ns,
			 const struct result_memory *server, const struct result_memory *client)
{
	double established = atomic_load(&cell->shared->established);
	const struct timeline_sample sample = {
		.t_s = (double)(now_ns - cell->started_ns) / NS_PER_S,
		.step = cell_step_name(atomic_load(&cell->shared->step)),
		.established = established,
		.handshakes = established - cell->sampled_established,
		.server_user_bytes = server->user_bytes,
		.server_kernel_bytes = server->kernel_bytes,
		.client_user_bytes = client->user_bytes,
		.client_kernel_bytes = client->kernel_bytes,
		.memory_available_bytes = available(cell),
	};

	cell->sampled_established = established;
	if (cell->timeline && timeline_write(cell->timeline, &sample))
		result_judge(cell->result, VERDICT_FAIL, "the timeline can not be written");
}

static void take_sample(struct live_cell *cell)
{
	bool pilot = cell->setup->pilot;
	uint64_t started = clock_now_ns(), pause;
	uint64_t least = pilot ? PILOT_SAMPLE_NS : SAMPLE_NS;
	struct result_memory server, client;

	if (!side_memory(&cell->server, &server) && !side_memory(&cell->client, &client)) {
		keep_peaks(cell, &server, &client);
		write_sample(cell, started, &server, &client);
	}
	pause = (clock_now_ns() - started) * (pilot ? PILOT_COST_FACTOR : SAMPLE_COST_FACTOR);
	cell->next_sample_ns = started + (pause > least ? pause : least);
}

void cell_watch_peak(struct live_cell *cell, double *peak_bytes)
{
	take_sample(cell);
	cell->peak_bytes = peak_bytes;
}

void cell_watch_end(struct live_cell *cell)
{
	if (cell->next_sample_ns != NS_NEVER)
		take_sample(cell);
	cell->peak_bytes = NULL;
	cell->next_sample_ns = NS_NEVER;
}

void cell_watch(struct live_cell *cell)
{
	if (clock_now_ns() >= cell->next_sample_ns)
		take_sample(cell);
	else
		available(cell);
}

int cell_watch_pause_ms(const struct live_cell *cell)
{
	uint64_t now = clock_now_ns();

	if (cell->next_sample_ns <= now)
		return 1;
	if (cell->next_sample_ns - now < LOOK_MS * NS_PER_MS)
		return (int)((cell->next_sample_ns - now) / NS_PER_MS) + 1;
	return LOOK_MS;
}

void cell_rest(struct live_cell *cell, double seconds)
{
	uint64_t now = clock_now_ns(), end = now + (uint64_t)(seconds * NS_PER_S);

	for (; now < end; now = clock_now_ns()) {
		int pause_ms = cell_watch_pause_ms(cell);
		uint64_t left_ms = (end - now) / NS_PER_MS + 1;

		poll(NULL, 0, left_ms < (uint64_t)pause_ms ? (int)left_ms : pause_ms);
		cell_watch(cell);
	}
}
