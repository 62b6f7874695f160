// SPDX-License-Identifier: Apache-2.0
/* harness/server/ - HTTP of one connection: requests in, the exact responses out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/common/body.h"
#include "harness/server/http.h"

#define OUT_BYTES (2u << 20)

struct fixture {
	struct http *http;
	uint8_t *out;
	size_t len;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	http_init();
	f->http = http_new();
	f->out = malloc(OUT_BYTES);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	http_free(f->http);
	free(f->out);
	free(f);
	return 0;
}

static void take_output(struct fixture *f, size_t window)
{
	size_t n;

	while ((n = http_output(f->http, f->out + f->len, window)))
		f->len += n;
	f->out[f->len] = '\0';
}

static void ask(struct fixture *f, const char *text)
{
	assert_int_equal(http_input(f->http, (const uint8_t *)text, strlen(text)), 0);
	take_output(f, 4096);
}

static unsigned status(const struct fixture *f)
{
	assert_true(f->len > 12);
	return (unsigned)atoi((const char *)f->out + 9);
}

static const char *body(const struct fixture *f)
{
	const char *end = strstr((const char *)f->out, "\r\n\r\n");

	assert_non_null(end);
	return end + 4;
}

static void greets(void **state)
{
	struct fixture *f = *state;

	ask(f, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(status(f), 200);
	assert_string_equal(body(f), BODY_GREETING);
	assert_non_null(strstr((char *)f->out, "Content-Length: 13\r\n"));
	assert_non_null(strstr((char *)f->out, "Connection: keep-alive\r\n"));
	assert_false(http_busy(f->http));
	assert_false(http_finished(f->http));
}

static void any_split_gives_the_same_answer(void **state)
{
	static const char text[] =
		"GET /26?q=1 HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		assert_int_equal(http_input(f->http, (const uint8_t *)text + i, 1), 0);
	take_output(f, 512);
	assert_memory_equal(body(f), "abcdefghijklmnopqrstuvwxyz", 26);
	assert_int_equal(f->http->requests, 2);
	assert_int_equal(f->http->responses, 2);
}

static void serves_bodies_up_to_a_mebibyte(void **state)
{
	struct fixture *f = *state;

	ask(f, "GET /1048576 HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(status(f), 200);
	assert_int_equal(f->len - (size_t)(body(f) - (char *)f->out), 1048576);
	assert_int_equal(body_differs((const uint8_t *)body(f), 0, 1048576), 0);
}

static void unknown_paths_are_404(void **state)
{
	static const char *const paths[] = {"/1048577",
					    "/x",
					    "/1x",
					    "//",
					    "/-1",
					    "*",
					    "/00000000000000000000000000000000000000000001"};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char text[160];

		f->len = 0;
		snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", paths[i]);
		ask(f, text);
		if (status(f) != 404)
			fail_msg("%s: %u", paths[i], status(f));
		assert_false(http_finished(f->http));
	}
}

static void garbage_is_400_and_the_end(void **state)
{
	struct fixture *f = *state;

	ask(f, "\x16\x03\x01\x02garbage\r\n\r\n");
	assert_int_equal(status(f), 400);
	assert_non_null(strstr((char *)f->out, "Connection: close\r\n"));
	assert_true(http_finished(f->http));
}

static void other_methods_are_405_before_their_body(void **state)
{
	struct fixture *f = *state;

	ask(f, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\nxx");
	assert_int_equal(status(f), 405);
	assert_non_null(strstr((char *)f->out, "Allow: GET, HEAD\r\n"));
	assert_true(http_finished(f->http));
}

static void long_headers_are_431(void **state)
{
	struct fixture *f = *state;
	char line[1024];

	ask(f, "GET / HTTP/1.1\r\nHost: a\r\n");
	snprintf(line, sizeof(line), "A: %0*d\r\n", (int)sizeof(line) - 6, 0);
	for (int i = 0; i < 16; i++)
		ask(f, line);
	assert_int_equal(status(f), 431);
	assert_true(http_finished(f->http));
}

static void head_has_a_length_and_no_body(void **state)
{
	struct fixture *f = *state;

	ask(f, "HEAD /1000 HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(status(f), 200);
	assert_non_null(strstr((char *)f->out, "Content-Length: 1000\r\n"));
	assert_string_equal(body(f), "");
}

static void close_is_honoured(void **state)
{
	struct fixture *f = *state;

	ask(f, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\n\r\n");
	assert_non_null(strstr((char *)f->out, "Connection: close\r\n"));
	assert_int_equal(f->http->responses, 1);
	assert_true(http_finished(f->http));
}

static void http_1_0_closes(void **state)
{
	struct fixture *f = *state;

	ask(f, "GET / HTTP/1.0\r\n\r\n");
	assert_int_equal(status(f), 200);
	assert_true(http_finished(f->http));
}

static void an_upgrade_is_not_taken(void **state)
{
	struct fixture *f = *state;

	ask(f, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
	assert_int_equal(status(f), 200);
	f->len = 0;
	ask(f, "GET /5 HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_string_equal(body(f), "abcde");
}

static void half_a_request_is_busy(void **state)
{
	struct fixture *f = *state;

	assert_false(http_busy(f->http));
	ask(f, "GET / HT");
	assert_true(http_busy(f->http));
	assert_int_equal(f->len, 0);
}

static void a_deep_pipeline_is_answered_in_order(void **state)
{
	struct fixture *f = *state;
	const char *at;

	for (int i = 1; i <= 300; i++) {
		char text[64];

		snprintf(text, sizeof(text), "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", i);
		assert_int_equal(http_input(f->http, (const uint8_t *)text, strlen(text)), 0);
	}
	take_output(f, 700);
	at = (const char *)f->out;
	for (int i = 1; i <= 300; i++) {
		char length[40];

		snprintf(length, sizeof(length), "Content-Length: %d\r\n", i);
		at = strstr(at, "Content-Length: ");
		assert_non_null(at);
		assert_memory_equal(at, length, strlen(length));
		at += strlen(length);
	}
}

#define HTTP_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HTTP_TEST(greets),
		HTTP_TEST(any_split_gives_the_same_answer),
		HTTP_TEST(serves_bodies_up_to_a_mebibyte),
		HTTP_TEST(unknown_paths_are_404),
		HTTP_TEST(garbage_is_400_and_the_end),
		HTTP_TEST(other_methods_are_405_before_their_body),
		HTTP_TEST(long_headers_are_431),
		HTTP_TEST(head_has_a_length_and_no_body),
		HTTP_TEST(close_is_honoured),
		HTTP_TEST(http_1_0_closes),
		HTTP_TEST(an_upgrade_is_not_taken),
		HTTP_TEST(half_a_request_is_busy),
		HTTP_TEST(a_deep_pipeline_is_answered_in_order),
	};

	return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
