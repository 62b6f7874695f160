// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - runs an experiment. Source: prctl(2). */
#include "harness/bench/run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "harness/bench/apart.h"
#include "harness/bench/capacity.h"
#include "harness/bench/cell.h"
#include "harness/bench/forecast.h"
#include "harness/bench/janitor.h"
#include "harness/bench/manifest.h"
#include "harness/bench/matrix.h"
#include "harness/bench/net_settings.h"
#include "harness/bench/probe.h"
#include "harness/bench/progress.h"
#include "harness/bench/rundir.h"
#include "harness/bench/table.h"
#include "harness/common/park.h"
#include "harness/core/plugin.h"
#include "harness/load/load.h"
#include "harness/measure/kernel_memory.h"
#include "reactors/reactor.h"

/* Everything of a run; lives in parkbench itself. */
struct running {
	const struct run_options *options;
	struct experiment exp;
	struct matrix matrix;
	struct probe reactors[NAMES_MAX]; /* as exp.reactors */
	struct probe tls[NAMES_MAX];      /* as exp.tls */
	struct capacity capacity;
	struct net_settings net_settings; /* of a cell's network */
	struct rundir dir;
	struct janitor janitor;
	struct progress progress;
	struct cell_shared *shared;
	struct apart apart;
	json_t *lines;  /* of the cells that have ended */
	size_t planned; /* cells, with those of a run that is gone on with */
	bool failed;
	bool ran; /* at least one cell was not skipped */
};

static unsigned draw_seed(void)
{
	unsigned seed = 0;

	while (seed == 0)
		if (getrandom(&seed, sizeof(seed), 0) == sizeof(seed))
			seed &= 0x7fffffff;
	return seed;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct matrix_cell *)a)->name, ((const struct matrix_cell *)b)->name);
}

/* Lists what --only could have meant. */
static void say_nothing_selected(const struct running *run, char *error, size_t size)
{
	size_t used = (size_t)snprintf(
		error, size, "--only \"%s\" selects nothing; the cells are:", run->options->only);
	struct matrix all;

	if (matrix_build(&all, &run->exp, NULL, 1))
		return;
	qsort(all.cells, all.count, sizeof(*all.cells), by_name);
	for (size_t i = 0; i < all.count && used < size; i++)
		if (i == 0 || by_name(&all.cells[i - 1], &all.cells[i]))
			used += (size_t)snprintf(error + used, size - used, "\n  %s",
						 all.cells[i].name);
	matrix_free(&all);
}

static int plan(struct running *run, char *error, size_t size)
{
	const struct run_options *options = run->options;
	struct known_names known;
	int ret;

	names_known(&known);
	ret = experiment_load(&run->exp, options->experiment, &known, error, size);
	if (ret)
		return ret;
	if (options->connections)
		run->exp.dimension[DIM_CONNECTIONS] = (struct choices){{options->connections}, 1};
	if (options->repeat)
		run->exp.repeat = options->repeat;
	ret = matrix_build(&run->matrix, &run->exp, options->only,
			   run->exp.seed ? run->exp.seed : draw_seed());
	if (ret == -ENOENT)
		say_nothing_selected(run, error, size);
	else if (ret)
		snprintf(error, size, "%s", strerror(-ret));
	return ret;
}

/* The client is an instrument: without it no TLS cell can be measured at all. */
static int check_client(const struct running *run, char *error, size_t size)
{
	struct probe probe;
	bool wanted = false;

	for (size_t i = 0; i < run->matrix.count; i++)
		wanted |= strcmp(run->matrix.cells[i].tls, "plain") != 0;
	if (!wanted)
		return 0;
	probe_tls(run->exp.client_tls, &probe);
	if (probe.available)
		return 0;
	snprintf(error, size,
		 "client_tls = \"%s\", which all cells with TLS are measured with, can not be "
		 "used: %s; name another in %s",
		 run->exp.client_tls, probe.reason, run->options->experiment);
	return -ENOENT;
}

