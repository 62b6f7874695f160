// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - limits on open files: of a table, of the system, and of epoll. */
#include "harness/bench/capacity.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "harness/common/limits.h"
#include "harness/measure/text_file.h"

/* Beside its connections a cell has listeners, loops and logs. */
#define SPARE_FILES 4096

static int64_t rlimit_files(bool hard)
{
	struct rlimit limit;
	rlim_t value;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -1;
	value = hard ? limit.rlim_max : limit.rlim_cur;
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* The first of three numbers. */
static int64_t read_files_open(const char *proc_root)
{
	char path[PATH_MAX], *text = NULL;
	int64_t open = -1;

	if (!text_format(path, sizeof(path), "%s/sys/fs/file-nr", proc_root) &&
	    !text_read(path, &text) && sscanf(text, "%" SCNd64, &open) != 1)
		open = -1;
	free(text);
	return open;
}

void capacity_read_files(struct capacity *capacity, const char *proc_root)
{
	capacity->nofile_soft = rlimit_files(false);
	capacity->nofile_hard = rlimit_files(true);
	capacity->nr_open = capacity_sysctl(proc_root, "fs.nr_open");
	capacity->file_max = capacity_sysctl(proc_root, "fs.file-max");
	capacity->files_open = read_files_open(proc_root);
	capacity->epoll_watches = capacity_sysctl(proc_root, "fs.epoll.max_user_watches");
}

/* Files that one table must hold. */
static int64_t table_files(const struct sizing *sizing)
{
	unsigned tables = sizing->model == WORKER_THREADS ? 1 : sizing->workers;
	unsigned workers_each = sizing->model == WORKER_THREADS ? sizing->workers : 1;

	return (int64_t)(sizing->connections / tables) + LIMITS_SPARE_FILES +
	       (int64_t)workers_each * SIZING_FILES_PER_WORKER;
}

/* The need is a table's: workers that have their own divide the connections. */
static void check_tables(struct capacity_rows *rows, const char *what,
			 const struct sizing_wish *wish)
{
	struct capacity_row *row = capacity_add(rows, what, (int64_t)wish->files);
	char reason[sizeof(row->fix)];
	struct sizing sizing;

	row->gates = true;
	if (sizing_choose(wish, &sizing, reason, sizeof(reason))) {
		snprintf(row->need, sizeof(row->need), "more for %" PRIu64 " connections",
			 wish->connections);
		capacity_lacks(row, "%s (workers = \"auto\" in the experiment)", reason);
		return;
	}
	if (wish->socketless) {
		snprintf(row->need, sizeof(row->need), "any: what is idle has no file");
		return;
	}
	snprintf(row->need, sizeof(row->need), "%" PRId64 ": %u workers, %s", table_files(&sizing),
		 sizing.workers, sizing.model == WORKER_THREADS ? "one table" : "a table each");
}

static void check_limits(struct capacity_rows *rows, const struct capacity *capacity,
			 const struct capacity_ask *ask)
{
	struct sizing_wish wish = {
		.connections = ask->connections,
		.files = (uint64_t)capacity->nofile_hard,
		.model = ask->model,
		.workers = ask->workers,
		.cpus = ask->cpus,
		.socketless = ask->server_deep,
		.spread = true,
	};

	check_tables(rows, "files a table, server", &wish);
	wish.connections = (ask->connections + ask->clients - 1) / ask->clients;
	wish.model = WORKER_AUTO;
	wish.workers = ask->client_workers;
	wish.socketless = ask->client_deep;
	wish.spread = false;
	check_tables(rows, "files a table, client", &wish);
}

void capacity_check_files(struct capacity_rows *rows, const struct capacity *capacity,
			  const struct capacity_ask *ask)
{
	int64_t sockets = capacity_sockets(ask);
	struct capacity_row *row =
		capacity_add(rows, "files a table, soft limit", capacity->nofile_soft);

	snprintf(row->need, sizeof(row->need), "any: parkbench raises it to the hard limit");
	if (capacity->nofile_hard >= 0)
		check_limits(rows, capacity, ask);
	row = capacity_add(rows, "fs.nr_open", capacity->nr_open);
	snprintf(row->need, sizeof(row->need), "any: the most that a hard limit may be raised to");
	capacity_add_sysctl(rows, "fs.file-max", capacity->file_max,
			    sockets + SPARE_FILES +
				    (capacity->files_open > 0 ? capacity->files_open : 0));
	capacity_add_sysctl(rows, "fs.epoll.max_user_watches", capacity->epoll_watches,
			    sockets + SPARE_FILES);
}
