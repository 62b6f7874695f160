// SPDX-License-Identifier: Apache-2.0
/* tls_backends/tests/ - parked records against sessions and against each other. */
#include "tls_backends/tests/parked_pairs.h"

/* Header, KeyUpdate, content type, tag. */
#define KEY_UPDATE_RECORD_BYTES (5 + 5 + 1 + 16)

/* ---- data ---- */

static void converse(const struct pairing *p, enum who who, size_t dribble, size_t window)
{
	static const size_t lengths[] = {1, 100, 16384, 16385, 100000};
	size_t count = dribble ? 3 : sizeof(lengths) / sizeof(*lengths);
	struct endpoint client, server;

	establish(p, &client, &server);
	park_who(who, &client, &server);
	server.dribble = client.dribble = dribble;
	server.window = client.window = window;
	for (size_t i = 0; i < count; i++)
		exchange(&client, &server, lengths[i]);
	close_pair(&client, &server);
}

static void check_data(const struct pairing *p)
{
	for (int who = 0; who < WHO; who++) {
		converse(p, (enum who)who, 0, WINDOW_MAX);
		converse(p, (enum who)who, 0, TLS_OUT_MIN);
	}
}

static void data_passes_both_ways(void **state)
{
	(void)state;
	for_each_pairing(check_data);
}

/* All splits of one record, and records that come byte by byte. */
static void check_splits(const struct pairing *p)
{
	struct endpoint client, server;
	uint8_t received[20];
	size_t got, len;

	converse(p, BOTH, 7, WINDOW_MAX);
	establish(p, &client, &server);
	park(&server);
	for (size_t cut = 1;; cut++) {
		endpoint_send(&client, (const uint8_t *)"0123456789", 10);
		len = server.in.len;
		if (cut >= len)
			break;
		server.in.len = cut;
		assert_int_equal(endpoint_expect_none(&server), -EINPROGRESS);
		assert_int_equal(server.in.len, cut);
		server.in.len = len;
		assert_int_equal(endpoint_receive(&server, received, 10, &got), 0);
		assert_memory_equal(received, "0123456789", 10);
	}
	close_pair(&client, &server);
}

static void records_split_anywhere(void **state)
{
	(void)state;
	for_each_pairing(check_splits);
}

/* Dissolved when data has passed: sequence numbers that begin elsewhere than at 0. */
static void check_late(const struct pairing *p)
{
	struct pairing with_tickets = *p;
	struct endpoint client, server;

	for (unsigned tickets = 0; tickets < 4; tickets++) {
		with_tickets.tickets = tickets;
		establish(&with_tickets, &client, &server);
		for (unsigned i = 0; i < tickets; i++)
			exchange(&client, &server, 1 + i * 20000);
		park(&server);
		exchange(&client, &server, 30000);
		park(&client);
		exchange(&client, &server, 30000);
		close_pair(&client, &server);
	}
}

static void a_session_may_have_spoken(void **state)
{
	(void)state;
	for_each_pairing(check_late);
}

/* Tickets that wait in the library are sent; a parked client passes them over. */
static void check_tickets(const struct pairing *p)
{
	struct pairing with_tickets = *p;
	struct endpoint client, server;

	with_tickets.tickets = 3;
	establish(&with_tickets, &client, &server);
	park(&client);
	park(&server);
	assert_true(client.in.len > 100);
	client.dribble = 3;
	exchange(&client, &server, 1000);
	close_pair(&client, &server);
}

static void tickets_reach_a_parked_client(void **state)
{
	(void)state;
	for_each_pairing(check_tickets);
}

/* The request behind the Finished: read by the session, answered parked. */
static void check_coalesced(const struct pairing *p)
{
	struct endpoint client, server;
	uint8_t received[4];
	size_t got;

	open_pair(p, &client, &server);
	assert_int_equal(endpoint_handshake(&client), -EINPROGRESS);
	assert_int_equal(endpoint_handshake(&server), -EINPROGRESS);
	assert_int_equal(endpoint_handshake(&client), 0);
	endpoint_send(&client, (const uint8_t *)"ping", 4);
	assert_int_equal(endpoint_handshake(&server), 0);
	assert_int_equal(endpoint_receive(&server, received, 4, &got), 0);
	park(&server);
	exchange(&client, &server, 100);
	close_pair(&client, &server);

	/* And left in the input for the parked record. */
	open_pair(p, &client, &server);
	assert_int_equal(endpoint_handshake(&client), -EINPROGRESS);
	assert_int_equal(endpoint_handshake(&server), -EINPROGRESS);
	assert_int_equal(endpoint_handshake(&client), 0);
	endpoint_send(&client, (const uint8_t *)"ping", 4);
	assert_int_equal(endpoint_handshake(&server), 0);
	park(&server);
	assert_int_equal(endpoint_receive(&server, received, 4, &got), 0);
	assert_memory_equal(received, "ping", 4);
	exchange(&client, &server, 100);
	close_pair(&client, &server);
}

