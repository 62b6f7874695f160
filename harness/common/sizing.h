/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/common/ - how many workers hold so many connections under a limit on open files, and
 * what they share. Source: getrlimit(2), unshare(2) CLONE_FILES, socket(7) SO_REUSEPORT.
 */
#ifndef HARNESS_COMMON_SIZING_H
#define HARNESS_COMMON_SIZING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files that a worker has open beside its connections: listener, loop, wake, ring. */
#define SIZING_FILES_PER_WORKER 8
#define SIZING_WORKERS_MAX 1024u

/* What a worker is, and so what a limit on open files limits. */
enum worker_model {
	WORKER_AUTO,      /* threads while they are enough, else tables */
	WORKER_THREADS,   /* threads, one table of open files for all */
	WORKER_TABLES,    /* threads, each with its own table */
	WORKER_PROCESSES, /* processes: prefork */
	WORKER_MODELS,
};

/* The model of that name ("auto", "threads", "tables", "processes"), or -EINVAL. */
int worker_model_find(const char *name);
const char *worker_model_name(enum worker_model model);

struct sizing_wish {
	uint64_t connections; /* 0: as many as fit */
	uint64_t files;       /* that a table may hold: the hard RLIMIT_NOFILE */
	enum worker_model model;
	unsigned workers; /* 0: as many as it takes, one a CPU at least */
	unsigned cpus;
	bool socketless; /* level deep: idle connections have no file, so no table limits them */
	bool spread;     /* a server's: SO_REUSEPORT deals the connections out by hash; else each
			    worker has its exact share */
};

struct sizing {
	enum worker_model model; /* never auto */
	unsigned workers;
	uint32_t connections;     /* of all workers together */
	uint32_t connections_max; /* of any one: its slots */
};

/*
 * 0; -EMFILE: it does not fit, and the reason says what would; -EINVAL: there is no such
 * sizing at all. Pure: nothing is asked of the system.
 */
int sizing_choose(const struct sizing_wish *wish, struct sizing *sizing, char *reason,
		  size_t reason_size);

#endif
