// SPDX-License-Identifier: Apache-2.0
/* tls_backends/tests/ - the record layer of parked connections by itself: published vectors, and
 * what a peer may do. Linked once with each library. */
#include "tls_backends/tests/record13_pair.h"

/* ---- vectors ---- */

static size_t from_hex(const char *hex, uint8_t *bytes)
{
	size_t len = 0;
	unsigned byte;
	int used;

	for (; sscanf(hex, "%2x%n", &byte, &used) == 1; hex += used)
		bytes[len++] = (uint8_t)byte;
	return len;
}

static void assert_is_hex(const uint8_t *bytes, size_t len, const char *hex)
{
	uint8_t expected[512];

	assert_int_equal(from_hex(hex, expected), len);
	assert_memory_equal(bytes, expected, len);
}

static void assert_label(uint16_t suite, const char *secret_hex, const char *label,
			 const char *expected)
{
	uint8_t secret[TLS_SECRET_MAX], out[TLS_SECRET_MAX];
	size_t len = strlen(expected) / 2;

	from_hex(secret_hex, secret);
	record13_expand_label(record13_suite_find(suite), secret, label, out, len);
	assert_is_hex(out, len, expected);
}

/* RFC 8448 section 3. */
#define RFC8448_CLIENT "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5"
#define RFC8448_SERVER "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643"
#define RFC8448_TICKET                                                                             \
	"17030300de3a6b8f90414a97d6959c3487680de5134a2b240e6cffac116e95d41d6af8f6b580dcf3d11d63c7" \
	"58db289a015940252f55713e061dc13e078891a38efbcf5753ad8ef170ad3c7353d16d9da773b9ca7f2b9fa1" \
	"b6c0d4a3d03f75e09c30ba1e62972ac46f75f7b981be63439b2999ce13064615139891d5e4c5b406f16e3fc1" \
	"81a77ca475840025db2f0a77f81b5ab05b94c01346755f69232c86519d86cbeeac87aac347d143f9605d64f6" \
	"50db4d023e70e952ca49fe5137121c74bc2697687e248746d6df353005f3bce18696129c8153556b3b6c6779" \
	"b37bf15985684f"
#define RFC8448_CLIENT_DATA                                                                        \
	"1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a" \
	"20441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4"
#define RFC8448_SERVER_DATA                                                                        \
	"17030300432e937e11ef4ac740e538ad36005fc4a46932fc3225d05f82aa1b36e30efaf97d90e6dffc602dcb" \
	"501a59a8fcc49c4bf2e5f0a21c0047c2abf332540dd032e167c2955d"
#define RFC8448_CLIENT_ALERT "1703030013c9872760655666b74d7ff1153efd6db6d0b0e3"
#define RFC8448_SERVER_ALERT "1703030013b58fd67166ebf599d24720cfbe7efa7a8864a9"

static void rfc8448_keys(void **state)
{
	(void)state;
	assert_label(0x1301, RFC8448_SERVER, "key", "9f02283b6c9c07efc26bb9f2ac92e356");
	assert_label(0x1301, RFC8448_SERVER, "iv", "cf782b88dd83549aadf1e984");
	assert_label(0x1301, RFC8448_CLIENT, "key", "17422dda596ed5d9acd890e3c63f5051");
	assert_label(0x1301, RFC8448_CLIENT, "iv", "5b78923dee08579033e523d9");
}

/* RFC 9001 appendix A.5: 32-byte keys, and the label QUIC has for the next secret. */
static void rfc9001_keys(void **state)
{
	static const char secret[] =
		"9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b";

	(void)state;
	assert_label(0x1303, secret, "quic key",
		     "c6d98ff3441c3fe1b2182094f69caa2ed4b716b65488960a7a984979fb23e1c8");
	assert_label(0x1303, secret, "quic iv", "e0459b3474bdd0e44a41c144");
	assert_label(0x1303, secret, "quic ku",
		     "1223504755036d556342ee9361d253421a826c9ecdf3c7148684b36b714881f9");
}

static void rfc8448_pair(struct pair *pair)
{
	uint8_t of_client[TLS_SECRET_MAX], of_server[TLS_SECRET_MAX];

	pair_open(pair, 0x1301);
	from_hex(RFC8448_CLIENT, of_client);
	from_hex(RFC8448_SERVER, of_server);
	pair->client = parked_of(0x1301, false, of_server, of_client);
	pair->server = parked_of(0x1301, true, of_client, of_server);
}

static int take_hex(struct pair *pair, struct tls_parked *end, const char *hex)
{
	uint8_t bytes[512];

	return take(pair, end, bytes, from_hex(hex, bytes));
}

