// SPDX-License-Identifier: Apache-2.0
/* tls_backends/tests/ - sessions that must be kept, and the cause: each goes on as if nobody had
 * asked. */
#include "tls_backends/tests/parked_pairs.h"

static void assert_kept(struct endpoint *end, int rc, const char *cause)
{
	const char *kept;

	assert_int_equal(endpoint_dissolve(end, &kept), rc);
	assert_string_equal(kept, cause);
	assert_non_null(end->session);
}

static void check_handshake(const struct pairing *p)
{
	struct endpoint client, server;

	open_pair(p, &client, &server);
	assert_kept(&client, -EBUSY, "handshake");
	assert_int_equal(endpoint_handshake(&client), -EINPROGRESS);
	assert_kept(&client, -EBUSY, "handshake");
	assert_kept(&server, -EBUSY, "handshake");
	assert_int_equal(endpoint_handshake(&server), -EINPROGRESS);
	assert_kept(&server, -EBUSY, "handshake");
	complete_handshake(&client, &server);
	park(&client);
	park(&server);
	exchange(&client, &server, 100);
	close_pair(&client, &server);
}

static void in_a_handshake(void **state)
{
	(void)state;
	for_each_pairing(check_handshake);
}

static void check_level(const struct pairing *p)
{
	struct endpoint client, server;

	endpoint_open(&server, p->server, (struct tls_config){.server = true, .park = PARK_SHED});
	endpoint_open(&client, p->client, (struct tls_config){.park = PARK_HOLD});
	join(&client, &server);
	complete_handshake(&client, &server);
	assert_kept(&server, -EOPNOTSUPP, "level");
	assert_kept(&client, -EOPNOTSUPP, "level");
	exchange(&client, &server, 100);
	close_pair(&client, &server);
}

static void at_another_level(void **state)
{
	(void)state;
	for_each_pairing(check_level);
}

/* OpenSSL has a macro for it (SSL_CTRL_SET_MAX_PROTO_VERSION), BoringSSL a function. */
static bool limit_to_tls12(struct endpoint *end)
{
	long (*control)(struct tls_session * session, int command, long number, void *pointer);
	int (*set)(struct tls_session * session, uint16_t version);

	if (is_openssl(end->ops)) {
		*(void **)&control = library_symbol(end->ops, "SSL_ctrl");
		return control(end->session, 124, 0x0303, NULL) == 1;
	}
	*(void **)&set = library_symbol(end->ops, "SSL_set_max_proto_version");
	return set && set(end->session, 0x0303) == 1;
}

static void check_tls12(const struct pairing *p)
{
	struct endpoint client, server;
	struct tls_info info;

	endpoint_open(&server, p->server,
		      (struct tls_config){.server = true, .park = PARK_KEYS, .allow_tls12 = true});
	endpoint_open(&client, p->client,
		      (struct tls_config){.park = PARK_KEYS, .allow_tls12 = true});
	join(&client, &server);
	if (limit_to_tls12(&client)) {
		complete_handshake(&client, &server);
		server.ops->info(server.session, &info);
		assert_int_equal(info.protocol, 0x0303);
		assert_kept(&server, -EOPNOTSUPP, "TLS 1.2");
		assert_kept(&client, -EOPNOTSUPP, "TLS 1.2");
		exchange(&client, &server, 20000);
	}
	close_pair(&client, &server);
}

static void with_tls12(void **state)
{
	(void)state;
	for_each_pairing(check_tls12);
}

static void check_cipher(const struct pairing *p)
{
	static const struct suite ccm = {"TLS_AES_128_CCM_SHA256", 0x1304};
	struct endpoint client, server;

	if (!is_openssl(p->server) || !is_openssl(p->client))
		return;
	open_pair(p, &client, &server);
	force_suite(&client, &ccm);
	force_suite(&server, &ccm);
	complete_handshake(&client, &server);
	assert_kept(&server, -EOPNOTSUPP, "cipher");
	assert_kept(&client, -EOPNOTSUPP, "cipher");
	exchange(&client, &server, 100);
	close_pair(&client, &server);
}

static void with_another_cipher(void **state)
{
	(void)state;
	for_each_pairing(check_cipher);
}