static int check_programs(char *error, size_t size)
{
	static const char *const programs[] = {"parkbench-server", "parkbench-load"};
	char path[PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		int ret = beside_executable(path, sizeof(path), programs[i]);

		if (!ret && access(path, X_OK))
			ret = -errno;
		if (!ret)
			continue;
		snprintf(error, size, "%s: %s; build it with: make", programs[i], strerror(-ret));
		return ret;
	}
	return 0;
}

static void probe_all(struct running *run)
{
	char reason[512];

	for (size_t i = 0; i < run->exp.reactors.count; i++)
		probe_reactor(run->exp.reactors.name[i], &run->reactors[i]);
	for (size_t i = 0; i < run->exp.tls.count; i++)
		probe_tls(run->exp.tls.name[i], &run->tls[i]);
	/* Where there is no private network, each cell says why. */
	net_settings_probe(&run->net_settings, reason, sizeof(reason));
	capacity_read(&run->capacity, "/proc");
	run->capacity.somaxconn = net_settings_after(&run->net_settings, "net.core.somaxconn");
}

/* `*manifest`, of this go, is replaced by the run's with it. */
static int add_to_manifest(const struct running *run, json_t **manifest)
{
	char unused[256];
	json_t *whole = rundir_manifest(run->dir.path, unused, sizeof(unused));
	int ret = whole ? manifest_resume(whole, *manifest, run->planned) : -EINVAL;

	*manifest = whole;
	return ret;
}

static int make_manifest(struct running *run)
{
	struct manifest_source source = {
		.run = run->dir.name,
		.argv = run->options->argv,
		.exp = &run->exp,
		.matrix = &run->matrix,
		.only = run->options->only,
		.reactors = run->reactors,
		.tls = run->tls,
		.net_settings = &run->net_settings,
	};
	struct kernel_meter meter;
	json_t *manifest;
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "parkbench-%d-probe", (int)getpid());
	ret = kernel_meter_open(&meter, &kernel_system_roots, name);
	if (ret)
		return ret;
	source.kernel_method = kernel_method_name(meter.method);
	kernel_meter_close(&meter);
	manifest = manifest_make(&source);
	ret = manifest ? 0 : -EINVAL;
	if (!ret && run->options->resume)
		ret = add_to_manifest(run, &manifest);
	if (!ret)
		ret = rundir_write_manifest(&run->dir, manifest);
	json_decref(manifest);
	return ret;
}

static const struct probe *probe_of(const struct names *names, const struct probe *probes,
				    const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->name[i], name))
			return &probes[i];
	return NULL;
}

static int check_capacity(const struct running *run, const struct matrix_cell *cell, char *reason,
			  size_t size)
{
	struct capacity_ask ask;
	struct capacity_rows rows;

	capacity_ask_most(&ask, &run->exp);
	ask.connections = cell->dimension[DIM_CONNECTIONS];
	ask.in_flight = cell->dimension[DIM_IN_FLIGHT];
	ask.server_deep = !strcmp(cell->park, park_levels[PARK_DEEP].name);
	ask.thread_per_connection = reactor_find(cell->reactor)->caps & REACTOR_CAP_THREADS;
	capacity_check(&rows, &run->capacity, &ask);
	return capacity_refuse(&rows, reason, size);
}

/* True when one of the sides can not be parked deep as it should be. */
static bool must_skip_deep(const struct running *run, struct result *result)
{
	const char *const deep = park_levels[PARK_DEEP].name;
	struct probe probe;

	if (!strcmp(result->cell.park, deep)) {
		probe_deep(result->cell.reactor, &probe);
		if (!probe.available)
			result_judge(result, VERDICT_SKIP, "park deep: %s", probe.reason);
	}
	if (result->verdict != VERDICT_SKIP && !strcmp(run->exp.client_park, deep)) {
		probe_deep("c1m", &probe);
		if (!probe.available)
			result_judge(result, VERDICT_SKIP, "client_park deep: %s", probe.reason);
	}
	return result->verdict == VERDICT_SKIP;
}

