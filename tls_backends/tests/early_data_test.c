// SPDX-License-Identifier: Apache-2.0
/*
 * tls_backends/tests/ - early data (0-RTT), which our servers do not offer and our clients do not
 * send. A client that sends some all the same is refused it, and the connection goes on.
 * BoringSSL's session is parked then as any other; OpenSSL's remembers the attempt and is kept, for
 * parking never guesses. Where a library is made to accept early data, the session is kept. Source:
 * RFC 8446 sections 2.3, 4.2.10; SSL_write_early_data(3), BoringSSL include/openssl/ssl.h.
 */
#include "tls_backends/tests/parked_pairs.h"

#define EARLY "early"
#define EARLY_BYTES (sizeof(EARLY) - 1)

struct session; /* a library's SSL_SESSION */

/* The window of the calls that only the library can be asked for: a session writes to the window of
 * the last call on its context, which here outlives the call. */
static struct {
	struct tls_io io;
	uint8_t out[WINDOW_MAX];
} lasting;

static void borrow_window(struct endpoint *end)
{
	lasting.io = (struct tls_io){.out = lasting.out, .out_size = sizeof(lasting.out)};
	/* Refused, and nothing written: there was no handshake. */
	assert_int_equal(end->ops->close_notify(end->session, &lasting.io), -EPROTO);
}

static void return_window(struct endpoint *end)
{
	queue_append(&end->peer->in, lasting.out, lasting.io.out_len);
}

static void *symbol(const struct endpoint *end, const char *name)
{
	void *found = library_symbol(end->ops, name);

	assert_non_null(found);
	return found;
}

static void assert_kept_for_good(struct endpoint *end)
{
	const char *kept;

	assert_int_equal(endpoint_dissolve(end, &kept), -EOPNOTSUPP);
	assert_string_equal(kept, "early data");
}

/* A second connection between the same contexts. */
static void connect_again(struct endpoint *client, struct endpoint *server, struct session *session)
{
	int (*use)(struct tls_session * session, struct session * resumed);
	void (*release)(struct session * session);

	/* OpenSSL does not resume the session of a connection that did not end properly. */
	assert_int_equal(endpoint_close_notify(client), 0);
	client->ops->close(client->session);
	server->ops->close(server->session);
	client->in.len = server->in.len = 0;
	assert_int_equal(client->ops->open(client->ctx, &client->session), 0);
	assert_int_equal(server->ops->open(server->ctx, &server->session), 0);
	*(void **)&use = symbol(client, "SSL_set_session");
	*(void **)&release = symbol(client, "SSL_SESSION_free");
	assert_int_equal(use(client->session, session), 1);
	release(session);
}

/* ---- not offered, sent all the same: by OpenSSL, which can be talked into it ---- */

static struct session *ticket_that_allows(struct endpoint *client)
{
	struct session *(*get)(struct tls_session * session);
	int (*allow)(struct session * session, uint32_t bytes);
	struct session *session;

	transfer(client->peer, client, 10); /* the ticket goes first */
	*(void **)&get = symbol(client, "SSL_get1_session");
	*(void **)&allow = symbol(client, "SSL_SESSION_set_max_early_data");
	session = get(client->session);
	assert_non_null(session);
	assert_int_equal(allow(session, 16384), 1);
	return session;
}

static void send_early(struct endpoint *client)
{
	int (*write)(struct tls_session * session, const void *data, size_t len, size_t *written);
	size_t written;

	*(void **)&write = symbol(client, "SSL_write_early_data");
	borrow_window(client);
	assert_int_equal(write(client->session, EARLY, EARLY_BYTES, &written), 1);
	assert_int_equal(written, EARLY_BYTES);
	return_window(client);
}

static void check_refused(const struct pairing *p)
{
	struct pairing with_ticket = *p;
	struct endpoint client, server;

	if (!is_openssl(p->client))
		return;
	with_ticket.tickets = 1;
	establish(&with_ticket, &client, &server);
	connect_again(&client, &server, ticket_that_allows(&client));
	send_early(&client);
	complete_handshake(&client, &server);
	if (is_openssl(p->server))
		assert_kept_for_good(&server);
	else
		park(&server);
	assert_kept_for_good(&client);
	exchange(&client, &server, 20000);
	close_pair(&client, &server);
}

static void what_was_not_offered_is_refused(void **state)
{
	(void)state;
	for_each_pairing(check_refused);
}

/* ---- accepted: by BoringSSL, where both ends are told to ---- */

static struct session *new_session;

static int keep_session(struct tls_session *ssl, struct session *session)
{
	(void)ssl;
	new_session = session;
	return 1; /* ours now */
}

static void enable_early(struct endpoint *end)
{
	void (*enable)(struct tls_session * session, int enabled);

	*(void **)&enable = symbol(end, "SSL_set_early_data_enabled");
	enable(end->session, 1);
}

/* TLS 1.3 tickets reach a client of BoringSSL through a callback only. */
static void collect_tickets(struct endpoint *client)
{
	void *(*context)(struct tls_session * session);
	int (*set_mode)(void *ssl_ctx, int mode);
	void (*set_callback)(void *ssl_ctx,
			     int (*callback)(struct tls_session * ssl, struct session * session));

	*(void **)&context = symbol(client, "SSL_get_SSL_CTX");
	*(void **)&set_mode = symbol(client, "SSL_CTX_set_session_cache_mode");
	*(void **)&set_callback = symbol(client, "SSL_CTX_sess_set_new_cb");
	set_mode(context(client->session), 1); /* SSL_SESS_CACHE_CLIENT */
	set_callback(context(client->session), keep_session);
}

static void check_accepted(const struct pairing *p)
{
	struct pairing with_ticket = *p;
	struct endpoint client, server;
	uint8_t received[EARLY_BYTES];
	size_t got;

	if (is_openssl(p->client) || is_openssl(p->server))
		return;
	if (!library_symbol(p->client, "SSL_set_early_data_enabled"))
		return; /* linked statically: it can not be told to */
	with_ticket.tickets = 1;
	open_pair(&with_ticket, &client, &server);
	collect_tickets(&client);
	enable_early(&server);
	complete_handshake(&client, &server);
	transfer(&server, &client, 10); /* the ticket goes first */
	connect_again(&client, &server, new_session);
	enable_early(&client);
	enable_early(&server);
	assert_int_equal(endpoint_handshake(&client), 0); /* as if it were complete */
	endpoint_send(&client, (const uint8_t *)EARLY, EARLY_BYTES);
	assert_int_equal(endpoint_handshake(&server), 0);
	assert_int_equal(endpoint_receive(&server, received, EARLY_BYTES, &got), 0);
	assert_memory_equal(received, EARLY, EARLY_BYTES);
	assert_int_equal(endpoint_handshake(&client), 0);
	exchange(&client, &server, 20000);
	assert_kept_for_good(&server);
	assert_kept_for_good(&client);
	exchange(&client, &server, 20000);
	close_pair(&client, &server);
}

static void what_was_accepted_keeps_the_session(void **state)
{
	(void)state;
	for_each_pairing(check_accepted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_offered_is_refused),
		cmocka_unit_test(what_was_accepted_keeps_the_session),
	};

	return cmocka_run_group_tests_name("tls early data", tests, NULL, NULL);
}