/* Each cut of a record; afterwards it is read as if nothing had been. */
static void check_partial(const struct pairing *p)
{
	struct endpoint client, server;
	uint8_t received[10];
	size_t got, len;

	establish(p, &client, &server);
	for (size_t cut = 1;; cut++) {
		struct queue rest = {0};

		endpoint_send(&client, (const uint8_t *)"0123456789", 10);
		len = server.in.len;
		if (cut < len) {
			queue_append(&rest, server.in.data + cut, len - cut);
			server.in.len = cut;
			assert_int_equal(endpoint_expect_none(&server), -EINPROGRESS);
			assert_kept(&server, -EBUSY, "bytes pending");
			queue_append(&server.in, rest.data, rest.len);
			free(rest.data);
		}
		assert_int_equal(endpoint_receive(&server, received, 10, &got), 0);
		assert_memory_equal(received, "0123456789", 10);
		if (cut >= len)
			break;
	}
	park(&server);
	exchange(&client, &server, 100);
	close_pair(&client, &server);
}

static void inside_a_record(void **state)
{
	(void)state;
	for_each_pairing(check_partial);
}

static void check_closing(const struct pairing *p)
{
	struct endpoint client, server;

	establish(p, &client, &server);
	assert_int_equal(endpoint_close_notify(&client), 0);
	assert_int_equal(endpoint_expect_none(&server), -EPIPE);
	assert_kept(&client, -EBUSY, "closing");
	assert_kept(&server, -EBUSY, "closing");
	assert_int_equal(endpoint_close_notify(&server), 0);
	assert_int_equal(endpoint_expect_none(&client), -EPIPE);
	close_pair(&client, &server);
}

/* A session that failed never becomes a record. */
static void check_failed(const struct pairing *p)
{
	struct endpoint client, server;
	const char *kept;

	establish(p, &client, &server);
	endpoint_send(&client, (const uint8_t *)"data", 4);
	server.in.data[server.in.len - 1] ^= 1;
	assert_int_equal(endpoint_expect_none(&server), -EPROTO);
	assert_true(endpoint_dissolve(&server, &kept) < 0);
	print_message("# %s\n", kept);
	assert_int_equal(endpoint_expect_none(&client), -EPROTO);
	assert_true(endpoint_dissolve(&client, &kept) < 0);
	print_message("# %s\n", kept);
	close_pair(&client, &server);
}

static void after_a_failure(void **state)
{
	(void)state;
	for_each_pairing(check_failed);
}

static void while_closing(void **state)
{
	(void)state;
	for_each_pairing(check_closing);
}

/* Tickets that do not fit into the window, in part or at all, are not lost. */
static void check_window(const struct pairing *p)
{
	struct pairing with_tickets = *p;
	struct endpoint client, server;
	const char *kept = NULL;
	int rc = -ENOBUFS;

	with_tickets.tickets = 2;
	establish(&with_tickets, &client, &server);
	server.window = 50;
	for (int i = 0; i < 100 && rc == -ENOBUFS; i++) {
		rc = endpoint_dissolve(&server, &kept);
		if (rc)
			assert_string_equal(kept, "output pending");
	}
	assert_int_equal(rc, 0);
	server.window = WINDOW_MAX;
	exchange(&client, &server, 100);
	park(&client);
	exchange(&client, &server, 100);
	close_pair(&client, &server);
}

/* A KeyUpdate of the library's own that it has not written yet. */
static void check_own_update(const struct pairing *p)
{
	struct endpoint client, server;

	establish(p, &client, &server);
	if (key_update(&server, false)) {
		if (is_openssl(p->server))
			assert_kept(&server, -EBUSY, "handshake");
		else
			park(&server);
		exchange(&client, &server, 100);
		if (server.session)
			park(&server);
		exchange(&client, &server, 100);
	}
	close_pair(&client, &server);
}

static void before_our_key_update(void **state)
{
	(void)state;
	for_each_pairing(check_own_update);
}

static void with_output_pending(void **state)
{
	(void)state;
	for_each_pairing(check_window);
}

/* OpenSSL at the server: a ticket of 2,000 bytes and more, in records of 512. */
static void send_large_ticket(struct endpoint *client, struct endpoint *server)
{
	int (*set_data)(void *session, const void *data, size_t len);
	long (*control)(struct tls_session * session, int command, long number, void *pointer);
	void *(*get_session)(struct tls_session * session);
	static const uint8_t data[2000];

	*(void **)&set_data = library_symbol(server->ops, "SSL_SESSION_set1_ticket_appdata");
	*(void **)&get_session = library_symbol(server->ops, "SSL_get_session");
	*(void **)&control = library_symbol(server->ops, "SSL_ctrl");
	assert_int_equal(endpoint_handshake(client), -EINPROGRESS);
	assert_int_equal(endpoint_handshake(server), -EINPROGRESS);
	assert_int_equal(endpoint_handshake(client), 0);
	assert_int_equal(set_data(get_session(server->session), data, sizeof(data)), 1);
	assert_int_equal(control(server->session, 52, 512, NULL), 1); /* SET_MAX_SEND_FRAGMENT */
	assert_int_equal(endpoint_handshake(server), 0);
	assert_true(client->in.len > sizeof(data));
}

