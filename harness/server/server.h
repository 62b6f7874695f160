/* SPDX-License-Identifier: Apache-2.0 */
/* harness/server/ - the server: W workers, each with its own SO_REUSEPORT listener, that
 * answer HTTP on the connections they hold. Where workers are processes, this is the parent
 * that sums up what they say. */
#ifndef HARNESS_SERVER_SERVER_H
#define HARNESS_SERVER_SERVER_H

#include <stddef.h>

#include <jansson.h>
#include <sys/socket.h>

#include "harness/common/park.h"
#include "harness/common/sizing.h"
#include "reactors/reactor.h"
#include "tls_backends/tls_backend.h"

struct server;

struct server_config {
	const struct reactor_ops *reactor;
	const struct tls_ops *tls;
	enum park_level park;
	struct sockaddr_storage address;
	socklen_t address_len;
	struct sizing sizing;
	unsigned tickets;
	unsigned handshake_timeout_s;
	unsigned idle_timeout_s;
	bool lock_records;                /* level keys: mlock(2) the traffic secrets */
	const char *cert_file, *key_file; /* both NULL: a throwaway certificate */
};

/* 0, or a negative errno with the reason; then nothing is left of it. */
int server_start(struct server **server, const struct server_config *config, char *reason,
		 size_t reason_size);
/* The same in a worker process of such a server, for its one worker: the parent has seen to
 * the port, and the identity stays its own. */
int server_start_child(struct server **server, const struct server_config *config,
		       struct tls_identity *identity, char *reason, size_t reason_size);
/* The counters of all workers, as the control protocol has them. */
json_t *server_stats(struct server *server);
/* True when a worker has failed; the reason says how. */
bool server_failed(struct server *server, char *reason, size_t reason_size);
/* Graceful stop within `grace_s` seconds; frees the server. */
void server_stop(struct server *server, unsigned grace_s);

#endif
