// SPDX-License-Identifier: Apache-2.0
/* tls_backends/tests/ - every library as server against every library as client, in memory. */
#include "tls_backends/tests/endpoints.h"

#define FIXTURES "tls_backends/tests/fixtures/"
#define LIBRARIES 2
#define CROWD 12

static const char *const names[LIBRARIES] = {"openssl", "boringssl"};

/* One combination: which ends, how deep they park, how bytes arrive. */
struct pairing {
	const struct tls_ops *server;
	const struct tls_ops *client;
	enum park_level park;
	size_t dribble;
	size_t window;
};

/* Runs a check on every ordered pair of the libraries built, at every level. */
static void for_each_pairing(void (*check)(const struct pairing *pairing))
{
	size_t found = 0;

	for (size_t i = 0; i < LIBRARIES * LIBRARIES * PARK_LEVELS; i++) {
		struct pairing pairing = {
			.server = plugin(names[i % LIBRARIES]),
			.client = plugin(names[i / LIBRARIES % LIBRARIES]),
			.park = (enum park_level)(i / LIBRARIES / LIBRARIES),
			.window = WINDOW_MAX,
		};

		if (!pairing.server || !pairing.client)
			continue;
		found++;
		print_message("# server %s, client %s, level %d\n", pairing.server->name,
			      pairing.client->name, pairing.park);
		check(&pairing);
	}
	if (!found)
		skip();
}

static void open_pair(const struct pairing *p, struct endpoint *client, struct endpoint *server)
{
	endpoint_open(server, p->server, (struct tls_config){.server = true, .park = p->park});
	endpoint_open(client, p->client, (struct tls_config){.park = p->park});
	server->dribble = client->dribble = p->dribble;
	server->window = client->window = p->window;
	join(client, server);
}

static void open_established(const struct pairing *p, struct endpoint *client,
			     struct endpoint *server)
{
	open_pair(p, client, server);
	complete_handshake(client, server);
}

static void close_pair(struct endpoint *client, struct endpoint *server)
{
	endpoint_close(client);
	endpoint_close(server);
}

/* Sends `len` bytes of a pattern and checks that they arrive and nothing after them. */
static void transfer(struct endpoint *from, struct endpoint *to, size_t len)
{
	uint8_t *sent = malloc(len), *received = malloc(len);
	size_t got;

	assert_non_null(sent);
	assert_non_null(received);
	for (size_t i = 0; i < len; i++)
		sent[i] = (uint8_t)(i * 31 + i / 251 + len);
	endpoint_send(from, sent, len);
	assert_int_equal(endpoint_receive(to, received, len, &got), 0);
	assert_int_equal(got, len);
	assert_memory_equal(sent, received, len);
	assert_int_equal(endpoint_expect_none(to), -EINPROGRESS);
	free(sent);
	free(received);
}

static void shed_both(const struct pairing *p, struct endpoint *client, struct endpoint *server)
{
	if (p->park < PARK_SHED)
		return;
	assert_int_equal(client->ops->shed(client->session), 0);
	assert_int_equal(server->ops->shed(server->session), 0);
}

static void converse(const struct pairing *p, size_t most)
{
	static const size_t lengths[] = {1, 16384, 1 << 20};
	struct endpoint client, server;

	open_established(p, &client, &server);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths) && lengths[i] <= most; i++) {
		shed_both(p, &client, &server);
		transfer(&client, &server, lengths[i]);
		shed_both(p, &client, &server);
		transfer(&server, &client, lengths[i]);
	}
	close_pair(&client, &server);
}

static void converse_whole(const struct pairing *p)
{
	converse(p, 1 << 20);
}

static void converse_dribbled(const struct pairing *p)
{
	struct pairing dribbled = *p;

	dribbled.dribble = 1;
	converse(&dribbled, 16384);
}

static void converse_through_least_window(const struct pairing *p)
{
	struct pairing narrow = *p;

	narrow.window = TLS_OUT_MIN;
	converse(&narrow, 1 << 20);
}

static void whole_input(void **state)
{
	(void)state;
	for_each_pairing(converse_whole);
}

