/* SPDX-License-Identifier: Apache-2.0 */
/* harness/load/ - what the phases of one worker share. All of it is the worker thread's. */
#ifndef HARNESS_LOAD_LOAD_PHASE_H
#define HARNESS_LOAD_LOAD_PHASE_H

#include "harness/load/load_worker.h"

/* The app's bytes of a connection. */
struct load_conn {
	uint64_t start_ns;         /* of the connect; while it is being established */
	struct response *response; /* while one is expected; ours */
	size_t request_sent;
	bool new_keys; /* the response must come under keys that the server has changed */
};

static inline struct load_worker *load_worker(const struct worker *worker)
{
	return worker->config.app_data;
}

void load_phase_begin(struct load_worker *lw, enum load_phase phase);
/* Once a worker has all results of its phase. */
void load_phase_end(struct load_worker *lw);
/* One result of the phase; failure NULL: it is good. */
void load_count(struct load_worker *lw, const char *failure);
/* Level deep: whether one more connection may have a socket. The loop turns again once sockets have
 * gone. */
bool load_socket_free(const struct load_worker *lw);

/* A request is to be sent; it leaves with the connection's next output. */
void load_expect(struct load_worker *lw, struct conn *conn, const struct request *request);

/* Wakes: what they do after each turn, and when the response is there (at last_ns). */
void load_wakes_turn(struct load_worker *lw);
void load_wakes_answered(struct load_worker *lw);

/* The ramp: what it does after each turn, and with a connection that is established. */
void load_ramp_turn(struct load_worker *lw);
void load_ramp_established(struct worker *worker, struct conn *conn);

#endif
