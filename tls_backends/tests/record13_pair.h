/* SPDX-License-Identifier: Apache-2.0 */
/* tls_backends/tests/ - two parked records of one connection and the records between them, those
 * that no honest end would send included. */
#ifndef TLS_BACKENDS_TESTS_RECORD13_PAIR_H
#define TLS_BACKENDS_TESTS_RECORD13_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tls_backends/record13_parts.h"
#include "tls_backends/tests/record13_vectors.h"

#define OUT_BYTES 65536u

/* What the last call answered. */
struct outcome {
	int rc;
	size_t len; /* of plain, or taken */
	size_t in_left;
	size_t out_len;
	uint8_t plain[TLS_RECORD_PLAIN_MAX];
	uint8_t out[OUT_BYTES];
};

struct pair {
	struct record13 *record13; /* of both ends: each call changes its keys */
	struct tls_parked client;
	struct tls_parked server;
	struct outcome last;
};

static inline struct tls_parked parked_of(uint16_t suite, bool server, const uint8_t *read_secret,
					  const uint8_t *write_secret)
{
	size_t len = record13_suite_find(suite)->hash_bytes;
	struct tls_parked parked;
	const struct record13_start start = {
		.suite = suite,
		.server = server,
		.read_secret = read_secret,
		.read_secret_len = len,
		.write_secret = write_secret,
		.write_secret_len = len,
	};

	assert_int_equal(record13_park(&parked, &start), 0);
	return parked;
}

static inline void pair_open(struct pair *pair, uint16_t suite)
{
	uint8_t of_client[TLS_SECRET_MAX], of_server[TLS_SECRET_MAX];

	memset(of_client, 0xc1, sizeof(of_client));
	memset(of_server, 0x5e, sizeof(of_server));
	memset(pair, 0, sizeof(*pair));
	pair->record13 = record13_new();
	assert_non_null(pair->record13);
	pair->client = parked_of(suite, false, of_server, of_client);
	pair->server = parked_of(suite, true, of_client, of_server);
}

static inline void pair_close(struct pair *pair)
{
	record13_forget(pair->record13, &pair->client);
	record13_forget(pair->record13, &pair->server);
	record13_free(pair->record13);
}

static inline struct tls_parked *other(struct pair *pair, const struct tls_parked *end)
{
	return end == &pair->client ? &pair->server : &pair->client;
}

/* The record with this inner plaintext: content, type and padding as given. Its length. */
static inline size_t craft(struct pair *pair, struct tls_parked *from, const uint8_t *inner,
			   size_t len, uint8_t *record)
{
	struct record13_direction *write = &pair->record13->write;
	uint8_t nonce[AEAD_NONCE_BYTES];
	size_t sealed_len = len + AEAD_TAG_BYTES;

	assert_true(record13_direction_key(write, record13_suite_find(from->suite),
					   from->write_secret));
	memcpy(record, (uint8_t[]){23, 3, 3, (uint8_t)(sealed_len >> 8), (uint8_t)sealed_len}, 5);
	if (len)
		memcpy(record + RECORD_HEADER_BYTES, inner, len);
	record13_nonce(write, from->write_seq++, nonce);
	assert_true(aead_seal(write->aead, nonce, record, RECORD_HEADER_BYTES,
			      record + RECORD_HEADER_BYTES, len));
	return RECORD_HEADER_BYTES + sealed_len;
}

/* What `end` makes of these bytes. */
static inline int take(struct pair *pair, struct tls_parked *end, const uint8_t *bytes, size_t len)
{
	struct outcome *last = &pair->last;
	struct tls_io io = {
		.in = bytes, .in_len = len, .out = last->out, .out_size = sizeof(last->out)};

	last->rc = record13_decrypt(pair->record13, end, &io, last->plain, sizeof(last->plain),
				    &last->len);
	last->in_left = io.in_len;
	last->out_len = io.out_len;
	return last->rc;
}

static inline int take_crafted(struct pair *pair, struct tls_parked *end, const uint8_t *inner,
			       size_t len)
{
	uint8_t record[RECORD_CIPHER_MAX + 64];

	return take(pair, end, record, craft(pair, other(pair, end), inner, len, record));
}

/* A record of this content, taken. */
static inline int take_content(struct pair *pair, struct tls_parked *end, enum content_type type,
			       const void *content, size_t len)
{
	uint8_t inner[TLS_RECORD_PLAIN_MAX + 1];

	memcpy(inner, content, len);
	inner[len] = (uint8_t)type;
	return take_crafted(pair, end, inner, len + 1);
}

static inline int send_data(struct pair *pair, struct tls_parked *from, const void *data,
			    size_t len, size_t window)
{
	struct outcome *last = &pair->last;
	struct tls_io io = {.out = last->out, .out_size = window};

	last->rc = record13_encrypt(pair->record13, from, &io, data, len, &last->len);
	last->out_len = io.out_len;
	return last->rc;
}

/* `end` just failed: the alert it sent is the expected one, the only thing it said, and the last.
 */
static inline void assert_failed(struct pair *pair, struct tls_parked *end, unsigned alert)
{
	static const uint8_t zeros[TLS_SECRET_MAX];
	char expected[64];
	uint8_t said[64];
	size_t len = pair->last.out_len;

	assert_int_equal(pair->last.rc, -EPROTO);
	assert_int_equal(pair->last.len, 0);
	assert_string_not_equal(record13_reason(pair->record13), "");
	assert_int_equal(len, RECORD_ADDED_BYTES + 2);
	memcpy(said, pair->last.out, len);
	assert_memory_equal(end->read_secret, zeros, sizeof(zeros));
	assert_memory_equal(end->write_secret, zeros, sizeof(zeros));
	assert_int_equal(take(pair, end, said, len), -EPROTO);
	assert_int_equal(pair->last.out_len, 0);

	assert_int_equal(take(pair, other(pair, end), said, len), -EPROTO);
	snprintf(expected, sizeof(expected), "the peer sent alert %u", alert);
	assert_string_equal(record13_reason(pair->record13), expected);
	assert_int_equal(pair->last.out_len, 0);
}

/* Data still passes both ways. */
static inline void assert_alive(struct pair *pair)
{
	struct tls_parked *ends[] = {&pair->client, &pair->server};
	uint8_t record[128];

	for (int i = 0; i < 2; i++) {
		size_t len;

		assert_int_equal(send_data(pair, ends[i], "alive", 5, OUT_BYTES), 0);
		len = pair->last.out_len;
		assert_true(len <= sizeof(record));
		memcpy(record, pair->last.out, len);
		assert_int_equal(take(pair, ends[1 - i], record, len), 0);
		assert_int_equal(pair->last.len, 5);
		assert_memory_equal(pair->last.plain, "alive", 5);
	}
}

static inline void for_each_suite(void (*check)(struct pair *pair))
{
	static const uint16_t suites[] = {0x1301, 0x1302, 0x1303};
	struct pair pair;

	for (size_t i = 0; i < sizeof(suites) / sizeof(*suites); i++) {
		pair_open(&pair, suites[i]);
		check(&pair);
		pair_close(&pair);
	}
}

#endif
