// SPDX-License-Identifier: Apache-2.0
/* tls_backends/tests/ - records changed on their way to a parked connection, and alerts that the
 * other side understands. */
#include "tls_backends/tests/parked_pairs.h"

/* ---- tampering: the record goes to a copy of the parked record, so that it can be tried again
 * ---- */

struct attempt {
	int rc;
	size_t len;
	struct tls_io io;
	uint8_t out[TLS_OUT_MIN];
	uint8_t plain[TLS_RECORD_PLAIN_MAX];
};

static void try_record(const struct endpoint *end, const uint8_t *record, size_t len,
		       struct attempt *attempt)
{
	struct tls_parked copy = end->parked;

	attempt->io = (struct tls_io){
		.in = record, .in_len = len, .out = attempt->out, .out_size = sizeof(attempt->out)};
	attempt->rc = end->ops->parked_decrypt(end->ctx, &copy, &attempt->io, attempt->plain,
					       sizeof(attempt->plain), &attempt->len);
	if (attempt->rc == -EPROTO) {
		static const uint8_t zeros[TLS_SECRET_MAX];

		assert_memory_equal(copy.read_secret, zeros, sizeof(zeros));
		assert_memory_equal(copy.write_secret, zeros, sizeof(zeros));
	}
	end->ops->parked_forget(end->ctx, &copy);
}

/* The alert in the output, as a parked record at the other end reads it. */
static void assert_alert(const struct endpoint *peer, const struct attempt *attempt,
			 unsigned expected)
{
	char reason[64];
	struct attempt at_peer;

	assert_int_equal(attempt->rc, -EPROTO);
	try_record(peer, attempt->out, attempt->io.out_len, &at_peer);
	assert_int_equal(at_peer.rc, -EPROTO);
	assert_int_equal(at_peer.io.out_len, 0);
	snprintf(reason, sizeof(reason), "the peer sent alert %u", expected);
	assert_string_equal(peer->ops->strerror(peer->ctx), reason);
}

static void flip_each_bit(struct endpoint *from, struct endpoint *to)
{
	uint8_t *record = to->in.data, received[10];
	struct attempt attempt;
	size_t got;

	for (size_t bit = 0; bit < 8 * to->in.len; bit++) {
		bool is_length = bit / 8 == 3 || bit / 8 == 4;

		record[bit / 8] ^= (uint8_t)(1 << bit % 8);
		try_record(to, record, to->in.len, &attempt);
		assert_int_equal(attempt.len, 0);
		if (is_length && attempt.rc == -EINPROGRESS)
			assert_int_equal(attempt.io.out_len, 0);
		else if (is_length && record[3] > 0x41)
			assert_alert(from, &attempt, 22); /* record_overflow */
		else
			assert_alert(from, &attempt, bit / 8 ? 20 : 10); /* bad_record_mac */
		record[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_int_equal(endpoint_receive(to, received, sizeof(received), &got), 0);
	assert_memory_equal(received, "0123456789", 10);
}

static void check_tampering(const struct pairing *p)
{
	struct endpoint client, server;

	establish(p, &client, &server);
	park(&client);
	park(&server);
	endpoint_send(&client, (const uint8_t *)"0123456789", 10);
	flip_each_bit(&client, &server);
	endpoint_send(&server, (const uint8_t *)"0123456789", 10);
	flip_each_bit(&server, &client);
	close_pair(&client, &server);
}

static void every_flipped_bit_is_found(void **state)
{
	(void)state;
	for_each_pairing(check_tampering);
}

/* The library understands our alert, and a parked record the library's. */
static void check_alerts(const struct pairing *p)
{
	struct endpoint client, server;

	establish(p, &client, &server);
	park(&server);
	endpoint_send(&client, (const uint8_t *)"data", 4);
	server.in.data[server.in.len - 1] ^= 1;
	assert_int_equal(endpoint_expect_none(&server), -EPROTO);
	assert_string_equal(server.ops->strerror(server.ctx), "a record that is not authentic");
	assert_int_equal(endpoint_expect_none(&client), -EPROTO);
	print_message("# the library: %s\n", client.ops->strerror(client.ctx));
	/* It stays failed, and says nothing more. */
	assert_int_equal(endpoint_expect_none(&server), -EPROTO);
	assert_int_equal(endpoint_close_notify(&server), -EPROTO);
	assert_int_equal(client.in.len, 0);
	close_pair(&client, &server);

	establish(p, &client, &server);
	park(&server);
	endpoint_send(&server, (const uint8_t *)"data", 4);
	client.in.data[client.in.len - 1] ^= 1;
	assert_int_equal(endpoint_expect_none(&client), -EPROTO);
	client.in.len = 0;
	assert_int_equal(endpoint_expect_none(&server), -EPROTO);
	assert_string_equal(server.ops->strerror(server.ctx), "the peer sent alert 20");
	assert_int_equal(client.in.len, 0);
	close_pair(&client, &server);
}

static void alerts_are_understood(void **state)
{
	(void)state;
	for_each_pairing(check_alerts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_flipped_bit_is_found),
		cmocka_unit_test(alerts_are_understood),
	};

	return cmocka_run_group_tests_name("tls parked, tampered with", tests, NULL, NULL);
}