/* True when the cell can not run here; the verdict says so. */
static bool must_skip(const struct running *run, struct result *result)
{
	const struct matrix_cell *cell = &result->cell;
	const struct probe *reactor = probe_of(&run->exp.reactors, run->reactors, cell->reactor);
	const struct probe *tls = probe_of(&run->exp.tls, run->tls, cell->tls);
	char reason[sizeof(result->reason)];

	if (!reactor->available)
		result_judge(result, VERDICT_SKIP, "reactor %s: %s", cell->reactor,
			     reactor->reason);
	else if (!tls->available)
		result_judge(result, VERDICT_SKIP, "tls %s: %s", cell->tls, tls->reason);
	else if (check_capacity(run, cell, reason, sizeof(reason)))
		result_judge(result, VERDICT_SKIP, "%s", reason);
	return result->verdict == VERDICT_SKIP || must_skip_deep(run, result);
}

/* A pilot of the cell tells what memory it will need. What it judges stands for the cell. */
static int run_pilot(struct running *run, struct result *result)
{
	struct cell_setup setup = {.exp = &run->exp, .dir = run->dir.path, .pilot = true};
	struct result *pilot = &run->shared->result;
	char reason[sizeof(result->reason)];
	struct forecast forecast;
	int ret;

	*pilot = *result;
	pilot->cell.dimension[DIM_CONNECTIONS] = FORECAST_PILOT;
	ret = apart_run(&run->apart, &setup);
	if (ret || run->apart.signal)
		return ret;
	if (pilot->verdict != VERDICT_PASS) {
		result_judge(result, pilot->verdict, "pilot: %.490s", pilot->reason);
		return 0;
	}
	forecast_make(&forecast, pilot, result->cell.dimension[DIM_CONNECTIONS],
		      strcmp(run->exp.client_park, park_levels[PARK_DEEP].name)
			      ? UINT_MAX
			      : LOAD_DEEP_SOCKETS_MAX);
	result->predicted_memory_bytes = forecast.bytes;
	if (forecast_refuse(&forecast, capacity_meminfo("/proc", "MemAvailable:"),
			    run->exp.memory_floor_bytes, reason, sizeof(reason)))
		result_judge(result, VERDICT_SKIP, "%s", reason);
	return 0;
}

static int run_cell(struct running *run, const struct matrix_cell *cell)
{
	struct cell_setup setup = {.exp = &run->exp, .dir = run->dir.path};
	struct result result;
	int ret = 0;

	result_init(&result, cell, &run->exp);
	memset(run->shared, 0, sizeof(*run->shared));
	if (!must_skip(run, &result) && cell->dimension[DIM_CONNECTIONS] > FORECAST_ABOVE)
		ret = run_pilot(run, &result);
	memset(run->shared, 0, sizeof(*run->shared));
	run->shared->result = result;
	if (!ret && !run->apart.signal && result.verdict == VERDICT_PASS)
		ret = apart_run(&run->apart, &setup);
	return ret;
}

/* The result becomes a line of cells.jsonl and is remembered for the table. */
static int keep_result(struct running *run)
{
	const struct result *result = &run->shared->result;
	json_t *line = result_json(result, run->dir.name);
	int ret = line ? result_append(run->dir.cells_fd, line) : -ENOMEM;

	if (!ret && json_array_append(run->lines, line))
		ret = -ENOMEM;
	json_decref(line);
	progress_cell(&run->progress, result);
	run->ran |= result->verdict != VERDICT_SKIP;
	run->failed |= result->verdict == VERDICT_FAIL || result->verdict == VERDICT_INVALID;
	return ret;
}

static int run_cells(struct running *run)
{
	int ret = 0;

	for (size_t i = 0; i < run->matrix.count && !ret && !run->apart.signal; i++) {
		ret = run_cell(run, &run->matrix.cells[i]);
		if (!ret && !run->apart.signal)
			ret = keep_result(run);
	}
	return ret;
}