static void assert_counts_up(const struct pair *pair)
{
	assert_int_equal(pair->last.len, 50);
	for (uint8_t i = 0; i < 50; i++)
		assert_int_equal(pair->last.plain[i], i);
}

static void rfc8448_records_are_read(void **state)
{
	struct pair pair;

	(void)state;
	rfc8448_pair(&pair);
	assert_int_equal(take_hex(&pair, &pair.server, RFC8448_CLIENT_DATA), 0);
	assert_counts_up(&pair);
	assert_int_equal(take_hex(&pair, &pair.server, RFC8448_CLIENT_ALERT), -EPIPE);
	assert_int_equal(take_hex(&pair, &pair.client, RFC8448_TICKET), -EINPROGRESS);
	assert_int_equal(take_hex(&pair, &pair.client, RFC8448_SERVER_DATA), 0);
	assert_counts_up(&pair);
	assert_int_equal(take_hex(&pair, &pair.client, RFC8448_SERVER_ALERT), -EPIPE);
	pair_close(&pair);
}

static void rfc8448_records_are_written(void **state)
{
	uint8_t data[50], out[TLS_OUT_MIN];
	struct tls_io io = {.out = out, .out_size = sizeof(out)};
	struct pair pair;

	(void)state;
	rfc8448_pair(&pair);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
	assert_int_equal(send_data(&pair, &pair.client, data, sizeof(data), OUT_BYTES), 0);
	assert_is_hex(pair.last.out, pair.last.out_len, RFC8448_CLIENT_DATA);
	assert_int_equal(record13_close_notify(pair.record13, &pair.client, &io), 0);
	assert_is_hex(out, io.out_len, RFC8448_CLIENT_ALERT);
	pair_close(&pair);
}

/* ---- what a peer may do ---- */

static void check_lengths(struct pair *pair)
{
	static const size_t lengths[] = {1, 15, 16, 17, 255, 16383, 16384};
	uint8_t data[TLS_RECORD_PLAIN_MAX], record[OUT_BYTES];

	memset(data, 'x', sizeof(data));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		size_t len;

		assert_int_equal(send_data(pair, &pair->client, data, lengths[i], OUT_BYTES), 0);
		assert_int_equal(pair->last.len, lengths[i]);
		len = pair->last.out_len;
		assert_int_equal(len, lengths[i] + RECORD_ADDED_BYTES);
		memcpy(record, pair->last.out, len);
		assert_int_equal(take(pair, &pair->server, record, len), 0);
		assert_int_equal(pair->last.len, lengths[i]);
		assert_memory_equal(pair->last.plain, data, lengths[i]);
	}
}

static void records_of_any_length(void **state)
{
	(void)state;
	for_each_suite(check_lengths);
}

/* Whole records are taken, a part of the next is left. */
static void check_several(struct pair *pair)
{
	uint8_t flight[1024];
	size_t len = 0;

	len += craft(pair, &pair->client, (const uint8_t *)"a\x17", 2, flight + len);
	len += craft(pair, &pair->client, (const uint8_t *)"\x17", 1, flight + len);
	len += craft(pair, &pair->client, (const uint8_t *)"b\x17\0\0\0", 5, flight + len);
	assert_int_equal(take(pair, &pair->server, flight, len), 0);
	assert_memory_equal(pair->last.plain, "a", pair->last.len);
	for (size_t cut = 0; cut < 26; cut++) {
		struct tls_parked copy = pair->server;
		size_t left = pair->last.in_left;

		if (cut) {
			assert_int_equal(take(pair, &copy, flight + len - left, left - cut),
					 -EINPROGRESS);
			assert_int_equal(pair->last.in_left, 26 - cut);
			pair->last.in_left = left;
		}
	}
	assert_int_equal(
		take(pair, &pair->server, flight + len - pair->last.in_left, pair->last.in_left),
		0);
	assert_memory_equal(pair->last.plain, "b", pair->last.len);
	assert_int_equal(pair->last.in_left, 0);
}

static void several_records_in_one_read(void **state)
{
	(void)state;
	for_each_suite(check_several);
}

static void check_padding(struct pair *pair)
{
	static const uint8_t zeros[] = {'x', 0, 0, CONTENT_APPLICATION_DATA, 0};
	static uint8_t inner[TLS_RECORD_PLAIN_MAX + 1];

	inner[0] = 'x';
	inner[1] = CONTENT_APPLICATION_DATA;
	assert_int_equal(take_crafted(pair, &pair->server, inner, 2), 0);
	assert_int_equal(take_crafted(pair, &pair->server, inner, 300), 0);
	assert_int_equal(take_crafted(pair, &pair->server, inner, sizeof(inner)), 0);
	assert_int_equal(pair->last.len, 1);
	/* Data that ends in zeros is not padding. */
	assert_int_equal(take_crafted(pair, &pair->server, zeros, sizeof(zeros)), 0);
	assert_int_equal(pair->last.len, 3);
}

