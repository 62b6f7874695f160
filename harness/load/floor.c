// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - the crypto floor. */
#include "harness/load/floor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/common/clock.h"

/* Not measured: the first handshakes load tables and fill caches. */
#define WARM_UP 20
/* A TLS 1.3 handshake takes two turns a side; more means that it does not end. */
#define TURNS_MAX 8

/* One end of the handshake: its library, and what it has to say to the other. */
struct end {
	const struct tls_ops *tls;
	struct tls_ctx *ctx;
	struct tls_session *session;
	uint8_t out[TLS_RECORD_PLAIN_MAX];
	size_t out_len;
	uint64_t spent_ns;
	bool done;
};

static int end_turn(struct end *end, struct end *peer)
{
	struct tls_io io = {.in = peer->out,
			    .in_len = peer->out_len,
			    .out = end->out,
			    .out_size = sizeof(end->out)};
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int rc = end->session ? 0 : end->tls->open(end->ctx, &end->session);

	if (!rc)
		rc = end->tls->handshake(end->session, &io);
	end->spent_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	end->out_len = io.out_len;
	peer->out_len = 0;
	end->done = rc == 0;
	return rc == -EINPROGRESS ? 0 : rc;
}

static int one_handshake(struct end *server, struct end *client)
{
	int rc = 0;

	server->spent_ns = client->spent_ns = 0;
	server->done = client->done = false;
	server->out_len = client->out_len = 0;
	for (int turn = 0; !rc && turn < TURNS_MAX && !(server->done && client->done); turn++) {
		if (!client->done)
			rc = end_turn(client, server);
		if (!rc && !server->done)
			rc = end_turn(server, client);
	}
	if (!rc && !(server->done && client->done))
		rc = -EPROTO;
	if (server->session)
		server->tls->close(server->session);
	if (client->session)
		client->tls->close(client->session);
	server->session = client->session = NULL;
	return rc;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double median_us(uint64_t *ns, unsigned count)
{
	unsigned middle = count / 2;

	qsort(ns, count, sizeof(*ns), by_value);
	return (double)ns[middle] / 1e3;
}

static int measure(struct end *server, struct end *client, unsigned handshakes,
		   struct floor_result *result)
{
	uint64_t *server_ns = calloc(handshakes, sizeof(*server_ns));
	uint64_t *client_ns = calloc(handshakes, sizeof(*client_ns));
	int rc = server_ns && client_ns ? 0 : -ENOMEM;

	for (unsigned i = 0; !rc && i < WARM_UP; i++)
		rc = one_handshake(server, client);
	for (unsigned i = 0; !rc && i < handshakes; i++) {
		rc = one_handshake(server, client);
		server_ns[i] = server->spent_ns;
		client_ns[i] = client->spent_ns;
	}
	if (!rc)
		*result = (struct floor_result){.server_us = median_us(server_ns, handshakes),
						.client_us = median_us(client_ns, handshakes)};
	free(server_ns);
	free(client_ns);
	return rc;
}

int floor_measure(const struct tls_ops *server, const struct tls_ops *client, enum park_level park,
		  unsigned handshakes, struct floor_result *result, char *reason,
		  size_t reason_size)
{
	struct end *ends = calloc(2, sizeof(*ends));
	struct tls_config config = {.server = true, .park = park};
	struct tls_identity *identity = NULL;
	int rc;

	if (!ends)
		return -ENOMEM;
	ends[0].tls = server;
	ends[1].tls = client;
	rc = server->identity_new(&identity, NULL, NULL, reason, reason_size);
	config.identity = identity;
	if (!rc)
		rc = server->ctx_new(&ends[0].ctx, &config, reason, reason_size);
	config = (struct tls_config){.park = park};
	if (!rc)
		rc = client->ctx_new(&ends[1].ctx, &config, reason, reason_size);
	if (!rc) {
		rc = measure(&ends[0], &ends[1], handshakes, result);
		if (rc)
			snprintf(reason, reason_size, "a handshake in memory failed: %s / %s",
				 server->strerror(ends[0].ctx), client->strerror(ends[1].ctx));
	}
	if (ends[1].ctx)
		client->ctx_free(ends[1].ctx);
	if (ends[0].ctx)
		server->ctx_free(ends[0].ctx);
	if (identity)
		server->identity_free(identity);
	free(ends);
	return rc;
}