static void a_request_behind_finished(void **state)
{
	(void)state;
	for_each_pairing(check_coalesced);
}

/* ---- KeyUpdate ---- */

/* `live` is a session, `other` a parked record: updates of every kind, several in one flight. */
static void update_keys(struct endpoint *live, struct endpoint *other)
{
	for (int i = 0; i < 6; i++) {
		if (!key_update(live, i & 1))
			return;
		transfer(live, other, 10);
		transfer(other, live, 10);
	}
	for (int i = 0; i < 3; i++) {
		key_update(live, true);
		endpoint_send(live, (const uint8_t *)"x", 1);
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(endpoint_receive(other, (uint8_t[1]){0}, 1, &(size_t){0}), 0);
	assert_int_equal(live->in.len, 0);
	assert_int_equal(endpoint_expect_none(other), -EINPROGRESS);
	/* One answer. */
	assert_int_equal(live->in.len, KEY_UPDATE_RECORD_BYTES);
	transfer(other, live, 10);
	transfer(live, other, 10);
}

static void check_key_update(const struct pairing *p)
{
	struct endpoint client, server;

	establish(p, &client, &server);
	park(&server);
	update_keys(&client, &server);
	park(&client);
	exchange(&client, &server, 100);
	close_pair(&client, &server);

	establish(p, &client, &server);
	park(&client);
	update_keys(&server, &client);
	park(&server);
	exchange(&client, &server, 100);
	close_pair(&client, &server);
}

static void the_library_updates_its_keys(void **state)
{
	(void)state;
	for_each_pairing(check_key_update);
}

/* KeyUpdates that both sessions saw before they were dissolved; one still to be answered. */
static void check_update_before(const struct pairing *p)
{
	struct endpoint client, server;

	establish(p, &client, &server);
	for (int i = 0; i < 4; i++) {
		if (!key_update(i & 1 ? &client : &server, true))
			break;
		exchange(&client, &server, 10);
	}
	if (key_update(&client, true)) {
		endpoint_send(&client, (const uint8_t *)"x", 1);
		assert_int_equal(endpoint_receive(&server, (uint8_t[1]){0}, 1, &(size_t){0}), 0);
		park(&server);
		assert_int_equal(client.in.len, KEY_UPDATE_RECORD_BYTES);
	} else {
		park(&server);
	}
	exchange(&client, &server, 100);
	park(&client);
	exchange(&client, &server, 100);
	close_pair(&client, &server);
}

static void keys_updated_before_parking(void **state)
{
	(void)state;
	for_each_pairing(check_update_before);
}

/* ---- the end ---- */

static void check_close_notify(const struct pairing *p)
{
	struct endpoint client, server;
	uint8_t out[TLS_OUT_MIN];
	struct tls_io io = {.out = out, .out_size = sizeof(out)};
	size_t used;

	for (int who = 0; who < WHO; who++) {
		establish(p, &client, &server);
		park_who((enum who)who, &client, &server);
		assert_int_equal(endpoint_close_notify(&client), 0);
		assert_int_equal(endpoint_expect_none(&server), -EPIPE);
		assert_int_equal(endpoint_expect_none(&server), -EPIPE);
		assert_int_equal(endpoint_close_notify(&client), 0);
		assert_int_equal(server.in.len, 0);
		/* The other direction still works, this one does not. */
		transfer(&server, &client, 100);
		assert_int_equal(endpoint_encrypt(&client, &io, out, 1, &used), -EPROTO);
		assert_int_equal(endpoint_close_notify(&server), 0);
		assert_int_equal(endpoint_expect_none(&client), -EPIPE);
		close_pair(&client, &server);
	}
}

static void close_notify_is_epipe(void **state)
{
	(void)state;
	for_each_pairing(check_close_notify);
}

/* Once the connection is forgotten nothing of it is left to look at. */
static void check_forget(const struct pairing *p)
{
	static const struct tls_parked zeros;
	struct endpoint client, server;

	establish(p, &client, &server);
	park(&server);
	transfer(&client, &server, 10);
	server.ops->parked_forget(server.ctx, &server.parked);
	assert_memory_equal(&server.parked, &zeros, sizeof(zeros));
	close_pair(&client, &server);
}

static void forgetting_leaves_zeros(void **state)
{
	(void)state;
	for_each_pairing(check_forget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_passes_both_ways),
		cmocka_unit_test(records_split_anywhere),
		cmocka_unit_test(a_session_may_have_spoken),
		cmocka_unit_test(tickets_reach_a_parked_client),
		cmocka_unit_test(a_request_behind_finished),
		cmocka_unit_test(the_library_updates_its_keys),
		cmocka_unit_test(keys_updated_before_parking),
		cmocka_unit_test(close_notify_is_epipe),
		cmocka_unit_test(forgetting_leaves_zeros),
	};

	return cmocka_run_group_tests_name("tls parked", tests, NULL, NULL);
}
