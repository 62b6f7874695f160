// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - one cell from start to close. */
#include "harness/bench/cell.h"

#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "harness/bench/cell_active.h"
#include "harness/bench/cell_history.h"
#include "harness/bench/cell_measure.h"
#include "harness/bench/cell_talk.h"
#include "harness/bench/cell_wakes.h"
#include "harness/bench/cell_watch.h"
#include "harness/bench/gates.h"
#include "harness/bench/net_settings.h"
#include "harness/bench/netns.h"
#include "harness/common/clock.h"
#include "harness/core/plugin.h"

#define LISTEN_TEXT "127.0.0.1:8443"
#define LISTEN_PORT 8443
#define ARGS_MAX 32
/* As patient as the client: thousands of handshakes at once take a slow machine longer than the
 * server would wait on its own. */
#define HANDSHAKE_TIMEOUT_S "60"

static int enter_network(struct live_cell *cell)
{
	char reason[sizeof(cell->result->reason)];
	struct net_settings settings; /* the manifest has them */

	/* A connection is two sockets here. */
	if (netns_enter(2 * (uint64_t)cell->result->cell.dimension[DIM_CONNECTIONS], reason,
			sizeof(reason))) {
		result_judge(cell->result, VERDICT_SKIP, "%s", reason);
		return -1;
	}
	/* Entering a user namespace has cleared it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	net_settings_apply("/proc", &settings);
	if (!netns_port_answers(INADDR_LOOPBACK, LISTEN_PORT))
		return 0;
	result_judge(cell->result, VERDICT_INVALID,
		     "something else answered on " LISTEN_TEXT " before the start");
	return -1;
}

void cell_samples_path(const struct live_cell *cell, const char *what, char path[PATH_MAX])
{
	const struct matrix_cell *spec = &cell->result->cell;

	snprintf(path, PATH_MAX, "%s/%s_us/%u-%s%s.txt", cell->setup->dir, what, spec->order,
		 spec->name, cell->setup->pilot ? "-pilot" : "");
}

/* Starts a program of ours, which lies beside this one. */
static int start(struct live_cell *cell, struct side *side, const char *program, const char *name,
		 const char *const args[], const struct kernel_meter *meter)
{
	const struct matrix_cell *spec = &cell->result->cell;
	char path[PATH_MAX], log[PATH_MAX];
	const char *argv[ARGS_MAX] = {path};
	int error = beside_executable(path, sizeof(path), program);

	char file[16], *blank;

	for (int i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	snprintf(file, sizeof(file), "%s", name);
	blank = strchr(file, ' ');
	if (blank)
		*blank = '-';
	snprintf(log, sizeof(log), "%s/logs/%u-%s-%s%s.log", cell->setup->dir, spec->order,
		 spec->name, cell->setup->pilot ? "pilot-" : "", file);
	if (!error)
		error = side_start(side, name, argv, log, meter);
	if (error)
		result_judge(cell->result, VERDICT_FAIL, "%s can not be started: %s", program,
			     strerror(-error));
	return error ? -1 : 0;
}

/* The same handshake without a socket, by the client's program. */
static int measure_crypto_floor(struct live_cell *cell)
{
	const struct experiment *exp = cell->setup->exp;
	const struct matrix_cell *spec = &cell->result->cell;
	struct side side = {0};
	char handshakes[16];
	const char *const args[] = {
		"--crypto-floor", handshakes, "--server-tls",
		spec->tls,        "--tls",    experiment_client_tls(exp, spec->tls),
		"--park",         spec->park, NULL,
	};
	json_t *answer;

	if (!strcmp(spec->tls, "plain"))
		return 0;
	snprintf(handshakes, sizeof(handshakes), "%u", exp->crypto_floor_handshakes);
	if (start(cell, &side, "parkbench-load", "floor", args, cell->setup->client_meter))
		return -1;
	answer = cell_hear(cell, &side.child[0], cell_timeout_ns(cell));
	cell->result->crypto_floor_us = answer_number(answer, "server_us");
	cell->result->client_crypto_floor_us = answer_number(answer, "client_us");
	json_decref(answer);
	side_end(&side);
	return answer ? 0 : -1;
}

static void keep_ready(struct result *result, const json_t *ready)
{
	double workers = answer_number(ready, "workers");

	if (strcmp(result->cell.tls, "plain"))
		snprintf(result->tls_version, sizeof(result->tls_version), "%s",
			 answer_text(ready, "tls_version"));
	if (workers > 0)
		result->workers = (unsigned)workers;
	snprintf(result->worker_model, sizeof(result->worker_model), "%s",
		 answer_text(ready, "worker_model"));
}

static int start_server(struct live_cell *cell)
{
	const struct matrix_cell *spec = &cell->result->cell;
	char workers[16], connections[16], handshakes[16];
	const char *const args[] = {
		"--reactor",
		spec->reactor,
		"--tls",
		spec->tls,
		"--park",
		spec->park,
		"--worker-model",
		cell->result->worker_model,
		"--workers",
		workers,
		"--listen",
		LISTEN_TEXT,
		"--connections",
		connections,
		"--handshake-timeout",
		HANDSHAKE_TIMEOUT_S,
		"--handshakes-max",
		handshakes,
		"--control",
		spec->dimension[DIM_TRIM] ? NULL : "--no-trim",
		NULL,
	};
	json_t *ready;

	snprintf(workers, sizeof(workers), "%u", cell->result->workers);
	snprintf(connections, sizeof(connections), "%u", spec->dimension[DIM_CONNECTIONS]);
	snprintf(handshakes, sizeof(handshakes), "%u", spec->dimension[DIM_HANDSHAKES_MAX]);
	if (start(cell, &cell->server, "parkbench-server", "server", args,
		  cell->setup->server_meter))
		return -1;
	ready = cell_hear(cell, &cell->server.child[0], cell_timeout_ns(cell));
	if (ready)
		keep_ready(cell->result, ready);
	json_decref(ready);
	return ready ? 0 : -1;
}

/* The exact share of a client, and where it begins. */
static unsigned share(unsigned total, unsigned parts, unsigned part, unsigned *first)
{
	unsigned more = total % parts;

	*first = total / parts * part + (part < more ? part : more);
	return total / parts + (part < more);
}

static int start_client(struct live_cell *cell, unsigned index)
{
	const struct experiment *exp = cell->setup->exp;
	const struct matrix_cell *spec = &cell->result->cell;
	char workers[16], connections[16], in_flight[16], first[16], floor[32], timeout[16];
	char samples[PATH_MAX], wake_samples[PATH_MAX], name[16] = "client";
	unsigned ignored, offset, most;
	const char *const args[] = {
		"--tls",
		experiment_client_tls(exp, spec->tls),
		"--park",
		exp->client_park,
		"--workers",
		workers,
		"--connect",
		LISTEN_TEXT,
		"--connections",
		connections,
		"--first",
		first,
		"--in-flight",
		in_flight,
		"--memory-floor",
		floor,
		"--timeout",
		timeout,
		"--samples",
		samples,
		"--wake-samples",
		wake_samples,
		"--control",
		exp->waves ? "--waves" : NULL,
		NULL,
	};

	cell_samples_path(cell, "handshake", samples);
	cell_samples_path(cell, "wake", wake_samples);
	if (exp->clients > 1) {
		size_t used = strlen(samples);

		snprintf(samples + used, sizeof(samples) - used, ".%u", index + 1);
		snprintf(name, sizeof(name), "client %u", index + 1);
	}
	most = share(spec->dimension[DIM_IN_FLIGHT], exp->clients, index, &ignored);
	snprintf(workers, sizeof(workers), "%u", exp->client_workers);
	snprintf(connections, sizeof(connections), "%u",
		 share(spec->dimension[DIM_CONNECTIONS], exp->clients, index, &offset));
	snprintf(first, sizeof(first), "%u", offset);
	snprintf(in_flight, sizeof(in_flight), "%u", most ? most : 1);
	/* Whether it can keep the floor is what a pilot is to tell. */
	snprintf(floor, sizeof(floor), "%.0f", cell->setup->pilot ? 0 : exp->memory_floor_bytes);
	snprintf(timeout, sizeof(timeout), "%u", cell_client_timeout_s(cell));
	return start(cell, &cell->client, "parkbench-load", name, args, cell->setup->client_meter);
}

static int start_clients(struct live_cell *cell)
{
	json_t *ready;

	for (unsigned i = 0; i < cell->setup->exp->clients; i++)
		if (start_client(cell, i))
			return -1;
	ready = cell_hear_clients(cell, cell_timeout_ns(cell));
	json_decref(ready);
	return ready ? 0 : -1;
}

/* Each process of the side is told to end, and expected to do so properly. */
static int end_side(struct live_cell *cell, struct side *side, const char *command)
{
	char words[384];

	for (unsigned i = 0; i < side->count; i++)
		child_send(&side->child[i], command);
	for (unsigned i = 0; i < side->count; i++) {
		struct child *child = &side->child[i];

		if (child_wait(child, (int)(cell_timeout_ns(cell) / NS_PER_MS))) {
			result_judge(cell->result, VERDICT_FAIL, "%s did not end when told to",
				     child->name);
			return -1;
		}
		if (child->status == 0)
			continue;
		child_obituary(child, words, sizeof(words));
		result_judge(cell->result, VERDICT_FAIL, "%s ended badly: %s", child->name, words);
		return -1;
	}
	return 0;
}

static int stop(struct live_cell *cell)
{
	return end_side(cell, &cell->client, "quit") || end_side(cell, &cell->server, "stop") ? -1
											      : 0;
}

static const struct {
	const char *name;
	int (*run)(struct live_cell *cell);
	bool pilot; /* a pilot has this step too */
} steps[] = {
	{"network", enter_network, true},       {"crypto floor", measure_crypto_floor, false},
	{"server start", start_server, true},   {"client start", start_clients, true},
	{"baseline", cell_step_baseline, true}, {"ramp", cell_step_ramp, true},
	{"history", cell_step_history, true},   {"idle", cell_step_idle, true},
	{"hold", cell_step_hold, false},        {"key updates", cell_step_key_updates, false},
	{"round 1", cell_step_round1, true},    {"round 2", cell_step_round2, false},
	{"wakes", cell_step_wakes, false},      {"active", cell_step_active, false},
	{"close", cell_step_close, false},      {"stop", stop, true},
};
#define STEPS (int)(sizeof(steps) / sizeof(*steps))

const char *cell_step_name(int step)
{
	return steps[step].name;
}

static void name_methods(struct result *result, const struct kernel_meter *meter)
{
	snprintf(result->user_method, sizeof(result->user_method), "pss");
	snprintf(result->kernel_method, sizeof(result->kernel_method), "%s%s%s",
		 kernel_method_name(meter->method), *meter->reason ? ": " : "", meter->reason);
}

void cell_run(const struct cell_setup *setup, struct cell_shared *shared)
{
	struct live_cell cell = {
		.setup = setup,
		.shared = shared,
		.result = &shared->result,
		.next_sample_ns = NS_NEVER,
	};

	name_methods(cell.result, setup->server_meter);
	cell_watch_open(&cell);
	for (int i = 0; i < STEPS; i++) {
		if (setup->pilot && !steps[i].pilot)
			continue;
		atomic_store(&shared->step, i);
		if (steps[i].run(&cell))
			break;
	}
	if (!setup->pilot)
		gates_at_end(cell.result, &setup->exp->gates);
	side_end(&cell.client);
	side_end(&cell.server);
	cell_watch_close(&cell);
	atomic_store(&shared->finished, true);
}
