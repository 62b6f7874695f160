// SPDX-License-Identifier: Apache-2.0
/*
 * harness/fuzz/ - harness/server/http.c: a stream of requests in pieces, answers taken in windows,
 * must give the bytes that it gives whole.
 *
 * An input is a count, that many choices (0: all in one piece), and the stream. A choice is a
 * piece of 1 + its low 7 bits; its highest bit says whether answers are taken after it.
 */
#include "harness/fuzz/fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/server/http.h"

/* The server reads no more than that before it asks for output. */
#define STREAM_MAX 16384u
/* Answers beyond are not asked for: a short stream may ask for gigabytes. */
#define ANSWERS_MAX (128u << 10)
#define WINDOW_MIN 512u
#define WINDOW_MAX 32768u

/* Linked in place of the library's: answers are compared, their dates must not differ. */
time_t __wrap_time(time_t *now);
time_t __wrap_time(time_t *now)
{
	(void)now;
	return 784111777; /* the date that RFC 9110 has for an example */
}

struct answers {
	size_t len;
	bool full; /* no more was asked for */
	bool finished, busy;
	uint64_t requests, responses;
	uint8_t bytes[ANSWERS_MAX + WINDOW_MAX];
};

static void take_answers(struct http *http, struct answers *answers, size_t window)
{
	while (answers->len < ANSWERS_MAX) {
		uint8_t *exact = malloc(window);
		size_t len = http_output(http, exact, window);

		FUZZ_CHECK(len <= window);
		memcpy(answers->bytes + answers->len, exact, len);
		answers->len += len;
		free(exact);
		if (!len)
			return;
	}
	answers->full = true;
}

/* Of a header that is too long and then wrong the parser sees first the one or the other, by the
 * pieces. Either is refused, and here the answer shall not tell which. */
static void blur_refusal(struct http *http)
{
	if (http->refused && http->answers[http->count - 1].status == 431)
		http->answers[http->count - 1].status = 400;
}

static void give(struct http *http, const uint8_t *bytes, size_t len)
{
	uint8_t *exact = malloc(len);

	memcpy(exact, bytes, len);
	FUZZ_CHECK(!http_input(http, exact, len));
	free(exact);
	blur_refusal(http);
	FUZZ_CHECK(http->head <= http->count && http->count <= http->capacity);
	FUZZ_CHECK(http->path_len <= HTTP_PATH_BYTES);
}

/* Takes the rest of the answers, and the connection's end. */
static void finish(struct http *http, struct answers *answers, size_t window)
{
	take_answers(http, answers, window);
	answers->finished = http_finished(http);
	answers->busy = http_busy(http);
	answers->requests = http->requests;
	answers->responses = http->responses;
	http_free(http);
}

static void answer_whole(const uint8_t *stream, size_t len, struct answers *answers)
{
	struct http *http = http_new();

	answers->len = 0;
	answers->full = false;
	if (len)
		give(http, stream, len);
	finish(http, answers, WINDOW_MAX);
}

static void answer_pieces(const uint8_t *choices, size_t count, const uint8_t *stream, size_t len,
			  struct answers *answers)
{
	struct http *http = http_new();
	size_t window = WINDOW_MIN;

	answers->len = 0;
	answers->full = false;
	for (size_t i = 0; len; i++) {
		uint8_t choice = choices[i % count];
		size_t piece = 1 + (choice & 0x7f);

		if (piece > len)
			piece = len;
		give(http, stream, piece);
		stream += piece;
		len -= piece;
		window = WINDOW_MIN + 61u * choice;
		if (choice & 0x80)
			take_answers(http, answers, window);
	}
	finish(http, answers, window);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct answers whole, pieces;
	struct fuzz_input input = {.at = data, .left = size};
	size_t count = fuzz_byte(&input), common;
	const uint8_t *choices = fuzz_bytes(&input, &count);

	http_init();
	if (input.left > STREAM_MAX)
		return 0;
	answer_whole(input.at, input.left, &whole);
	if (!count)
		return 0;
	answer_pieces(choices, count, input.at, input.left, &pieces);
	common = whole.len < pieces.len ? whole.len : pieces.len;
	FUZZ_CHECK(!memcmp(whole.bytes, pieces.bytes, common));
	if (whole.full || pieces.full)
		return 0;
	FUZZ_CHECK(whole.len == pieces.len);
	FUZZ_CHECK(whole.finished == pieces.finished && whole.busy == pieces.busy);
	FUZZ_CHECK(whole.requests == pieces.requests && whole.responses == pieces.responses);
	return 0;
}

/* ---- seeds ---- */

static const struct {
	const char *name;
	const char *stream;
} streams[] = {
	{"greeting", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
	{"pipeline", "GET /26?q=1 HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n"},
	{"long_bodies",
	 "GET /100000 HTTP/1.1\r\n\r\nGET /1048577 HTTP/1.1\r\n\r\nGET /1048576 HTTP/1.1\r\n\r\n"},
	{"number_that_is_none", "GET /1x HTTP/1.1\r\n\r\nGET /-1 HTTP/1.1\r\n\r\n"},
	{"long_path", "GET /00000000000000000000000000000000000000000001 HTTP/1.1\r\n\r\nGET /5 "
		      "HTTP/1.1\r\n\r\n"},
	{"garbage", "\x16\x03\x01\x02garbage\r\n\r\n"},
	{"post", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\nxx"},
	{"get_with_a_body",
	 "GET / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbodyGET /5 HTTP/1.1\r\n\r\n"},
	{"chunked",
	 "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: x\r\n\r\n"},
	{"head", "HEAD /1000 HTTP/1.1\r\nHost: a\r\n\r\nHEAD\x01"},
	{"close", "GET / HTTP/1.1\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\n\r\n"},
	{"http_1_0", "GET / HTTP/1.0\r\n\r\n"},
	{"kept_http_1_0",
	 "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n\r\n\r\nGET /1 HTTP/1.0\r\n\r\n"},
	{"upgrade",
	 "GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nGET /5 HTTP/1.1\r\n\r\n"},
	{"half", "GET / HT"},
	{"connect", "CONNECT a:443 HTTP/1.1\r\n\r\n"},
};

static void emit_stream(fuzz_emit *emit, const char *name, const char *stream, const void *choices,
			size_t count)
{
	struct fuzz_seed seed = {0};

	fuzz_put(&seed, (uint8_t)count);
	fuzz_put_bytes(&seed, choices, count);
	fuzz_put_bytes(&seed, stream, strlen(stream));
	emit(name, seed.bytes, seed.len);
}

/* A header too long; `then` comes behind it. */
static void emit_long_header(fuzz_emit *emit, const char *name, const char *then)
{
	char stream[HTTP_HEADER_MAX + 1024] = "GET / HTTP/1.1\r\nA: ";
	size_t len = strlen(stream);

	memset(stream + len, 'a', HTTP_HEADER_MAX + 500);
	strcpy(stream + len + HTTP_HEADER_MAX + 500, then);
	emit_stream(emit, name, stream, "\x7f\xff", 2);
}

void fuzz_seeds(fuzz_emit *emit)
{
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
		emit_stream(emit, streams[i].name, streams[i].stream, "\x80\0\5\x84", 4);
	emit_long_header(emit, "long_header", "\r\n\r\n");
	emit_long_header(emit, "long_header_then_wrong", "\x01\r\n\r\n");
}