static void dribbled_input(void **state)
{
	(void)state;
	for_each_pairing(converse_dribbled);
}

static void least_window(void **state)
{
	(void)state;
	for_each_pairing(converse_through_least_window);
}

static void check_info(const struct pairing *p)
{
	struct tls_info at_client = {0}, at_server = {0};
	struct endpoint client, server;

	open_established(p, &client, &server);
	client.ops->info(client.session, &at_client);
	server.ops->info(server.session, &at_server);
	assert_int_equal(at_server.protocol, 0x0304);
	assert_int_equal(at_server.cipher, 0x1301); /* TLS_AES_128_GCM_SHA256, whoever serves */
	assert_string_equal(at_server.cipher_name, "TLS_AES_128_GCM_SHA256");
	assert_memory_equal(&at_client, &at_server, sizeof(at_client));
	close_pair(&client, &server);
}

static void negotiates_the_same_everywhere(void **state)
{
	(void)state;
	for_each_pairing(check_info);
}

static void check_close_notify(const struct pairing *p)
{
	struct endpoint client, server;

	open_established(p, &client, &server);
	transfer(&client, &server, 100);
	assert_int_equal(endpoint_close_notify(&client), 0);
	assert_int_equal(endpoint_expect_none(&server), -EPIPE);
	/* Once is enough, and the other direction still works. */
	assert_int_equal(endpoint_close_notify(&client), 0);
	assert_int_equal(server.in.len, 0);
	assert_int_equal(endpoint_close_notify(&server), 0);
	assert_int_equal(endpoint_expect_none(&client), -EPIPE);
	assert_true(strlen(client.ops->strerror(client.ctx)) > 0);
	close_pair(&client, &server);

	/* The server speaks first, before it ever wrote. */
	open_established(p, &client, &server);
	assert_int_equal(endpoint_close_notify(&server), 0);
	assert_int_equal(endpoint_expect_none(&client), -EPIPE);
	close_pair(&client, &server);
}

static void close_notify_is_epipe(void **state)
{
	(void)state;
	for_each_pairing(check_close_notify);
}

/* A window that is almost full must not leave half a record in the library: what comes after a full
 * one may be other bytes, or close_notify. */
static void check_full_window(const struct pairing *p)
{
	uint8_t out[TLS_OUT_MIN], message[512] = "message", received[sizeof(message)];
	struct endpoint client, server;
	size_t got;

	open_established(p, &client, &server);
	for (size_t taken = TLS_OUT_MIN - 300; taken <= TLS_OUT_MIN; taken += 4) {
		struct tls_io io = {.out = out, .out_len = taken, .out_size = TLS_OUT_MIN};
		size_t used;
		int rc = server.ops->encrypt(server.session, &io, message, sizeof(message), &used);

		assert_true(rc == -ENOBUFS ? used == 0 : rc == 0 && used > 0);
		queue_append(&client.in, out + taken, io.out_len - taken);
		/* -ENOBUFS took nothing, so that other bytes may follow. */
		if (rc)
			message[0] ^= 0xff;
		endpoint_send(&server, message + used, sizeof(message) - used);
		assert_int_equal(endpoint_receive(&client, received, sizeof(received), &got), 0);
		assert_memory_equal(message, received, sizeof(message));
		message[0]++;
	}
	server.window = 0;
	assert_int_equal(endpoint_close_notify(&server), -ENOBUFS);
	server.window = TLS_OUT_MIN;
	assert_int_equal(endpoint_close_notify(&server), 0);
	assert_int_equal(endpoint_expect_none(&client), -EPIPE);
	close_pair(&client, &server);
}

static void full_window_is_enobufs(void **state)
{
	(void)state;
	for_each_pairing(check_full_window);
}

