/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/tests/ - what is said in a storm: two apps on the core. A client asks after pauses of
 * its own, now and then in two parts, and waits for the answer. Sizes are random, and what a byte
 * has to be depends on the connection, the direction and its position: both ends check all of them.
 */
#ifndef REACTORS_TESTS_C1M_TALK_H
#define REACTORS_TESTS_C1M_TALK_H

#include <netinet/in.h>
#include <stdint.h>

#include "harness/common/tally.h"
#include "harness/core/worker.h"

/* Connection 0 comes from there. Chosen, since the kernel knows nothing of a parked one's port. */
enum { STORM_FIRST_PORT = 10000 };

/* What an end knows of a connection, by its worker's slot: the connection's object is gone while
 * it is parked. */
struct talk {
	uint64_t due_ns; /* client: says more then; 0: waits for an answer */
	uint32_t id;
	uint32_t to_send, sent, to_receive, received;
	uint32_t unasked; /* client: the second part of the request */
	uint32_t round;   /* how many answers it has, or has given */
};

/* A worker of either side. */
struct end {
	struct worker worker;
	struct talk *talks;
	unsigned seed;
	uint32_t rounds;
	struct sockaddr_in source, server; /* client: from where, without a port, and to where */
	uint32_t first, quota;             /* client: its connections are first .. first + quota */
	uint32_t started, in_flight;       /* client */
	uint32_t done, closed;             /* had all their rounds; ended well after that */
	uint64_t received;
	struct tally failures;
};

static inline struct end *end_of(const struct worker *worker)
{
	return worker->config.app_data;
}

extern const struct app_ops storm_server, storm_client;

/* A client's worker starts connections that are still due, and speaks where a pause is over. To be
 * run in its thread, every few milliseconds. */
void storm_tick(struct worker *worker, void *unused);

#endif
