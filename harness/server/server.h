/* SPDX-License-Identifier: Apache-2.0 */
/* harness/server/ - the server: W workers, each with its own SO_REUSEPORT listener, that
 * answer HTTP on the connections they hold. */
#ifndef HARNESS_SERVER_SERVER_H
#define HARNESS_SERVER_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>
#include <sys/socket.h>

#include "harness/common/park.h"
#include "reactors/reactor.h"
#include "tls_backends/tls_backend.h"

struct server;

struct server_config {
	const struct reactor_ops *reactor;
	const struct tls_ops *tls;
	enum park_level park;
	struct sockaddr_storage address;
	socklen_t address_len;
	unsigned workers;
	uint32_t connections; /* it must be able to hold */
	unsigned tickets;
	unsigned handshake_timeout_s;
	unsigned idle_timeout_s;
	uint32_t handshakes_max; /* a worker; 0: no cap */
	bool no_trim;
	const char *cert_file, *key_file; /* both NULL: a throwaway certificate */
};

/* As many connections as the limit on open files allows with so many workers. */
uint32_t server_connections_max(unsigned workers);
/* 0, or a negative errno with the reason; then nothing is left of it. */
int server_start(struct server **server, const struct server_config *config, char *reason,
		 size_t reason_size);
/* The counters of all workers, as the control protocol has them. */
json_t *server_stats(struct server *server);
/* True when a worker's loop has failed; the reason says how. */
bool server_failed(struct server *server, char *reason, size_t reason_size);
/* Graceful stop within `grace_s` seconds; frees the server. */
void server_stop(struct server *server, unsigned grace_s);

#endif
