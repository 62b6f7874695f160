/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - a running cell, and how its process talks with the two programs it
 * started: asking, waiting with a limit, and noticing when one has died.
 */
#ifndef HARNESS_BENCH_CELL_TALK_H
#define HARNESS_BENCH_CELL_TALK_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/bench/cell.h"
#include "harness/bench/side.h"
#include "harness/measure/net_counters.h"

/* Everything of a running cell; lives in the cell's process. */
struct live_cell {
	const struct cell_setup *setup;
	struct cell_shared *shared;
	struct result *result; /* shared->result */
	struct side server;
	struct side client;
	struct net_counters counters; /* before the ramp */
	double slab_bytes;            /* likewise */
	uint64_t started_ns;          /* the cell's clock */
	double available_start_bytes; /* of memory, before the first process */
	FILE *timeline;               /* NULL: none is kept */
	uint64_t next_sample_ns;      /* of both sides' memory; NS_NEVER: none is wanted */
	double *peak_bytes;           /* what samples raise; in result, or NULL */
	double sampled_established;   /* at the last sample */
	unsigned established[SIDE_PROCESSES_MAX]; /* of each client, in the ramp */
	double server_round_us;                   /* CPU time of both rounds */
	double server_round_syscalls;             /* likewise */
};

/* The longest that the step may take, with so many connections. */
uint64_t cell_timeout_ns(const struct live_cell *cell);
/* The longest that the client may wait for a handshake or a response. */
unsigned cell_client_timeout_s(const struct live_cell *cell);

/*
 * The child's next answer that is not a progress line, a new reference; NULL when
 * it died, said something else or took too long, or the server died meanwhile:
 * the verdict says so, and the cell can not go on.
 */
json_t *cell_hear(struct live_cell *cell, struct child *child, uint64_t timeout_ns);
/* Sends a command first. */
json_t *cell_ask(struct live_cell *cell, struct child *child, const char *command,
		 uint64_t timeout_ns);

/*
 * The same with every client: the command goes to all before any is heard, and what they
 * answer is merged (answers.h).
 */
json_t *cell_hear_clients(struct live_cell *cell, uint64_t timeout_ns);
json_t *cell_ask_clients(struct live_cell *cell, const char *command, uint64_t timeout_ns);

/* Judges when the child has ended, which none may before it is told to. */
bool cell_died(struct live_cell *cell, struct child *child);
bool cell_client_died(struct live_cell *cell);
/* The same for the server, before its failures are blamed on the network. */
bool cell_server_died(struct live_cell *cell, const json_t *failures);

/* The file of all times of `what`: "handshake", and then each of several clients adds its number to
 * the name, or "wake". */
void cell_samples_path(const struct live_cell *cell, const char *what, char path[PATH_MAX]);

/* A member of an answer: NAN, or "", when it is not there. */
double answer_number(const json_t *answer, const char *key);
const char *answer_text(const json_t *answer, const char *key);

#endif