/* A chain longer than the least window: the flight leaves in pieces. */
static void check_long_chain(const struct pairing *p)
{
	struct tls_config config = {.server = true, .park = p->park};
	struct tls_identity *identity = NULL;
	struct endpoint client, server;
	char reason[REASON_BYTES] = "";

	if (p->server->identity_new(&identity, FIXTURES "chain.pem", FIXTURES "key.pem", reason,
				    sizeof(reason)))
		fail_msg("%s", reason);
	config.identity = identity;
	endpoint_open(&server, p->server, config);
	endpoint_open(&client, p->client, (struct tls_config){.park = p->park});
	server.window = TLS_OUT_MIN;
	join(&client, &server);
	complete_handshake(&client, &server);
	assert_true(server.saw_full);
	transfer(&server, &client, 5000);
	transfer(&client, &server, 5000);
	close_pair(&client, &server);
	p->server->identity_free(identity);
}

static void chain_longer_than_window(void **state)
{
	(void)state;
	for_each_pairing(check_long_chain);
}

/* Application data behind the Finished is left in the input for decrypt. */
static void check_coalesced(const struct pairing *p)
{
	struct endpoint client, server;
	uint8_t byte = 'x', received;
	size_t got;

	open_pair(p, &client, &server);
	assert_int_equal(endpoint_handshake(&client), -EINPROGRESS);
	assert_int_equal(endpoint_handshake(&server), -EINPROGRESS);
	assert_int_equal(endpoint_handshake(&client), 0);
	endpoint_send(&client, &byte, 1);
	assert_int_equal(endpoint_handshake(&server), 0);
	assert_true(server.in.len > 0);
	assert_int_equal(endpoint_receive(&server, &received, 1, &got), 0);
	assert_int_equal(received, 'x');
	close_pair(&client, &server);
}

static void data_behind_finished(void **state)
{
	(void)state;
	for_each_pairing(check_coalesced);
}

/* Tickets reach the client with data and disturb neither end. */
static void check_tickets(const struct pairing *p)
{
	struct endpoint client, server;
	size_t before;

	endpoint_open(&server, p->server,
		      (struct tls_config){.server = true, .park = p->park, .tickets = 2});
	endpoint_open(&client, p->client, (struct tls_config){.park = p->park});
	server.window = TLS_OUT_MIN;
	join(&client, &server);
	complete_handshake(&client, &server);
	before = client.in.len;
	endpoint_send(&server, (const uint8_t *)"x", 1);
	/* OpenSSL sends them at the end of the handshake, BoringSSL with the first data. */
	assert_true(client.in.len - before > 100 || before > 100);
	assert_int_equal(endpoint_receive(&client, (uint8_t[1]){0}, 1, &before), 0);
	shed_both(p, &client, &server);
	transfer(&client, &server, 100);
	transfer(&server, &client, 20000);
	close_pair(&client, &server);
}

static void tickets_are_read(void **state)
{
	(void)state;
	for_each_pairing(check_tickets);
}

/* While a record is there in part nothing may be freed, its header alone included. */
static void check_busy(const struct pairing *p)
{
	static const size_t cuts[] = {1, 4, 5, 6, 21};
	struct endpoint client, server;
	uint8_t received[64];
	size_t got;

	if (p->park < PARK_SHED)
		return;
	open_established(p, &client, &server);
	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		struct queue rest = {0};

		endpoint_send(&client, (const uint8_t *)"0123456789", 10);
		queue_append(&rest, server.in.data + cuts[i], server.in.len - cuts[i]);
		server.in.len = cuts[i];
		assert_int_equal(endpoint_expect_none(&server), -EINPROGRESS);
		assert_int_equal(server.ops->shed(server.session), -EBUSY);
		queue_append(&server.in, rest.data, rest.len);
		free(rest.data);
		assert_int_equal(endpoint_receive(&server, received, 10, &got), 0);
		assert_memory_equal(received, "0123456789", 10);
		assert_int_equal(server.ops->shed(server.session), 0);
	}
	close_pair(&client, &server);
}

static void shed_is_busy_inside_a_record(void **state)
{
	(void)state;
	for_each_pairing(check_busy);
}

static void open_crowd(struct endpoint *ends, const struct endpoint *first)
{
	for (size_t i = 0; i < CROWD; i++) {
		ends[i] = *first;
		ends[i].in = (struct queue){0};
		assert_int_equal(first->ops->open(first->ctx, &ends[i].session), 0);
	}
}

