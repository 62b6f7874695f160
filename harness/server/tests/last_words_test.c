// SPDX-License-Identifier: Apache-2.0
/*
 * harness/server/ - what we said last arrives, whatever the peer does behind its own last words: a
 * socket closed with unread input sends a reset, which takes with it all that the peer has not
 * read. Source: RFC 2525 section 2.17, RFC 8446 section 6.1.
 */
#include "harness/server/tests/fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "harness/common/body.h"

/* More than an engine reads at once. */
#define GARBAGE_BYTES (256u << 10)

static const uint8_t garbage[GARBAGE_BYTES];

/* Our close_notify, then the end of the stream and no reset. */
static void expect_goodbye(struct client *client)
{
	static uint8_t plain[TLS_RECORD_PLAIN_MAX];
	size_t len;

	assert_int_equal(client_read(client, plain, sizeof(plain), &len), -EPIPE);
	assert_int_equal(client->in_len, 0);
	assert_int_equal(recv(client->fd, plain, sizeof(plain), 0), 0);
}

/* In one piece, so that the garbage is there when the close_notify is read. */
static void put_goodbye_and_garbage(const struct client *client, const char *request)
{
	static uint8_t flight[4096 + GARBAGE_BYTES];
	size_t len = 0;

	if (request)
		len = client_seal(client, request, strlen(request), flight, 2048);
	len += client_seal_close_notify(client, flight + len, 2048);
	memcpy(flight + len, garbage, GARBAGE_BYTES);
	client_put(client, flight, len + GARBAGE_BYTES);
}

static void after_an_answer(void **state)
{
	struct client client;
	struct live live;

	live_start(&live, *state);
	for (int narrow = 0; narrow < 2; narrow++) {
		client_open(&client, &live, narrow);
		client_get(&client, 5);
		put_goodbye_and_garbage(&client, "GET /65536 HTTP/1.1\r\n\r\n");
		client_expect(&client, 65536);
		expect_goodbye(&client);
		client_close(&client);
	}
	live_wait(&live, "open", 0);
	assert_int_equal(live_failures(&live, NULL), 0);
	live_stop(&live);
}

static void when_parked(void **state)
{
	struct client client;
	struct live live;

	live_start(&live, *state);
	client_open(&client, &live, false);
	client_get(&client, 5);
	put_goodbye_and_garbage(&client, NULL);
	expect_goodbye(&client);
	client_close(&client);
	live_wait(&live, "open", 0);
	assert_int_equal(live_failures(&live, NULL), 0);
	live_stop(&live);
}

/* The answer to the last request leaves, and a peer that asks on is not listened to. */
static void when_we_end(void **state)
{
	static const char request[] = "GET /65536 HTTP/1.1\r\nConnection: close\r\n\r\n";
	static uint8_t flight[4096 + 2 * GARBAGE_BYTES];
	struct client client;
	struct live live;
	size_t len;

	live_start(&live, *state);
	client_open(&client, &live, true);
	client_get(&client, 5);
	len = client_seal(&client, request, strlen(request), flight, 2048);
	len += client_seal(&client, garbage, sizeof(garbage), flight + len, sizeof(flight) - len);
	client_put(&client, flight, len);
	client_expect(&client, 65536);
	expect_goodbye(&client);
	client_close(&client);
	live_wait(&live, "open", 0);
	assert_int_equal(live_failures(&live, NULL), 0);
	live_stop(&live);
}

int main(void)
{
	static const char *const reactors[] = {"epoll", "io_uring", "io_uring_poll", "classic",
					       NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_an_answer),
		cmocka_unit_test(when_parked),
		cmocka_unit_test(when_we_end),
	};

	return for_each_subject("server, last words", tests, sizeof(tests) / sizeof(*tests),
				reactors);
}
