/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - the limits of this machine and what a cell needs of them, row by row: what
 * `parkbench doctor` prints, and what a cell is skipped for. By subject: capacity_files.c,
 * capacity_memory.c, capacity_network.c, and processes in capacity.c. Sources: getrlimit(2),
 * proc(5) below /proc/sys, proc_meminfo(5), epoll(7), tcp(7).
 */
#ifndef HARNESS_BENCH_CAPACITY_H
#define HARNESS_BENCH_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/bench/experiment.h"
#include "harness/common/sizing.h"

/* What is set; -1: unknown here, which nothing is refused for. */
struct capacity {
	int64_t nofile_soft; /* raised to the hard limit for every child */
	int64_t nofile_hard;
	int64_t file_max;
	int64_t files_open; /* of the whole system, now */
	int64_t nr_open;
	int64_t epoll_watches; /* a user may have */
	int64_t pid_max;
	int64_t threads_max;
	int64_t nproc; /* RLIMIT_NPROC; -1 for root too, whom it does not bind */
	int64_t max_map_count;
	int64_t memlock_bytes;
	int64_t memory_available_bytes;
	int64_t tcp_pages; /* tcp_mem: all sockets of the machine together may hold so many */
	int64_t conntrack_max;
	int64_t somaxconn; /* inside a cell's network; the caller fills it in, or -1 */
};

/* What is asked for: a cell, or the hungriest of an experiment. */
struct capacity_ask {
	unsigned connections;
	unsigned in_flight;
	unsigned workers;        /* of the server; 0: as many as it takes */
	unsigned clients;        /* load processes */
	unsigned client_workers; /* of each; 0: as many as it takes */
	unsigned cpus;
	enum worker_model model;
	bool thread_per_connection;
	bool server_deep; /* that side parks at level deep: without files */
	bool client_deep;
};

/* Sockets that both sides together have at a time, at most. */
int64_t capacity_sockets(const struct capacity_ask *ask);

/* One limit; plain values. */
struct capacity_row {
	char what[40];
	char now[64];
	char need[128];
	bool ok;
	bool gates;    /* a cell that misses it can not run */
	char fix[512]; /* the command, where it is not ok */
};

#define CAPACITY_ROWS 20
struct capacity_rows {
	struct capacity_row row[CAPACITY_ROWS];
	size_t count;
};

/* Of the experiment's largest cell; the reactor's part is left to the caller. */
void capacity_ask_most(struct capacity_ask *ask, const struct experiment *exp);

/* `proc_root` is "/proc"; limits are those of this process. */
void capacity_read(struct capacity *capacity, const char *proc_root);

/* Every limit that such a cell meets, with what it needs. */
void capacity_check(struct capacity_rows *rows, const struct capacity *capacity,
		    const struct capacity_ask *ask);

/* 0, or -EAGAIN with the reason why such a cell can not run here, which names the first
 * limit that gates it, the need and the command that raises it. */
int capacity_refuse(const struct capacity_rows *rows, char *reason, size_t reason_size);

/* ---- for capacity_*.c only ---- */

void capacity_read_files(struct capacity *capacity, const char *proc_root);
void capacity_read_memory(struct capacity *capacity, const char *proc_root);
void capacity_read_network(struct capacity *capacity, const char *proc_root);
void capacity_check_files(struct capacity_rows *rows, const struct capacity *capacity,
			  const struct capacity_ask *ask);
void capacity_check_memory(struct capacity_rows *rows, const struct capacity *capacity,
			   const struct capacity_ask *ask);
void capacity_check_network(struct capacity_rows *rows, const struct capacity *capacity,
			    const struct capacity_ask *ask);

/* The number in root/sys/net/core/somaxconn for "net.core.somaxconn"; -1: there is none. */
int64_t capacity_sysctl(const char *proc_root, const char *name);
/* Bytes of a line of meminfo, "MemAvailable:"; -1. */
int64_t capacity_meminfo(const char *proc_root, const char *key);

/* A new row, which is ok. */
struct capacity_row *capacity_add(struct capacity_rows *rows, const char *what, int64_t now);
/* The row is not ok: what to do about it. */
__attribute__((format(printf, 2, 3))) void capacity_lacks(struct capacity_row *row, const char *fix,
							  ...);
/* A setting of the kernel that must be so high, or the cell can not run; need 0: any. */
void capacity_add_sysctl(struct capacity_rows *rows, const char *name, int64_t now, int64_t need);

#endif