static void close_crowd(struct endpoint *ends)
{
	for (size_t i = 0; i < CROWD; i++) {
		ends[i].ops->close(ends[i].session);
		free(ends[i].in.data);
	}
}

/* Many sessions of one context in turn, a third of them dropped on the way: what they share must
 * not carry anything from one to the next. */
static void check_crowd(const struct pairing *p)
{
	struct endpoint server_ctx, client_ctx, servers[CROWD], clients[CROWD];

	endpoint_ctx(&server_ctx, p->server, (struct tls_config){.server = true, .park = p->park});
	endpoint_ctx(&client_ctx, p->client, (struct tls_config){.park = p->park});
	open_crowd(servers, &server_ctx);
	open_crowd(clients, &client_ctx);
	for (size_t i = 0; i < CROWD; i++) {
		join(&clients[i], &servers[i]);
		assert_int_equal(endpoint_handshake(&clients[i]), -EINPROGRESS);
	}
	for (size_t i = CROWD; i-- > 0;)
		assert_int_equal(endpoint_handshake(&servers[i]), -EINPROGRESS);
	for (size_t i = 0; i < CROWD; i += 3) {
		p->server->close(servers[i].session);
		assert_int_equal(p->server->open(server_ctx.ctx, &servers[i].session), 0);
	}
	for (size_t i = 0; i < CROWD; i++)
		assert_int_equal(endpoint_handshake(&clients[i]), 0);
	for (size_t i = CROWD; i-- > 0;)
		assert_int_equal(endpoint_handshake(&servers[i]), i % 3 ? 0 : -EPROTO);
	for (size_t i = 0; i < CROWD; i++) {
		if (i % 3 == 0)
			continue;
		transfer(&clients[i], &servers[i], 1000 + i);
		transfer(&servers[i], &clients[i], 20000 + i);
	}
	close_crowd(clients);
	close_crowd(servers);
	close_pair(&client_ctx, &server_ctx);
}

static void sessions_do_not_disturb_each_other(void **state)
{
	(void)state;
	for_each_pairing(check_crowd);
}

static void plain_passes_through(void **state)
{
	const struct tls_ops *plain = plugin("plain");
	struct pairing pairing = {.server = plain, .client = plain, .window = TLS_OUT_MIN};
	struct tls_info info = {.protocol = 1};
	struct endpoint client, server;

	(void)state;
	if (!plain) {
		fail_msg("the plain backend is not built");
		return;
	}
	for (pairing.park = PARK_HOLD; pairing.park < PARK_LEVELS; pairing.park++) {
		open_established(&pairing, &client, &server);
		assert_int_equal(client.in.len + server.in.len, 0);
		plain->info(server.session, &info);
		assert_int_equal(info.protocol, 0);
		transfer(&client, &server, 100000);
		shed_both(&pairing, &client, &server);
		transfer(&server, &client, 100000);
		endpoint_send(&client, (const uint8_t *)"as it is", 8);
		assert_int_equal(server.in.len, 8);
		assert_memory_equal(server.in.data, "as it is", 8);
		assert_int_equal(endpoint_close_notify(&client), 0);
		assert_int_equal(server.in.len, 8);
		close_pair(&client, &server);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_input),
		cmocka_unit_test(dribbled_input),
		cmocka_unit_test(least_window),
		cmocka_unit_test(negotiates_the_same_everywhere),
		cmocka_unit_test(close_notify_is_epipe),
		cmocka_unit_test(full_window_is_enobufs),
		cmocka_unit_test(chain_longer_than_window),
		cmocka_unit_test(data_behind_finished),
		cmocka_unit_test(tickets_are_read),
		cmocka_unit_test(shed_is_busy_inside_a_record),
		cmocka_unit_test(sessions_do_not_disturb_each_other),
		cmocka_unit_test(plain_passes_through),
	};

	return cmocka_run_group_tests_name("tls cross", tests, NULL, NULL);
}