/* Those that end the run, unless the caller has them ignored (nohup(1)), and SIGCHLD. */
static void fill_signals(sigset_t *signals)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++) {
		struct sigaction now;

		if (!sigaction(ending[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(signals, ending[i]);
	}
}

/* From the first process to the last; everything is gone on return. */
static int execute(struct running *run)
{
	sigset_t signals, before;
	int ret = janitor_start(&run->janitor);

	if (ret)
		return ret;
	fill_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &before);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	progress_start(&run->progress, run->options->progress, run->planned);
	run->apart = (struct apart){
		.janitor = &run->janitor,
		.progress = &run->progress,
		.shared = run->shared,
		.signals = &signals,
	};
	ret = run_cells(run);
	janitor_end(&run->janitor);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static void print_outcome(const struct running *run)
{
	FILE *stream = run->options->table;

	fprintf(stream, "\n");
	table_print(stream, run->lines);
	if (run->apart.signal)
		fprintf(stream, "\ninterrupted (%s) after %zu of %zu cells\n",
			strsignal(run->apart.signal), json_array_size(run->lines), run->planned);
	fprintf(stream, "\nresults: %s\n", run->dir.path);
}

static int outcome(const struct running *run, int ret, char *error, size_t size)
{
	if (ret)
		snprintf(error, size, "%s: the run can not go on: %s", run->dir.path,
			 strerror(-ret));
	else if (run->apart.signal)
		return RUN_SIGNAL + run->apart.signal;
	else if (run->failed)
		return RUN_FAILED;
	else if (run->ran)
		return RUN_PASSED;
	else
		snprintf(error, size,
			 "every cell was skipped: this machine can run none of them; "
			 "see also: parkbench doctor %s",
			 run->options->experiment);
	return RUN_UNUSABLE;
}

static int resume(struct running *run, char *error, size_t size)
{
	int ret = rundir_resume(&run->dir, run->options->resume, run->exp.text, &run->lines, error,
				size);

	if (ret)
		return ret;
	matrix_leave_out(&run->matrix, run->lines);
	if (run->matrix.count)
		return 0;
	snprintf(error, size, "%s has all these cells: nothing is left to run", run->dir.path);
	return -EALREADY;
}

static int prepare(struct running *run, char *error, size_t size)
{
	int ret = plan(run, error, size);

	if (!ret)
		ret = check_client(run, error, size);
	if (!ret)
		ret = check_programs(error, size);
	if (ret)
		return ret;
	probe_all(run);
	ret = run->options->resume
		      ? resume(run, error, size)
		      : rundir_create(&run->dir, run->options->out, run->exp.name, error, size);
	if (ret)
		return ret;
	run->planned = json_array_size(run->lines) + run->matrix.count;
	ret = make_manifest(run);
	if (ret == -EXDEV)
		snprintf(error, size,
			 "%s was made on another machine: its cells would not compare with new "
			 "ones: start a run of its own",
			 run->dir.path);
	else if (ret)
		snprintf(error, size, "%s/manifest.json can not be written: %s (is %s UTF-8?)",
			 run->dir.path, strerror(-ret), run->options->experiment);
	return ret;
}

int run_experiment(const struct run_options *options, char *error, size_t error_size)
{
	struct running *run = calloc(1, sizeof(*run));
	int status = RUN_UNUSABLE, ret = -ENOMEM;

	snprintf(error, error_size, "out of memory");
	if (!run)
		return status;
	run->options = options;
	run->dir.cells_fd = -1;
	run->lines = options->resume ? NULL : json_array();
	run->shared = mmap(NULL, sizeof(*run->shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run->shared != MAP_FAILED)
		ret = prepare(run, error, error_size);
	if (!ret) {
		ret = execute(run);
		print_outcome(run);
		status = outcome(run, ret, error, error_size);
	}
	if (run->shared != MAP_FAILED)
		munmap(run->shared, sizeof(*run->shared));
	if (run->dir.cells_fd >= 0)
		close(run->dir.cells_fd);
	json_decref(run->lines);
	matrix_free(&run->matrix);
	experiment_free(&run->exp);
	free(run);
	return status;
}