static void padding_is_taken_off(void **state)
{
	(void)state;
	for_each_suite(check_padding);
}

/* The messages in pieces: after `cut` bytes, then byte by byte. */
static void check_pieces(struct pair *pair)
{
	static const char messages[] = TICKET TICKET UPDATE;
	const size_t len = sizeof(messages) - 1;

	for (size_t cut = 1; cut <= len; cut++) {
		assert_int_equal(
			take_content(pair, &pair->client, CONTENT_HANDSHAKE, messages, cut),
			-EINPROGRESS);
		for (size_t i = cut; i < len; i++)
			assert_int_equal(take_content(pair, &pair->client, CONTENT_HANDSHAKE,
						      messages + i, 1),
					 -EINPROGRESS);
		assert_int_equal(pair->client.read_seq, 0);
		record13_next_secret(record13_suite_find(pair->server.suite),
				     pair->server.write_secret);
		pair->server.write_seq = 0;
		assert_alive(pair);
	}
}

static void messages_in_pieces(void **state)
{
	(void)state;
	for_each_suite(check_pieces);
}

static void take_update(struct pair *pair, struct tls_parked *end, bool asks)
{
	struct tls_parked *peer = other(pair, end);

	assert_int_equal(take_content(pair, end, CONTENT_HANDSHAKE, asks ? UPDATE_ASKING : UPDATE,
				      UPDATE_BYTES),
			 -EINPROGRESS);
	record13_next_secret(record13_suite_find(peer->suite), peer->write_secret);
	peer->write_seq = 0;
}

static void check_updates(struct pair *pair)
{
	uint8_t answer[64];
	size_t len;

	take_update(pair, &pair->server, false);
	assert_int_equal(pair->last.out_len, 0);
	assert_alive(pair);
	take_update(pair, &pair->server, true);
	len = pair->last.out_len;
	assert_int_equal(len, RECORD_ADDED_BYTES + UPDATE_BYTES);
	memcpy(answer, pair->last.out, len);
	assert_int_equal(take(pair, &pair->client, answer, len), -EINPROGRESS);
	assert_int_equal(pair->last.out_len, 0);
	assert_alive(pair);
}

static void key_updates_are_followed(void **state)
{
	(void)state;
	for_each_suite(check_updates);
}

/* The last output goes to `end`, and what that says in turn to the other, until both are silent.
 * How many flights that took. */
static unsigned pass_on(struct pair *pair, struct tls_parked *end)
{
	uint8_t flight[256];
	unsigned flights = 0;

	for (; pair->last.out_len; end = other(pair, end), flights++) {
		size_t len = pair->last.out_len;

		assert_true(len <= sizeof(flight) && flights < 8);
		memcpy(flight, pair->last.out, len);
		assert_int_equal(take(pair, end, flight, len), -EINPROGRESS);
	}
	return flights;
}

/* Keys change every four records, each way, and nothing is lost: the writer changes its own, and a
 * reader that has run out of input asks for it. */
static void check_limit(struct pair *pair)
{
	uint8_t before[TLS_SECRET_MAX], flight[256];
	unsigned changes = 0, asked = 0;

	record13_set_update_after(pair->record13, 4);
	for (int i = 0; i < 40; i++) {
		size_t len;

		memcpy(before, pair->client.write_secret, sizeof(before));
		assert_int_equal(send_data(pair, &pair->client, "data", 4, OUT_BYTES), 0);
		changes += !!memcmp(before, pair->client.write_secret, sizeof(before));
		assert_true(pair->client.write_seq <= 4);
		len = pair->last.out_len;
		memcpy(flight, pair->last.out, len);
		assert_int_equal(take(pair, &pair->server, flight, len), 0);
		if (i % 12 < 11)
			continue;
		assert_int_equal(take(pair, &pair->server, NULL, 0), -EINPROGRESS);
		asked += pass_on(pair, &pair->client) == 2;
	}
	assert_int_equal(asked, 3);
	assert_int_equal(changes, 6);
	assert_alive(pair);
}

/* Asking once is enough. */
static void check_asking(struct pair *pair)
{
	record13_set_update_after(pair->record13, 4);
	pair->server.read_seq = pair->client.write_seq = 4;
	assert_int_equal(take(pair, &pair->server, NULL, 0), -EINPROGRESS);
	assert_int_equal(pair->last.out_len, RECORD_ADDED_BYTES + UPDATE_BYTES);
	assert_int_equal(take(pair, &pair->server, NULL, 0), -EINPROGRESS);
	assert_int_equal(pair->last.out_len, 0);
}

