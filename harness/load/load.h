/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/load/ - the load generator: the connection core in the client's role,
 * on the epoll reactor always, taken through the phases of a cell: ramp, hold,
 * history, rounds, wakes, close. Nothing is tried twice.
 */
#ifndef HARNESS_LOAD_LOAD_H
#define HARNESS_LOAD_LOAD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/common/park.h"
#include "harness/common/sizing.h"
#include "harness/common/tally.h"
#include "harness/load/times.h"
#include "tls_backends/tls_backend.h"

/* Level deep: connections that have a socket at a time, since that outlives the response by a
 * while. Of the files that may be open they take at most half. */
#define LOAD_DEEP_SOCKETS_MAX 8192u

struct load;

struct load_config {
	const struct tls_ops *tls;
	enum park_level park;
	struct sockaddr_in server;
	struct sizing sizing;
	uint64_t first;     /* of the plan: connections are first .. first + how many */
	uint32_t in_flight; /* handshakes, or fetches, at a time, all workers together */
	bool waves;         /* the ramp goes on only when all in flight have been answered: as many
			       handshakes are then under way at the server as well */
	unsigned ramping_max; /* workers that ramp at a time, in turn */
	unsigned stagger_s;   /* the starts of the workers are spread over so long */
	uint64_t
		memory_floor_bytes; /* less available memory than this ends the ramp; 0: no floor */
	const char *path;           /* asked for in rounds: `/` or `/N` */
	unsigned timeout_s;         /* of a handshake, and of a response */
};

/* What a phase came to; of all workers. */
struct load_result {
	uint64_t ok;     /* established, answered or closed */
	uint64_t failed; /* the rest of those that the phase was about */
	uint64_t open;   /* connections now */
	uint64_t active; /* of load_active: connections that asked */
	double seconds;  /* from the first act to the last result */
	struct tally failures;
};

/* 0, or a negative errno with the reason. */
int load_start(struct load **load, const struct load_config *config, char *reason,
	       size_t reason_size);
/* Begin a phase; load_wait tells its end. */
void load_ramp(struct load *load);
void load_round(struct load *load);
/* Every connection asks once for a body of so many bytes, at most in_flight of them at a time. */
void load_fetch(struct load *load, uint32_t bytes);
/* Every connection once, as many at a time: our KeyUpdate, which asks for the server's, and a
 * request. ok: the response came under new keys both ways. */
void load_key_update(struct load *load);
/* So large a fraction of the connections, at least one a worker, asks again as soon as it is
 * answered, until `seconds` are over; the others stay idle. */
void load_active(struct load *load, double fraction, double seconds);
/*
 * So many connections, spread over the tables of the workers, ask once: one at a time in the whole
 * process, with pauses and rests (load_wakes.c). Timed is the server's wake: from the moment
 * when the request is about to be sent, on a socket that our own parking has given back before,
 * until the whole response has come. If there are fewer connections they go round again, once
 * the server has had the time to park them. 0, or -ENOMEM.
 */
int load_wakes(struct load *load, uint32_t count);
void load_close(struct load *load);
/* Waits at most `wait_ms` for the end of the phase: true with its result, or
 * false with the result so far. */
bool load_wait(struct load *load, unsigned wait_ms, struct load_result *result);
/* What was lost since the last phase ended: result->failed, by cause. */
void load_dropped(struct load *load, struct load_result *result);
/* In order, the handshakes of the last ramp that ended, and the wakes of the last load_wakes; the
 * load's own, valid until the next call. Handshake times, counted from the connect, are 8 bytes a
 * connection of the client's memory: the workers' own and these. */
const struct times *load_handshakes(struct load *load);
const struct times *load_wake_times(struct load *load);
/* The negotiated version of all connections, "TLSv1.3", "none" for plain, or
 * "mixed". After the ramp. */
const char *load_protocol(const struct load *load);
/* Ends at once whatever is open, and frees. */
void load_free(struct load *load);

#endif
