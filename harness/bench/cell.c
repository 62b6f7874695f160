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
#include "harness/bench/gates.h"
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

	if (netns_enter(reason, sizeof(reason))) {
		result_judge(cell->result, VERDICT_SKIP, "%s", reason);
		return -1;
	}
	/* Entering a user namespace has cleared it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!netns_port_answers(INADDR_LOOPBACK, LISTEN_PORT))
		return 0;
	result_judge(cell->result, VERDICT_INVALID,
		     "something else answered on " LISTEN_TEXT " before the start");
	return -1;
}

/* Starts a program of ours, which lies beside this one. */
static int start(struct live_cell *cell, struct side *side, const char *program, const char *name,
		 const char *const args[], const struct kernel_meter *meter)
{
	const struct matrix_cell *spec = &cell->result->cell;
	char path[PATH_MAX], log[PATH_MAX];
	const char *argv[ARGS_MAX] = {path};
	int error = beside_executable(path, sizeof(path), program);

	for (int i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	snprintf(log, sizeof(log), "%s/logs/%u-%s-%s.log", cell->setup->dir, spec->order,
		 spec->name, name);
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
	struct side side = {.child.pid = -1};
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
	answer = cell_hear(cell, &side.child, cell_timeout_ns(cell));
	cell->result->crypto_floor_us = answer_number(answer, "server_us");
	json_decref(answer);
	child_end(&side.child);
	return answer ? 0 : -1;
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
	ready = cell_hear(cell, &cell->server.child, cell_timeout_ns(cell));
	if (strcmp(spec->tls, "plain"))
		snprintf(cell->result->tls_version, sizeof(cell->result->tls_version), "%s",
			 answer_text(ready, "tls_version"));
	json_decref(ready);
	return ready ? 0 : -1;
}

static int start_client(struct live_cell *cell)
{
	const struct experiment *exp = cell->setup->exp;
	const struct matrix_cell *spec = &cell->result->cell;
	char workers[16], connections[16], in_flight[16], samples[PATH_MAX];
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
		"--in-flight",
		in_flight,
		"--samples",
		samples,
		"--control",
		exp->waves ? "--waves" : NULL,
		NULL,
	};
	json_t *ready;

	snprintf(workers, sizeof(workers), "%u", exp->client_workers);
	snprintf(connections, sizeof(connections), "%u", spec->dimension[DIM_CONNECTIONS]);
	snprintf(in_flight, sizeof(in_flight), "%u", spec->dimension[DIM_IN_FLIGHT]);
	snprintf(samples, sizeof(samples), "%s/handshake_us/%u-%s.txt", cell->setup->dir,
		 spec->order, spec->name);
	if (start(cell, &cell->client, "parkbench-load", "client", args, cell->setup->client_meter))
		return -1;
	ready = cell_hear(cell, &cell->client.child, cell_timeout_ns(cell));
	json_decref(ready);
	return ready ? 0 : -1;
}

/* Tells a side to end, and expects that it does so properly. */
static int end_side(struct live_cell *cell, struct side *side, const char *command)
{
	char words[384];

	child_send(&side->child, command);
	if (child_wait(&side->child, (int)(cell_timeout_ns(cell) / NS_PER_MS))) {
		result_judge(cell->result, VERDICT_FAIL, "%s did not end when told to",
			     side->child.name);
		return -1;
	}
	if (side->child.status == 0)
		return 0;
	child_obituary(&side->child, words, sizeof(words));
	result_judge(cell->result, VERDICT_FAIL, "%s ended badly: %s", side->child.name, words);
	return -1;
}

static int stop(struct live_cell *cell)
{
	return end_side(cell, &cell->client, "quit") || end_side(cell, &cell->server, "stop") ? -1
											      : 0;
}

static const struct {
	const char *name;
	int (*run)(struct live_cell *cell);
} steps[] = {
	{"network", enter_network},
	{"crypto floor", measure_crypto_floor},
	{"server start", start_server},
	{"client start", start_client},
	{"baseline", cell_step_baseline},
	{"ramp", cell_step_ramp},
	{"history", cell_step_history},
	{"idle", cell_step_idle},
	{"hold", cell_step_hold},
	{"key updates", cell_step_key_updates},
	{"round 1", cell_step_round1},
	{"round 2", cell_step_round2},
	{"active", cell_step_active},
	{"close", cell_step_close},
	{"stop", stop},
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
		.server.child = {.pid = -1, .in = -1, .out = -1},
		.client.child = {.pid = -1, .in = -1, .out = -1},
		.next_sample_ns = NS_NEVER,
	};

	name_methods(cell.result, setup->server_meter);
	for (int i = 0; i < STEPS; i++) {
		atomic_store(&shared->step, i);
		if (steps[i].run(&cell))
			break;
	}
	gates_at_end(cell.result, &setup->exp->gates);
	child_end(&cell.client.child);
	child_end(&cell.server.child);
	atomic_store(&shared->finished, true);
}
