/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/server/tests/ - a server at level keys inside the test, with one worker, and TLS clients
 * on real sockets that see every byte of theirs.
 */
#ifndef HARNESS_SERVER_TESTS_FIXTURE_H
#define HARNESS_SERVER_TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "harness/server/server.h"

#define PATIENCE_S 20

/* A reactor and a TLS library. */
struct subject {
	const char *reactor;
	const char *tls;
};

/* Runs the test for each of these reactors that this kernel has, with each library that was built;
 * `state` is the subject. The status for main. */
int for_each_subject(const char *group, const struct CMUnitTest *tests, size_t count,
		     const char *const *reactors);

struct live {
	struct server *server;
	struct sockaddr_storage address;
	socklen_t address_len;
	const struct tls_ops *client_tls; /* the other library, if both were built */
	struct tls_ctx *client_ctx;       /* owned; of all clients */
};

void live_start(struct live *live, const struct subject *subject);
/* The clients must be closed. */
void live_stop(struct live *live);
json_int_t live_stat(const struct live *live, const char *name);
/* How often a connection failed of that cause; NULL: of any. */
json_int_t live_failures(const struct live *live, const char *cause);
/* How many sessions were kept. */
json_int_t live_kept(const struct live *live);
/* Waits until that counter has that value. */
void live_wait(const struct live *live, const char *name, json_int_t value);

struct client {
	const struct live *live;
	struct tls_session *session; /* owned */
	int fd;
	size_t in_len;
	uint8_t in[16384]; /* ciphertext that came and was not yet looked at */
};

/* Connects and completes the handshake. narrow: little fits between the server's send and our not
 * reading, whatever the kernel's defaults. */
void client_open(struct client *client, const struct live *live, bool narrow);
/* What a narrow client takes from now on is not limited any more. */
void client_widen(const struct client *client);
void client_close(struct client *client);
/* Records of plain[0..len) into record[0..size); how long. */
size_t client_seal(const struct client *client, const void *plain, size_t len, uint8_t *record,
		   size_t size);
size_t client_seal_close_notify(const struct client *client, uint8_t *record, size_t size);
/* Ciphertext, or anything else, to the server. */
void client_put(const struct client *client, const uint8_t *bytes, size_t len);
void client_ask(const struct client *client, const char *path);
/* Some plaintext, at most size >= TLS_RECORD_PLAIN_MAX. 0 with *len > 0; -EPIPE: close_notify;
 * -EPROTO: an alert; -ENODATA: the end without a word; else how the socket failed. */
int client_read(struct client *client, uint8_t *plain, size_t size, size_t *len);
/* Reads one answer: 200, and the body of `/N` for body_len = N. What is behind it in the same
 * record is an error. */
void client_expect(struct client *client, size_t body_len);
/* Both. */
void client_get(struct client *client, size_t body_len);

#endif
