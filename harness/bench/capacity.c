// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - limits: what their rows share, and those on processes. */
#include "harness/bench/capacity.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/common/options.h"
#include "harness/common/park.h"
#include "harness/load/load.h"
#include "harness/measure/text_file.h"

/* Beside the connections' threads the machine has others, and the server has other maps. */
#define SPARE_THREADS 1024
#define SPARE_MAPS 2048

int64_t capacity_sysctl(const char *proc_root, const char *name)
{
	char path[PATH_MAX];
	int64_t value;

	if (text_format(path, sizeof(path), "%s/sys/%s", proc_root, name))
		return -1;
	for (char *dot = path + strlen(proc_root); (dot = strchr(dot, '.'));)
		*dot = '/';
	return text_read_int(path, &value) ? -1 : value;
}

struct capacity_row *capacity_add(struct capacity_rows *rows, const char *what, int64_t now)
{
	struct capacity_row *row = &rows->row[rows->count];

	/* The last place would be overwritten by one too many: a test counts them. */
	if (rows->count < CAPACITY_ROWS - 1)
		rows->count++;
	*row = (struct capacity_row){.ok = true, .now = "unknown"};
	snprintf(row->what, sizeof(row->what), "%s", what);
	if (now >= 0)
		snprintf(row->now, sizeof(row->now), "%" PRId64, now);
	return row;
}

void capacity_lacks(struct capacity_row *row, const char *fix, ...)
{
	va_list args;

	row->ok = false;
	va_start(args, fix);
	vsnprintf(row->fix, sizeof(row->fix), fix, args);
	va_end(args);
}

void capacity_add_sysctl(struct capacity_rows *rows, const char *name, int64_t now, int64_t need)
{
	struct capacity_row *row = capacity_add(rows, name, now);

	row->gates = true;
	snprintf(row->need, sizeof(row->need), "-");
	if (need > 0)
		snprintf(row->need, sizeof(row->need), "%" PRId64, need);
	if (now >= 0 && now < need)
		capacity_lacks(row, "sudo sysctl -w %s=%" PRId64, name, need);
}

static void read_processes(struct capacity *capacity, const char *proc_root)
{
	struct rlimit limit;

	capacity->pid_max = capacity_sysctl(proc_root, "kernel.pid_max");
	capacity->threads_max = capacity_sysctl(proc_root, "kernel.threads-max");
	capacity->max_map_count = capacity_sysctl(proc_root, "vm.max_map_count");
	capacity->nproc = -1;
	if (geteuid() && !getrlimit(RLIMIT_NPROC, &limit) && limit.rlim_cur != RLIM_INFINITY)
		capacity->nproc = (int64_t)limit.rlim_cur;
}

static void check_processes(struct capacity_rows *rows, const struct capacity *capacity,
			    const struct capacity_ask *ask)
{
	int64_t connections = ask->thread_per_connection ? ask->connections : 0;
	int64_t threads = connections ? connections + SPARE_THREADS : 0;
	struct capacity_row *row;

	capacity_add_sysctl(rows, "kernel.pid_max", capacity->pid_max, threads);
	capacity_add_sysctl(rows, "kernel.threads-max", capacity->threads_max, threads);
	/* A thread has a stack and its guard. */
	capacity_add_sysctl(rows, "vm.max_map_count", capacity->max_map_count,
			    connections ? 2 * connections + SPARE_MAPS : 0);
	if (capacity->nproc < 0 || !threads)
		return;
	row = capacity_add(rows, "threads a user", capacity->nproc);
	row->gates = true;
	snprintf(row->need, sizeof(row->need), "%" PRId64, threads);
	if (capacity->nproc < threads)
		capacity_lacks(row, "sudo prlimit --pid $$ --nproc=%" PRId64, threads);
}

int64_t capacity_sockets(const struct capacity_ask *ask)
{
	int64_t all = ask->connections;
	int64_t deep = all < LOAD_DEEP_SOCKETS_MAX ? all : LOAD_DEEP_SOCKETS_MAX;

	return (ask->server_deep ? deep : all) + (ask->client_deep ? deep : all);
}

static bool all_deep(const struct names *park)
{
	for (size_t i = 0; i < park->count; i++)
		if (strcmp(park->name[i], park_levels[PARK_DEEP].name))
			return false;
	return true;
}

void capacity_ask_most(struct capacity_ask *ask, const struct experiment *exp)
{
	*ask = (struct capacity_ask){
		.connections = choices_most(&exp->dimension[DIM_CONNECTIONS]),
		.in_flight = choices_most(&exp->dimension[DIM_IN_FLIGHT]),
		.workers = exp->workers,
		.clients = exp->clients,
		.client_workers = exp->client_workers,
		.cpus = option_cpus(),
		.model = exp->worker_model,
		.server_deep = all_deep(&exp->park),
		.client_deep = !strcmp(exp->client_park, park_levels[PARK_DEEP].name),
	};
}

void capacity_read(struct capacity *capacity, const char *proc_root)
{
	*capacity = (struct capacity){.somaxconn = -1};
	capacity_read_files(capacity, proc_root);
	read_processes(capacity, proc_root);
	capacity_read_memory(capacity, proc_root);
	capacity_read_network(capacity, proc_root);
}

void capacity_check(struct capacity_rows *rows, const struct capacity *capacity,
		    const struct capacity_ask *ask)
{
	rows->count = 0;
	capacity_check_files(rows, capacity, ask);
	check_processes(rows, capacity, ask);
	capacity_check_network(rows, capacity, ask);
	capacity_check_memory(rows, capacity, ask);
}

int capacity_refuse(const struct capacity_rows *rows, char *reason, size_t reason_size)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct capacity_row *row = &rows->row[i];

		if (row->ok || !row->gates)
			continue;
		snprintf(reason, reason_size, "%s: needs %s, is %s; raise it with: %s", row->what,
			 row->need, row->now, row->fix);
		return -EAGAIN;
	}
	return 0;
}
