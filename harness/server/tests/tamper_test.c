// SPDX-License-Identifier: Apache-2.0
/*
 * harness/server/ - somebody between a TLS client and the server changes one bit of a record that
 * goes to a parked connection: each bit once, on a connection of its own, over real sockets. The
 * client's library must read the right alert, and nothing but that. Source: RFC 8446 sections 5.1,
 * 5.2. What the record layer makes of it in memory, both ways and for every suite:
 * tls_backends/tests/parked_tamper_test.c.
 */
#include "harness/server/tests/fixture.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define REQUEST "GET /5 HTTP/1.1\r\n\r\n"
/* Header, content type and tag. */
#define RECORD_BYTES (sizeof(REQUEST) - 1 + 5 + 1 + 16)
#define LENGTH_MAX 16640u

/* "SSLV3_ALERT_BAD_RECORD_MAC" and "sslv3 alert bad record mac" alike. */
static void assert_reason(const struct client *client, const char *alert)
{
	const char *said = client->live->client_tls->strerror(client->live->client_ctx);
	char reason[256] = "";

	for (size_t i = 0; said[i] && i + 1 < sizeof(reason); i++)
		reason[i] = said[i] == '_' ? ' ' : (char)tolower(said[i]);
	if (!strstr(reason, alert))
		fail_msg("%s, not %s", said, alert);
}

static size_t length_in(const uint8_t *record)
{
	return (size_t)record[3] << 8 | record[4];
}

static const char *alert_for(size_t bit, const uint8_t *record)
{
	if (bit / 8 == 0)
		return "unexpected message";
	return length_in(record) > LENGTH_MAX ? "record overflow" : "bad record mac";
}

/* A record that has become longer is awaited: the rest of it. */
static void put_rest(const struct client *client, const uint8_t *record)
{
	static const uint8_t zeros[LENGTH_MAX];
	size_t have = RECORD_BYTES - 5, len = length_in(record);

	if (len > have && len <= LENGTH_MAX)
		client_put(client, zeros, len - have);
}

static void change_bit(const struct live *live, size_t bit)
{
	uint8_t record[1024], plain[TLS_RECORD_PLAIN_MAX];
	struct client client;
	size_t len = 0;

	client_open(&client, live, false);
	client_get(&client, 5); /* answered: parked */
	assert_int_equal(client_seal(&client, REQUEST, sizeof(REQUEST) - 1, record, sizeof(record)),
			 RECORD_BYTES);
	record[bit / 8] ^= (uint8_t)(1 << bit % 8);
	client_put(&client, record, RECORD_BYTES);
	put_rest(&client, record);
	assert_int_equal(client_read(&client, plain, sizeof(plain), &len), -EPROTO);
	assert_int_equal(len, 0);
	assert_reason(&client, alert_for(bit, record));
	/* The end, and no reset. */
	assert_int_equal(client.in_len, 0);
	assert_int_equal(recv(client.fd, plain, sizeof(plain), 0), 0);
	client_close(&client);
}

static void each_bit_ends_the_connection(void **state)
{
	const json_int_t bits = 8 * (json_int_t)RECORD_BYTES;
	struct live live;
	struct client witness;

	live_start(&live, *state);
	client_open(&witness, &live, false);
	for (json_int_t bit = 0; bit < bits; bit++)
		change_bit(&live, (size_t)bit);
	live_wait(&live, "open", 1);
	/* It was the record layer of level keys that found them. */
	assert_int_equal(live_kept(&live), 0);
	assert_int_equal(live_failures(&live, "a record that is not encrypted"), 8);
	/* Of the bits of the length one makes it too long, one too short for a tag. */
	assert_int_equal(live_failures(&live, "a record too long"), 1);
	assert_int_equal(live_failures(&live, "a record shorter than its tag"), 1);
	assert_int_equal(live_failures(&live, "a record that is not authentic"), bits - 10);
	assert_int_equal(live_failures(&live, NULL), bits);
	client_get(&witness, 100);
	client_close(&witness);
	live_stop(&live);
}

int main(void)
{
	static const char *const reactors[] = {"epoll", "io_uring", NULL};
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_bit_ends_the_connection)};

	return for_each_subject("server, tampered with", tests, 1, reactors);
}
