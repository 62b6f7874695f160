// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - the check of a response: what is right passes, every wrong has its cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/load/response.h"

/* Feeds `text` in pieces of `piece` bytes; the cause of failure, NULL, or "incomplete". */
static const char *verdict(const char *path, const char *text, size_t piece)
{
	static struct response response;
	struct request request;
	size_t len = strlen(text);

	assert_int_equal(request_init(&request, path), 0);
	response_init(&response, &request);
	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;

		if (response_input(&response, (const uint8_t *)text + at, n)) {
			if (!response.wrong && at + n < len)
				return "over too early";
			return response.wrong;
		}
	}
	return "incomplete";
}

static void right_answers_pass_in_any_pieces(void **state)
{
	static const char greeting[] =
		"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world\n";
	static const char letters[] = "HTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\n"
				      "abcdefghijklmnopqrstuvwxyzab";

	(void)state;
	for (size_t piece = 1; piece < sizeof(letters); piece++) {
		assert_null(verdict("/", greeting, piece));
		assert_null(verdict("/28", letters, piece));
	}
}

static void an_empty_body_is_right(void **state)
{
	(void)state;
	assert_null(verdict("/0", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 1000));
}

static void wrong_answers_have_a_cause(void **state)
{
	static const struct {
		const char *path, *text, *cause;
	} cases[] = {
		{"/", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "HTTP 404"},
		{"/", "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World\n", "wrong body"},
		{"/3", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabd", "wrong body"},
		{"/3", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd", "body too long"},
		{"/3", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "body too short"},
		{"/3", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP",
		 "bytes after the response"},
		{"/3", "SSH-2.0-x\r\n", "not HTTP"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *cause = verdict(cases[i].path, cases[i].text, 1000);

		assert_non_null(cause);
		assert_string_equal(cause, cases[i].cause);
	}
}

static void half_an_answer_is_incomplete(void **state)
{
	(void)state;
	assert_string_equal(verdict("/3", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", 1000),
			    "incomplete");
}

static void odd_paths_are_refused(void **state)
{
	static const char *const paths[] = {"", "x", "/x", "/1x", "/-1", "//"};
	struct request request;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_not_equal(request_init(&request, paths[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_answers_pass_in_any_pieces),
		cmocka_unit_test(an_empty_body_is_right),
		cmocka_unit_test(wrong_answers_have_a_cause),
		cmocka_unit_test(half_an_answer_is_incomplete),
		cmocka_unit_test(odd_paths_are_refused),
	};

	return cmocka_run_group_tests_name("response", tests, NULL, NULL);
}
