// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the measured steps of a cell: memory, CPU and counters around them. */
#include "harness/bench/cell_measure.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/bench/cell_active.h"
#include "harness/bench/cell_watch.h"
#include "harness/bench/gates.h"
#include "harness/bench/samples.h"
#include "harness/common/clock.h"
#include "harness/common/options.h"
#include "harness/measure/slabinfo.h"

#define NET_DIR "/proc/self/net"
#define OPEN_POLL_S 0.02

/* Lets both sides come to rest, then reads their memory. */
static int read_memory(struct live_cell *cell, enum phase phase)
{
	struct result *result = cell->result;

	cell_rest(cell, cell->setup->exp->settle_s);
	if (!side_memory(&cell->server, &result->phases[phase]) &&
	    !side_memory(&cell->client, &result->client_phases[phase]))
		return 0;
	if (!cell_server_died(cell, NULL) && !cell_client_died(cell))
		result_judge(result, VERDICT_FAIL, "%s: the memory can not be read",
			     phase_names[phase]);
	return -1;
}

/* Of the whole system; NAN for those who may not read it. */
static double read_slab(void)
{
	int64_t bytes;

	return slabinfo_reactor_bytes(kernel_system_roots.slabinfo, &bytes) ? NAN : (double)bytes;
}

int cell_step_baseline(struct live_cell *cell)
{
	int error;

	cell_rest(cell, cell->setup->exp->settle_s);
	error = side_baseline(&cell->server);
	if (!error)
		error = side_baseline(&cell->client);
	if (!error)
		error = net_counters_read(NET_DIR, &cell->counters);
	cell->slab_bytes = read_slab();
	cell->result->user_baseline_bytes = cell->server.user_bytes;
	cell->result->client_user_baseline_bytes = cell->client.user_bytes;
	if (error && !cell_server_died(cell, NULL) && !cell_client_died(cell))
		result_judge(cell->result, VERDICT_FAIL, "the baseline can not be read: %s",
			     strerror(-error));
	return error ? -1 : 0;
}

/* How much of the CPUs that so many workers can use was used. */
static double cpu_percent(int64_t cpu_ns, uint64_t wall_ns, unsigned workers)
{
	unsigned cpus = option_cpus();

	if (workers < cpus)
		cpus = workers;
	return wall_ns ? 100.0 * (double)cpu_ns / (double)wall_ns / cpus : NAN;
}

static void keep_ramp(struct result *result, const json_t *answer)
{
	const json_t *latency = json_object_get(answer, "handshake_us");

	result->established = answer_number(answer, "established");
	result->ramp_s = answer_number(answer, "ramp_s");
	result->handshake_us_p50 = answer_number(latency, "p50");
	result->handshake_us_p99 = answer_number(latency, "p99");
	result->handshake_us_max = answer_number(latency, "max");
}

/* Of all clients; "auto" is at least one a CPU. */
static unsigned client_workers(const struct experiment *exp)
{
	return exp->client_workers ? exp->client_workers * exp->clients : UINT_MAX;
}

static void keep_ramp_cpu(struct live_cell *cell, int64_t server_ns, int64_t client_ns,
			  uint64_t wall_ns)
{
	const struct reactor_ops *reactor = reactor_find(cell->result->cell.reactor);
	bool threads = reactor && reactor->caps & REACTOR_CAP_THREADS;
	struct result *result = cell->result;

	if (result->established > 0) {
		result->server_us_per_handshake = (double)server_ns / 1e3 / result->established;
		result->client_us_per_handshake = (double)client_ns / 1e3 / result->established;
	}
	result->server_cpu_percent =
		cpu_percent(server_ns, wall_ns, threads ? UINT_MAX : result->workers);
	result->client_cpu_percent =
		cpu_percent(client_ns, wall_ns, client_workers(cell->setup->exp));
}

/* Of several clients, each of which knows its own only. */
static int merge_samples(struct live_cell *cell)
{
	struct result *result = cell->result;
	struct samples samples;
	char path[PATH_MAX];
	int error;

	if (cell->client.count == 1)
		return 0;
	cell_samples_path(cell, "handshake", path);
	error = samples_merge(path, cell->client.count, &samples);
	if (error) {
		result_judge(result, VERDICT_FAIL, "%s can not be merged: %s", path,
			     strerror(-error));
		return -1;
	}
	result->handshake_us_p50 = samples.p50;
	result->handshake_us_p99 = samples.p99;
	result->handshake_us_max = samples.max;
	return 0;
}

int cell_step_ramp(struct live_cell *cell)
{
	int64_t server_ns = side_cpu_ns(&cell->server), client_ns = side_cpu_ns(&cell->client);
	uint64_t started = clock_now_ns();
	json_t *answer, *failures;
	int ret = -1;

	cell_watch_peak(cell, &cell->result->ramp_peak_bytes);
	answer = cell_ask_clients(cell, "ramp", cell_timeout_ns(cell));
	failures = json_object_get(answer, "failures");
	if (!answer || cell_server_died(cell, failures))
		goto out;
	keep_ramp(cell->result, answer);
	if (merge_samples(cell))
		goto out;
	keep_ramp_cpu(cell, side_cpu_ns(&cell->server) - server_ns,
		      side_cpu_ns(&cell->client) - client_ns, clock_now_ns() - started);
	atomic_store(&cell->shared->established, (unsigned)cell->result->established);
	cell_watch_peak(cell, NULL);
	gates_after_ramp(cell->result, answer_text(answer, "tls_protocol"), failures);
	/* With nothing established there is nothing to measure. */
	ret = cell->result->established > 0 ? 0 : -1;
out:
	json_decref(answer);
	return ret;
}

