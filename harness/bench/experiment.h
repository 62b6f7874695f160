/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - experiment files: what to run, read from libconfig syntax and
 * checked before anything starts. Format: http://hyperrealm.github.io/libconfig/
 * Settings with several values make a cell of every combination (dimensions.h).
 *
 *	reactors = "all"              or [ "epoll", "classic" ]; required
 *	tls = "all"                   required
 *	park = [ "hold", "shed" ]     required
 *	connections = 10000           required; or several: [ 1000, 10000 ]
 *	repeat = 1                    passes over all cells
 *	workers = 2                   of the server; "auto": as many as it takes
 *	worker_model = "auto"         or "threads", "tables", "processes" (sizing.h)
 *	client_tls = "boringssl"      for cells whose server is not plain
 *	client_park = "shed"
 *	client_workers = 2            of each client; or "auto"
 *	clients = 1                   load processes, which share the connections
 *	in_flight = 64                most handshakes under way at once; or several
 *	waves = false                 handshakes go on when the server has answered as many as
 *	                              in_flight, so that it has as many under way; slower
 *	history_bytes = 0             a body of so many bytes that every connection asks for
 *	                              once before it idles, 0: none; or several
 *	handshakes_max = 256          of the server: handshakes under way at once, a worker;
 *	                              further connections wait, 0: no cap; or several
 *	trim = true                   of the server: what handshakes freed goes back to the
 *	                              kernel when it is quiet (not at hold); or [ true, false ]
 *	settle_s = 1.0                quiet time before every reading
 *	hold_s = 2.0                  idle time in which nothing may drop
 *	key_updates = 0               times that every connection and the server change their
 *	                              keys between hold and rounds; not without TLS
 *	wakes = 0                     connections, after the rounds, that are woken one at a time,
 *	                              each timed; of the first client
 *	active = [ 0.001, 1.0 ]       fractions of the connections, each > 0 and <= 1: so
 *	                              many ask again as soon as they are answered, the
 *	                              others stay idle; no such step when absent
 *	active_s = 2.0                how long they do, for each fraction
 *	crypto_floor_handshakes = 200 in memory, before each cell
 *	memory_floor_bytes = 536870912 the ramp stops before less is available; 0: never
 *	seed = 7                      order of the cells; a new one when absent
 *	gates = { user_bytes_per_conn_max = 8192; ramp_s_max = 180.0; }
 */
#ifndef HARNESS_BENCH_EXPERIMENT_H
#define HARNESS_BENCH_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/bench/dimensions.h"
#include "harness/bench/names.h"
#include "harness/common/sizing.h"

#define FRACTIONS_MAX 8
#define CLIENTS_MAX 32

/* Of the connections; as the file lists them. */
struct fractions {
	double value[FRACTIONS_MAX];
	size_t count;
};

/* The most that a cell may exceed; 0: no such gate. */
struct gate_limits {
	double user_bytes_per_conn_max;
	double ramp_s_max;
};

/* Made by experiment_load, ended by experiment_free, read-only in between. */
struct experiment {
	char name[64]; /* the file's own name without .cfg */
	char *text;    /* the file as it was read; owned */
	struct names reactors;
	struct names tls;
	struct names park;
	struct choices dimension[DIMENSIONS];
	unsigned repeat;
	unsigned workers; /* 0: auto */
	enum worker_model worker_model;
	char client_tls[NAME_SIZE];
	char client_park[NAME_SIZE];
	unsigned client_workers; /* of each client; 0: auto */
	unsigned clients;
	bool waves;
	double settle_s;
	double hold_s;
	unsigned key_updates;
	unsigned wakes;
	struct fractions active;
	double active_s;
	unsigned crypto_floor_handshakes;
	double memory_floor_bytes;
	unsigned seed; /* 0: none was given */
	struct gate_limits gates;
};

/*
 * Reads and checks a file. 0, or -EINVAL (-ENOENT, -EACCES, ... when it can not
 * be read) with a message that names the file and, where there is one, the line.
 * "all" stands for every known name. `known` is borrowed for the call.
 */
int experiment_load(struct experiment *exp, const char *path, const struct known_names *known,
		    char *error, size_t error_size);
void experiment_free(struct experiment *exp);

/* The client's backend for a server's: plain for plain, else client_tls. */
const char *experiment_client_tls(const struct experiment *exp, const char *server_tls);

#endif