static void the_peer_is_asked_once(void **state)
{
	(void)state;
	for_each_suite(check_asking);
}

static void keys_are_replaced_in_time(void **state)
{
	(void)state;
	for_each_suite(check_limit);
}

static void check_windows(struct pair *pair)
{
	static uint8_t data[TLS_RECORD_PLAIN_MAX];
	uint8_t record[64];
	size_t len;

	for (size_t window = 0; window <= TLS_RECORD_OVERHEAD_MAX; window++) {
		assert_int_equal(send_data(pair, &pair->client, data, sizeof(data), window),
				 -ENOBUFS);
		assert_int_equal(pair->last.len + pair->last.out_len, 0);
	}
	assert_int_equal(send_data(pair, &pair->client, data, sizeof(data), 300), 0);
	assert_int_equal(pair->last.out_len, 300);
	assert_int_equal(pair->last.len, 300 - RECORD_ADDED_BYTES);
	pair->server.read_seq++;
	/* Reading asks for room before it takes anything. */
	len = craft(pair, &pair->client, (const uint8_t *)"a\x17", 2, record);
	for (size_t window = 0; window < 64; window++) {
		struct tls_io io = {.in = record, .in_len = len, .out = data, .out_size = window};

		assert_int_equal(record13_decrypt(pair->record13, &pair->server, &io,
						  pair->last.plain, sizeof(pair->last.plain),
						  &pair->last.len),
				 -ENOBUFS);
		assert_int_equal(io.in_len, len);
	}
	assert_int_equal(take(pair, &pair->server, record, len), 0);
	assert_alive(pair);
}

/* Ours asks; the answer comes before the next data, and both ways are under new keys then. */
static void check_cycle(struct pair *pair)
{
	struct tls_parked before[] = {pair->client, pair->server};
	struct tls_io io = {.out = pair->last.out, .out_size = OUT_BYTES};
	uint8_t record[128];
	size_t len;

	assert_false(record13_awaits_key_update(&pair->client));
	assert_int_equal(record13_key_update(pair->record13, &pair->client, &io), 0);
	assert_true(record13_awaits_key_update(&pair->client));
	assert_int_equal(pair->client.write_seq, 0);
	len = io.out_len;
	memcpy(record, pair->last.out, len);
	assert_int_equal(take(pair, &pair->server, record, len), -EINPROGRESS);
	len = pair->last.out_len;
	memcpy(record, pair->last.out, len);
	assert_int_equal(take(pair, &pair->client, record, len), -EINPROGRESS);
	assert_false(record13_awaits_key_update(&pair->client));
	assert_memory_not_equal(pair->client.read_secret, before[0].read_secret, 32);
	assert_memory_not_equal(pair->server.read_secret, before[1].read_secret, 32);
	assert_alive(pair);
}

static void cycles_of_key_updates(struct pair *pair)
{
	struct tls_io none = {.out = pair->last.out, .out_size = 8};

	for (int i = 0; i < 3; i++)
		check_cycle(pair);
	assert_int_equal(record13_key_update(pair->record13, &pair->client, &none), -ENOBUFS);
	assert_false(record13_awaits_key_update(&pair->client));
	assert_alive(pair);
	none.out_size = OUT_BYTES;
	assert_int_equal(record13_close_notify(pair->record13, &pair->client, &none), 0);
	assert_int_equal(record13_key_update(pair->record13, &pair->client, &none), -EPROTO);
	assert_string_equal(record13_reason(pair->record13), "close_notify has been sent");
}

static void we_ask_for_new_keys(void **state)
{
	(void)state;
	for_each_suite(cycles_of_key_updates);
}

static void a_full_window_takes_nothing(void **state)
{
	(void)state;
	for_each_suite(check_windows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc8448_keys),
		cmocka_unit_test(rfc9001_keys),
		cmocka_unit_test(rfc8448_records_are_read),
		cmocka_unit_test(rfc8448_records_are_written),
		cmocka_unit_test(records_of_any_length),
		cmocka_unit_test(several_records_in_one_read),
		cmocka_unit_test(padding_is_taken_off),
		cmocka_unit_test(messages_in_pieces),
		cmocka_unit_test(key_updates_are_followed),
		cmocka_unit_test(keys_are_replaced_in_time),
		cmocka_unit_test(the_peer_is_asked_once),
		cmocka_unit_test(we_ask_for_new_keys),
		cmocka_unit_test(a_full_window_takes_nothing),
	};

	return cmocka_run_group_tests_name("tls record layer", tests, NULL, NULL);
}
