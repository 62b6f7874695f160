/* SPDX-License-Identifier: Apache-2.0 */
/* tls_backends/tests/ - connections at level keys: every library in either role, every suite. What
 * only the library can do, KeyUpdate for one, is asked of the library that a plug-in has loaded. */
#ifndef TLS_BACKENDS_TESTS_PARKED_PAIRS_H
#define TLS_BACKENDS_TESTS_PARKED_PAIRS_H

#include "tls_backends/tests/endpoints.h"

#define LIBRARIES 2
#define SUITES 3

static const char *const names[LIBRARIES] = {"openssl", "boringssl"};

struct suite {
	const char *name;
	uint16_t iana;
};

static const struct suite suites[SUITES] = {
	{"TLS_AES_128_GCM_SHA256", 0x1301},
	{"TLS_AES_256_GCM_SHA384", 0x1302},
	{"TLS_CHACHA20_POLY1305_SHA256", 0x1303},
};

struct pairing {
	const struct tls_ops *server;
	const struct tls_ops *client;
	const struct suite *suite;
	unsigned tickets;
};

/* ---- what the libraries offer and the contract does not ---- */

/* The function of that name in the library that the plug-in uses; NULL if it keeps it to itself
 * (linked statically). */
static inline void *library_symbol(const struct tls_ops *ops, const char *symbol)
{
	char dir[PATH_MAX], path[PATH_MAX + 64];
	void *handle, *found;

	plugin_dir(dir);
	snprintf(path, sizeof(path), "%s/%.32s.so", dir, ops->name);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(handle);
	found = dlsym(handle, symbol);
	dlclose(handle);
	return found;
}

/* A session is the library's SSL. False: the library can not be asked. */
static inline bool key_update(struct endpoint *end, bool asks)
{
	int (*update)(struct tls_session * session, int type);

	*(void **)&update = library_symbol(end->ops, "SSL_key_update");
	if (!update)
		return false;
	/* SSL_KEY_UPDATE_REQUESTED is 1 in both libraries, _NOT_REQUESTED 0. */
	assert_int_equal(update(end->session, asks), 1);
	return true;
}

static inline bool is_openssl(const struct tls_ops *ops)
{
	return !strcmp(ops->name, "openssl");
}

/* Only OpenSSL lets TLS 1.3 suites be chosen. */
static inline void force_suite(struct endpoint *end, const struct suite *suite)
{
	int (*set)(struct tls_session * session, const char *names);

	*(void **)&set = library_symbol(end->ops, "SSL_set_ciphersuites");
	assert_non_null(set);
	assert_int_equal(set(end->session, suite->name), 1);
}

/* ---- pairs ---- */

static inline void for_each_pairing(void (*check)(const struct pairing *pairing))
{
	size_t found = 0;

	for (size_t i = 0; i < LIBRARIES * LIBRARIES * SUITES; i++) {
		struct pairing pairing = {
			.server = plugin(names[i % LIBRARIES]),
			.client = plugin(names[i / LIBRARIES % LIBRARIES]),
			.suite = &suites[i / LIBRARIES / LIBRARIES],
		};

		if (!pairing.server || !pairing.client)
			continue;
		if (!is_openssl(pairing.server) && !is_openssl(pairing.client) &&
		    pairing.suite->iana != 0x1301)
			continue;
		found++;
		print_message("# server %s, client %s, %s\n", pairing.server->name,
			      pairing.client->name, pairing.suite->name);
		check(&pairing);
	}
	if (!found)
		skip();
}

static inline void open_pair(const struct pairing *p, struct endpoint *client,
			     struct endpoint *server)
{
	endpoint_open(
		server, p->server,
		(struct tls_config){.server = true, .park = PARK_KEYS, .tickets = p->tickets});
	endpoint_open(client, p->client, (struct tls_config){.park = PARK_KEYS});
	if (is_openssl(p->client))
		force_suite(client, p->suite);
	else if (is_openssl(p->server))
		force_suite(server, p->suite);
	join(client, server);
}

static inline void establish(const struct pairing *p, struct endpoint *client,
			     struct endpoint *server)
{
	struct tls_info info = {0};

	open_pair(p, client, server);
	complete_handshake(client, server);
	server->ops->info(server->session, &info);
	assert_int_equal(info.cipher, p->suite->iana);
}

static inline void close_pair(struct endpoint *client, struct endpoint *server)
{
	endpoint_close(client);
	endpoint_close(server);
}

static inline void park(struct endpoint *end)
{
	const char *kept;

	if (endpoint_dissolve(end, &kept))
		fail_msg("%s kept: %s", end->ops->name, kept);
	assert_null(end->session);
}

static inline void transfer(struct endpoint *from, struct endpoint *to, size_t len)
{
	uint8_t *sent = malloc(len), *received = malloc(len);
	size_t got;

	assert_non_null(sent);
	assert_non_null(received);
	for (size_t i = 0; i < len; i++)
		sent[i] = (uint8_t)(i * 31 + i / 251 + len);
	endpoint_send(from, sent, len);
	if (endpoint_receive(to, received, len, &got))
		fail_msg("receive: %s", to->ops->strerror(to->ctx));
	assert_int_equal(got, len);
	assert_memory_equal(sent, received, len);
	assert_int_equal(endpoint_expect_none(to), -EINPROGRESS);
	free(sent);
	free(received);
}

static inline void exchange(struct endpoint *client, struct endpoint *server, size_t len)
{
	transfer(client, server, len);
	transfer(server, client, len);
}

enum who { SERVER_ONLY, CLIENT_ONLY, BOTH, WHO };

static inline void park_who(enum who who, struct endpoint *client, struct endpoint *server)
{
	if (who != CLIENT_ONLY)
		park(server);
	if (who != SERVER_ONLY)
		park(client);
}

#endif
