// SPDX-License-Identifier: Apache-2.0
/* tls_backends/tests/ - the record layer of parked connections by itself: the right alert for each
 * thing that a peer may not do. Linked once with each library. */
#include "tls_backends/tests/record13_pair.h"
#include "tls_backends/tests/record13_offences.h"

static void check_offences(struct pair *pair)
{
	const struct pair fresh = *pair;

	for (size_t i = 0; i < sizeof(offences) / sizeof(*offences); i++) {
		const struct offence *offence = &offences[i];
		struct tls_parked *end = offence->at_client ? &pair->client : &pair->server;

		*pair = fresh;
		print_message("# %s\n", offence->name);
		take_content(pair, end, offence->type, offence->content, offence->len);
		assert_failed(pair, end, offence->alert);
	}
	*pair = fresh;
}

static void each_offence_has_its_alert(void **state)
{
	(void)state;
	for_each_suite(check_offences);
}

/* Between the pieces of a message nothing else may come, an alert excepted. */
static void check_interleaving(struct pair *pair)
{
	const struct pair fresh = *pair;

	for (size_t cut = 1; cut < UPDATE_BYTES; cut++) {
		*pair = fresh;
		assert_int_equal(take_content(pair, &pair->server, CONTENT_HANDSHAKE, UPDATE, cut),
				 -EINPROGRESS);
		take_content(pair, &pair->server, CONTENT_APPLICATION_DATA, "x", 1);
		assert_failed(pair, &pair->server, 10);
	}
	for (size_t cut = 1; cut < TICKET_BYTES; cut++) {
		*pair = fresh;
		take_content(pair, &pair->client, CONTENT_HANDSHAKE, TICKET, cut);
		assert_int_equal(take_content(pair, &pair->client, CONTENT_ALERT, "\1\0", 2),
				 -EPIPE);
	}
	*pair = fresh;
}

static void messages_are_not_interleaved(void **state)
{
	(void)state;
	for_each_suite(check_interleaving);
}

static void check_outer(struct pair *pair)
{
	static const char *const heads[] = {"\x14\3\3\0\1\1", "\x15\3\3\0\2\2", "\x16\3\3\0\1x",
					    "GET / "};
	const struct pair fresh = *pair;
	uint8_t record[RECORD_CIPHER_MAX + 64] = {23, 3, 3};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		for (size_t len = 1; len <= 6; len++) {
			*pair = fresh;
			take(pair, &pair->server, (const uint8_t *)heads[i], len);
			assert_failed(pair, &pair->server, 10);
		}
	}
	/* Too long: the header is enough to know. The longest still waits for its body. */
	*pair = fresh;
	record[3] = RECORD_CIPHER_MAX >> 8;
	record[4] = RECORD_CIPHER_MAX & 0xff;
	assert_int_equal(take(pair, &pair->server, record, 5), -EINPROGRESS);
	record[4]++;
	take(pair, &pair->server, record, 5);
	assert_failed(pair, &pair->server, 22);
	/* Shorter than its tag. */
	record[3] = 0;
	for (record[4] = 0; record[4] < AEAD_TAG_BYTES; record[4]++) {
		*pair = fresh;
		take(pair, &pair->server, record, RECORD_HEADER_BYTES + record[4]);
		assert_failed(pair, &pair->server, 20);
	}
	*pair = fresh;
}

static void bad_headers(void **state)
{
	(void)state;
	for_each_suite(check_outer);
}

/* Padding counts: 2^14 + 1 bytes inside, and not one more, whatever they are. */
static void check_overflow(struct pair *pair)
{
	const struct pair fresh = *pair;
	static uint8_t inner[TLS_RECORD_PLAIN_MAX + 240];

	for (size_t len = TLS_RECORD_PLAIN_MAX + 2; len <= sizeof(inner); len += 119) {
		*pair = fresh;
		inner[0] = CONTENT_APPLICATION_DATA;
		take_crafted(pair, &pair->server, inner, len);
		assert_failed(pair, &pair->server, 22);
	}
	*pair = fresh;
}

static void too_long_once_opened(void **state)
{
	(void)state;
	for_each_suite(check_overflow);
}

enum quiet_kind { EMPTY_DATA, UPDATES, WARNINGS, QUIET_KINDS };

static int take_quiet(struct pair *pair, enum quiet_kind kind)
{
	struct tls_parked before = pair->server;
	int rc;

	if (kind == EMPTY_DATA)
		return take_content(pair, &pair->server, CONTENT_APPLICATION_DATA, "", 0);
	if (kind == WARNINGS)
		return take_content(pair, &pair->server, CONTENT_ALERT, "\1\x5a", 2);
	rc = take_content(pair, &pair->server, CONTENT_HANDSHAKE, UPDATE, UPDATE_BYTES);
	record13_next_secret(record13_suite_find(before.suite), pair->client.write_secret);
	pair->client.write_seq = 0;
	return rc;
}

static void check_floods(struct pair *pair)
{
	const struct pair fresh = *pair;

	for (int kind = 0; kind < QUIET_KINDS; kind++) {
		*pair = fresh;
		for (int round = 0; round < 3; round++) {
			for (unsigned i = 0; i < RECORD13_QUIET_MAX; i++)
				assert_int_equal(take_quiet(pair, (enum quiet_kind)kind),
						 -EINPROGRESS);
			/* Data in between makes it good. */
			if (round < 2)
				assert_alive(pair);
		}
		take_quiet(pair, (enum quiet_kind)kind);
		assert_failed(pair, &pair->server, 10);
	}
	*pair = fresh;
}

static void floods_end(void **state)
{
	(void)state;
	for_each_suite(check_floods);
}

