// SPDX-License-Identifier: Apache-2.0
/* harness/common/ - how many workers hold so many connections. */
#include "harness/common/sizing.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/common/limits.h"

/* Where the limit on open files is none: as many slots as one worker may have. */
#define CONNECTIONS_MAX (1u << 24)
/* Standard deviations above the mean that a worker's share must leave room for: more is
 * dealt to one of a thousand workers once in a million runs. */
#define SPREAD_SDS 6.0
/* So much of a table stays free where the kernel deals connections out: new ones come before
 * those they replace have given their files back. */
#define HEADROOM_PART 6

static const char *const names[WORKER_MODELS] = {
	[WORKER_AUTO] = "auto",
	[WORKER_THREADS] = "threads",
	[WORKER_TABLES] = "tables",
	[WORKER_PROCESSES] = "processes",
};

int worker_model_find(const char *name)
{
	for (int model = 0; model < WORKER_MODELS; model++)
		if (!strcmp(names[model], name))
			return model;
	return -EINVAL;
}

const char *worker_model_name(enum worker_model model)
{
	return names[model];
}

/* Connections that one table holds beside what its workers have open otherwise. */
static uint64_t table_room(const struct sizing_wish *wish, unsigned workers)
{
	uint64_t own = LIMITS_SPARE_FILES + (uint64_t)workers * SIZING_FILES_PER_WORKER;
	uint64_t room = wish->files > own ? wish->files - own : 0;

	return room < CONNECTIONS_MAX ? room : CONNECTIONS_MAX;
}

/* Of a table that one worker has for itself, what may be planned for. */
static uint64_t share_room(const struct sizing_wish *wish)
{
	uint64_t room = table_room(wish, 1), headroom = wish->files / HEADROOM_PART;

	if (!wish->spread || room == CONNECTIONS_MAX)
		return room;
	return room > headroom ? room - headroom : 0;
}

/* The most that one of so many workers gets. A hash deals like dice: a share is binomial. */
static double share(const struct sizing_wish *wish, uint64_t connections, unsigned workers)
{
	double part = 1.0 / workers, mean = (double)connections * part;

	if (!wish->spread)
		return ceil(mean);
	return ceil(mean + SPREAD_SDS * sqrt(mean * (1 - part)));
}

/* Workers with their own tables that hold so many; 0: more than there may be. */
static unsigned workers_needed(const struct sizing_wish *wish, uint64_t connections)
{
	for (unsigned workers = 1; workers <= SIZING_WORKERS_MAX; workers++)
		if (share(wish, connections, workers) <= (double)share_room(wish))
			return workers;
	return 0;
}

/* The inverse of share: what so many workers with their own tables hold. */
static uint64_t tables_hold(const struct sizing_wish *wish, unsigned workers)
{
	double sds = wish->spread ? SPREAD_SDS * sqrt(1 - 1.0 / workers) : 0;
	double room = (double)share_room(wish);
	double root = (sqrt(sds * sds + 4 * room) - sds) / 2;
	double all = floor(root * root * workers * (1 + 1e-12));

	return all < UINT32_MAX ? (uint64_t)all : UINT32_MAX;
}

static int no_room(const struct sizing_wish *wish, char *reason, size_t size)
{
	snprintf(reason, size,
		 "a limit of %" PRIu64 " open files leaves no room for connections: raise it "
		 "(`prlimit --pid $$ --nofile=...` as root)",
		 wish->files);
	return -EINVAL;
}

static int too_many(uint64_t connections, char *reason, size_t size)
{
	snprintf(reason, size,
		 "%" PRIu64 " connections would take more than %u workers with their own tables of "
		 "open files: raise the limit on open files, or ask for fewer connections",
		 connections, SIZING_WORKERS_MAX);
	return -EINVAL;
}

static int choose_threads(const struct sizing_wish *wish, struct sizing *sizing, char *reason,
			  size_t size)
{
	unsigned workers = wish->workers ? wish->workers : wish->cpus;
	uint64_t room = table_room(wish, workers);
	uint64_t connections = wish->connections ? wish->connections : room;
	uint64_t need = connections - room + wish->files;

	if (!room)
		return no_room(wish, reason, size);
	if (connections > room) {
		snprintf(reason, size,
			 "%u workers that share one table need %" PRIu64 " open files for %" PRIu64
			 " connections, the hard limit is %" PRIu64
			 ": raise it with `prlimit --pid "
			 "$$ --nofile=%" PRIu64 "` as root, or give %u workers their own tables "
			 "(--worker-model tables --workers 0)",
			 workers, need, connections, wish->files, need,
			 workers_needed(wish, connections));
		return -EMFILE;
	}
	*sizing = (struct sizing){
		.model = WORKER_THREADS,
		.workers = workers,
		.connections = (uint32_t)connections,
		/* A hash may deal anything to anyone, and here there is room for it. */
		.connections_max = (uint32_t)(wish->spread ? (double)connections
							   : share(wish, connections, workers)),
	};
	return 0;
}

static int choose_own(const struct sizing_wish *wish, enum worker_model model,
		      struct sizing *sizing, char *reason, size_t size)
{
	unsigned needed = workers_needed(wish, wish->connections);
	unsigned least = needed > wish->cpus ? needed : wish->cpus;
	unsigned workers = wish->workers ? wish->workers : least;

	if (!share_room(wish))
		return no_room(wish, reason, size);
	if (!needed)
		return too_many(wish->connections, reason, size);
	if (workers < needed) {
		snprintf(reason, size,
			 "%u workers with their own tables of %" PRIu64
			 " open files are needed for "
			 "%" PRIu64 " connections; the %u asked for hold at most %" PRIu64
			 ": ask for --workers %u (or 0), or for fewer connections",
			 needed, wish->files, wish->connections, workers,
			 tables_hold(wish, workers), needed);
		return -EMFILE;
	}
	*sizing = (struct sizing){
		.model = model,
		.workers = workers,
		.connections = (uint32_t)(wish->connections ? wish->connections
							    : tables_hold(wish, workers)),
		.connections_max = (uint32_t)table_room(wish, 1),
	};
	if (sizing->connections_max > sizing->connections)
		sizing->connections_max = sizing->connections;
	return 0;
}

static int choose(const struct sizing_wish *wish, struct sizing *sizing, char *reason,
		  size_t reason_size)
{
	unsigned workers = wish->workers ? wish->workers : wish->cpus;

	if (!workers || workers > SIZING_WORKERS_MAX) {
		snprintf(reason, reason_size, "%u workers: 1 to %u are possible", workers,
			 SIZING_WORKERS_MAX);
		return -EINVAL;
	}
	if (wish->connections > UINT32_MAX) {
		snprintf(reason, reason_size, "%" PRIu64 " connections: %u are possible",
			 wish->connections, UINT32_MAX);
		return -EINVAL;
	}
	if (wish->model == WORKER_THREADS ||
	    (wish->model == WORKER_AUTO && wish->connections <= table_room(wish, workers)))
		return choose_threads(wish, sizing, reason, reason_size);
	return choose_own(wish, wish->model == WORKER_AUTO ? WORKER_TABLES : wish->model, sizing,
			  reason, reason_size);
}

int sizing_choose(const struct sizing_wish *wish, struct sizing *sizing, char *reason,
		  size_t reason_size)
{
	struct sizing_wish unbounded = *wish;

	unbounded.files = UINT32_MAX;
	return choose(wish->socketless && wish->connections ? &unbounded : wish, sizing, reason,
		      reason_size);
}