/* A session is kept while only a part of a ticket has come; a parked record needs no more than the
 * part. */
static void check_fragments(const struct pairing *p)
{
	struct pairing with_ticket = *p;
	struct endpoint client, server;
	struct queue rest = {0};
	size_t first = 5 + 512 + 1 + 16;

	if (!is_openssl(p->server))
		return;
	with_ticket.tickets = 1;
	open_pair(&with_ticket, &client, &server);
	send_large_ticket(&client, &server);
	queue_append(&rest, client.in.data + first, client.in.len - first);
	client.in.len = first;
	assert_int_equal(endpoint_expect_none(&client), -EINPROGRESS);
	assert_kept(&client, -EBUSY, is_openssl(p->client) ? "handshake" : "bytes pending");
	queue_append(&client.in, rest.data, rest.len);
	assert_int_equal(endpoint_expect_none(&client), -EINPROGRESS);
	park(&client);
	exchange(&client, &server, 100);
	close_pair(&client, &server);
	free(rest.data);

	open_pair(&with_ticket, &client, &server);
	send_large_ticket(&client, &server);
	park(&client);
	assert_int_equal(endpoint_expect_none(&client), -EINPROGRESS);
	exchange(&client, &server, 100);
	close_pair(&client, &server);
}

static void inside_a_ticket(void **state)
{
	(void)state;
	for_each_pairing(check_fragments);
}

/* A peer that pads. BoringSSL does not tell padding from a part of a message, hence keeps. */
static void check_padding(const struct pairing *p)
{
	int (*pad)(struct tls_session * session, size_t block);
	struct endpoint client, server;

	if (!is_openssl(p->client))
		return;
	*(void **)&pad = library_symbol(p->client, "SSL_set_block_padding");
	establish(p, &client, &server);
	assert_int_equal(pad(client.session, 512), 1);
	transfer(&client, &server, 10);
	if (is_openssl(p->server))
		park(&server);
	else
		assert_kept(&server, -EBUSY, "bytes pending");
	exchange(&client, &server, 1000);
	close_pair(&client, &server);

	establish(p, &client, &server);
	assert_int_equal(pad(client.session, 512), 1);
	park(&server);
	exchange(&client, &server, 1000);
	close_pair(&client, &server);
}

static void with_padding(void **state)
{
	(void)state;
	for_each_pairing(check_padding);
}

static void plain_has_nothing_to_keep(void **state)
{
	static const struct tls_parked zeros;
	const struct tls_ops *plain = plugin("plain");
	struct endpoint client, server;

	(void)state;
	assert_non_null(plain);
	endpoint_open(&server, plain, (struct tls_config){.server = true, .park = PARK_KEYS});
	endpoint_open(&client, plain, (struct tls_config){.park = PARK_KEYS});
	join(&client, &server);
	complete_handshake(&client, &server);
	park(&client);
	park(&server);
	assert_memory_equal(&server.parked, &zeros, sizeof(zeros));
	exchange(&client, &server, 100000);
	assert_int_equal(endpoint_close_notify(&client), 0);
	assert_int_equal(server.in.len, 0);
	plain->parked_forget(server.ctx, &server.parked);
	close_pair(&client, &server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_a_handshake),
		cmocka_unit_test(at_another_level),
		cmocka_unit_test(with_tls12),
		cmocka_unit_test(with_another_cipher),
		cmocka_unit_test(inside_a_record),
		cmocka_unit_test(while_closing),
		cmocka_unit_test(after_a_failure),
		cmocka_unit_test(with_output_pending),
		cmocka_unit_test(before_our_key_update),
		cmocka_unit_test(inside_a_ticket),
		cmocka_unit_test(with_padding),
		cmocka_unit_test(plain_has_nothing_to_keep),
	};

	return cmocka_run_group_tests_name("tls dissolve", tests, NULL, NULL);
}