int cell_step_idle(struct live_cell *cell)
{
	char *method = cell->result->kernel_method;
	size_t used = strlen(method);
	double both;

	if (read_memory(cell, PHASE_IDLE))
		return -1;
	cell->result->slab_bytes = read_slab() - cell->slab_bytes;
	both = side_system_kernel_bytes(&cell->server);
	if (!isnan(both))
		snprintf(method + used, sizeof(cell->result->kernel_method) - used,
			 "; both sides together %.0f bytes when idle", both);
	return 0;
}

static void keep_kept(struct result *result, const json_t *kept)
{
	const char *cause;
	json_t *count;

	json_object_foreach((json_t *)kept, cause, count)
	{
		tally_add(&result->kept, cause, (uint64_t)json_integer_value(count));
	}
	gates_after_parking(result);
}

/* What the client holds the server must hold as well: with plain a connection is established
 * before the server has even accepted it. */
static int check_server_holds(struct live_cell *cell)
{
	struct result *result = cell->result;
	json_t *stats = cell_ask(cell, &cell->server.child[0], "stats", cell_timeout_ns(cell));
	double open = answer_number(stats, "open");
	double expected = result->established - result->dropped_idle;

	result->handshakes_peak = answer_number(stats, "handshakes_peak");
	/* At levels keys and deep: it is measured with its session, its socket. */
	keep_kept(result, json_object_get(stats, "kept"));
	json_decref(stats);
	if (!stats)
		return -1;
	if (!(open == expected))
		result_judge(result, VERDICT_FAIL,
			     "the server holds %.0f connections, the client %.0f", open, expected);
	return 0;
}

int cell_step_hold(struct live_cell *cell)
{
	double hold_s = cell->setup->exp->hold_s;
	json_t *answer, *failures;
	char command[32];
	int ret = -1;

	snprintf(command, sizeof(command), "hold %.3f", hold_s);
	answer = cell_ask_clients(cell, command, cell_timeout_ns(cell) + (uint64_t)(hold_s * 1e9));
	failures = json_object_get(answer, "failures");
	if (answer && !cell_server_died(cell, failures)) {
		cell->result->dropped_idle = answer_number(answer, "dropped");
		gates_after_hold(cell->result, failures);
		ret = check_server_holds(cell);
	}
	json_decref(answer);
	return ret;
}

static int do_round(struct live_cell *cell, int index)
{
	enum phase phase = index == 0 ? PHASE_ROUND1 : PHASE_ROUND2;
	struct result_round *round = &cell->result->rounds[index];
	struct server_work before, after;
	json_t *answer, *failures;
	int ret = -1;

	if (server_work_read(cell, &before))
		return -1;
	cell_watch_peak(cell, &cell->result->round_peak_bytes);
	answer = cell_ask_clients(cell, "round", cell_timeout_ns(cell));
	failures = json_object_get(answer, "failures");
	if (answer && !cell_server_died(cell, failures) && !server_work_read(cell, &after)) {
		cell_watch_peak(cell, NULL);
		cell->server_round_us += after.cpu_us - before.cpu_us;
		cell->server_round_syscalls += after.syscalls - before.syscalls;
		round->ok = answer_number(answer, "ok");
		round->failed = answer_number(answer, "failed");
		round->rps = answer_number(answer, "rps");
		gates_after_round(cell->result, index, failures);
		/* Where nobody answers, the next round would only wait as long. */
		ret = round->ok > 0 ? read_memory(cell, phase) : -1;
	}
	json_decref(answer);
	return ret;
}

int cell_step_round1(struct live_cell *cell)
{
	return do_round(cell, 0);
}

int cell_step_round2(struct live_cell *cell)
{
	const struct result_round *rounds = cell->result->rounds;
	double requests;

	if (do_round(cell, 1))
		return -1;
	requests = rounds[0].ok + rounds[1].ok;
	if (requests > 0) {
		cell->result->server_us_per_request = cell->server_round_us / requests;
		cell->result->server_syscalls_per_request = cell->server_round_syscalls / requests;
	}
	return 0;
}

/* Waits until the server has seen the end of every connection. */
static int wait_all_closed(struct live_cell *cell)
{
	uint64_t timeout_ns = cell_timeout_ns(cell), deadline = clock_now_ns() + timeout_ns;

	for (;;) {
		json_t *stats = cell_ask(cell, &cell->server.child[0], "stats", timeout_ns);
		double open = answer_number(stats, "open");

		json_decref(stats);
		if (!stats)
			return -1;
		if (!(open > 0))
			return 0;
		if (clock_now_ns() > deadline) {
			result_judge(cell->result, VERDICT_FAIL,
				     "the server kept %.0f connections that the client had closed",
				     open);
			return -1;
		}
		cell_rest(cell, OPEN_POLL_S);
	}
}

static int keep_counters(struct live_cell *cell)
{
	struct net_counters after, delta;
	int error = net_counters_read(NET_DIR, &after);

	if (!error)
		error = net_counters_delta(&cell->counters, &after, &delta);
	if (error) {
		result_judge(cell->result, VERDICT_FAIL, "the TCP counters can not be read: %s",
			     strerror(-error));
		return -1;
	}
	cell->result->listen_overflows = (double)delta.listen_overflows;
	cell->result->listen_drops = (double)delta.listen_drops;
	cell->result->retrans_segs = (double)delta.retrans_segs;
	cell->result->out_rsts = (double)delta.out_rsts;
	return 0;
}

int cell_step_close(struct live_cell *cell)
{
	json_t *answer = cell_ask_clients(cell, "close", cell_timeout_ns(cell));

	json_decref(answer);
	if (!answer || wait_all_closed(cell) || read_memory(cell, PHASE_CLOSE))
		return -1;
	cell_watch_end(cell);
	return keep_counters(cell);
}