/* All alerts but two are fatal, at either level, and none is answered. */
static void check_alerts(struct pair *pair)
{
	const struct pair fresh = *pair;

	for (unsigned i = 0; i < 512; i++) {
		const uint8_t alert[] = {1 + i / 256, (uint8_t)i};
		int expected = alert[1] == 0 ? -EPIPE : alert[1] == 90 ? -EINPROGRESS : -EPROTO;

		*pair = fresh;
		assert_int_equal(take_content(pair, &pair->server, CONTENT_ALERT, alert, 2),
				 expected);
		assert_int_equal(pair->last.out_len, 0);
		assert_int_equal(take(pair, &pair->server, NULL, 0), expected);
		assert_int_equal(pair->last.out_len, 0);
	}
	*pair = fresh;
}

static void alerts_end_a_connection(void **state)
{
	(void)state;
	for_each_suite(check_alerts);
}

/* What comes behind close_notify is dropped, whatever it is. */
static void check_after_close(struct pair *pair)
{
	uint8_t flight[256];
	size_t len = craft(pair, &pair->client, (const uint8_t *)"\1\0\x15", 3, flight);

	memset(flight + len, 'x', 7);
	assert_int_equal(take(pair, &pair->server, flight, len + 7), -EPIPE);
	assert_int_equal(pair->last.in_left, 0);
	assert_int_equal(take(pair, &pair->server, (const uint8_t *)"more", 4), -EPIPE);
	assert_int_equal(pair->last.in_left, 0);
	assert_int_equal(pair->last.out_len, 0);
}

/* Nor do we say anything more: no answer to a KeyUpdate, and no alert. */
static void check_after_our_close(struct pair *pair)
{
	uint8_t out[TLS_OUT_MIN];
	struct tls_io io = {.out = out, .out_size = sizeof(out)};

	assert_int_equal(record13_close_notify(pair->record13, &pair->server, &io), 0);
	assert_int_equal(
		take_content(pair, &pair->server, CONTENT_HANDSHAKE, UPDATE_ASKING, UPDATE_BYTES),
		-EINPROGRESS);
	assert_int_equal(pair->last.out_len, 0);
	assert_int_equal(take(pair, &pair->server, (const uint8_t *)"x", 1), -EPROTO);
	assert_int_equal(pair->last.out_len, 0);
}

static void nothing_after_our_close_notify(void **state)
{
	(void)state;
	for_each_suite(check_after_our_close);
}

static void nothing_after_close_notify(void **state)
{
	(void)state;
	for_each_suite(check_after_close);
}

/* No record is ever read or written under a number used before. */
static void check_wrap(struct pair *pair)
{
	const struct pair fresh = *pair;

	pair->client.write_seq = pair->server.read_seq = UINT32_MAX;
	take_content(pair, &pair->server, CONTENT_APPLICATION_DATA, "x", 1);
	assert_failed(pair, &pair->server, 80);

	*pair = fresh;
	pair->client.write_seq = UINT32_MAX;
	assert_int_equal(send_data(pair, &pair->client, "x", 1, OUT_BYTES), -EPROTO);
	assert_int_equal(pair->last.out_len, 0);
	assert_int_equal(pair->client.write_seq, UINT32_MAX);
	*pair = fresh;
}

static void sequence_numbers_do_not_wrap(void **state)
{
	(void)state;
	for_each_suite(check_wrap);
}

static void replayed_and_reordered(struct pair *pair)
{
	const struct pair fresh = *pair;
	uint8_t first[64], second[64];
	size_t len = craft(pair, &pair->client, (const uint8_t *)"a\x17", 2, first);

	craft(pair, &pair->client, (const uint8_t *)"b\x17", 2, second);
	take(pair, &pair->server, second, len);
	assert_failed(pair, &pair->server, 20);
	*pair = fresh;
	assert_int_equal(take(pair, &pair->server, first, len), 0);
	take(pair, &pair->server, first, len);
	assert_failed(pair, &pair->server, 20);
	*pair = fresh;
}

static void a_record_counts_once(void **state)
{
	(void)state;
	for_each_suite(replayed_and_reordered);
}

static void strangers_are_refused(void **state)
{
	static const uint8_t secret[TLS_SECRET_MAX];
	struct record13_start start = {
		.suite = 0x1301,
		.read_secret = secret,
		.read_secret_len = 32,
		.write_secret = secret,
		.write_secret_len = 32,
	};
	struct tls_parked parked;

	(void)state;
	assert_int_equal(record13_park(&parked, &start), 0);
	start.write_secret_len = 0;
	assert_int_equal(record13_park(&parked, &start), -EINVAL);
	start.suite = 0x1304; /* AES-128-CCM */
	assert_int_equal(record13_park(&parked, &start), -EOPNOTSUPP);
	start.suite = 0xc02f; /* of TLS 1.2 */
	assert_int_equal(record13_park(&parked, &start), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_offence_has_its_alert),
		cmocka_unit_test(messages_are_not_interleaved),
		cmocka_unit_test(bad_headers),
		cmocka_unit_test(too_long_once_opened),
		cmocka_unit_test(floods_end),
		cmocka_unit_test(alerts_end_a_connection),
		cmocka_unit_test(nothing_after_close_notify),
		cmocka_unit_test(nothing_after_our_close_notify),
		cmocka_unit_test(sequence_numbers_do_not_wrap),
		cmocka_unit_test(a_record_counts_once),
		cmocka_unit_test(strangers_are_refused),
	};

	return cmocka_run_group_tests_name("tls record layer, offended", tests, NULL, NULL);
}
