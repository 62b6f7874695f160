// SPDX-License-Identifier: Apache-2.0
/* harness/server/ - HTTP/1.1 of one connection. */
#include "harness/server/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/common/body.h"

/* ---- requests ---- */

static bool queue_answer(struct http *http, struct http_answer answer)
{
	if (http->head == http->count)
		http->head = http->count = 0;
	if (http->count == http->capacity) {
		uint32_t capacity = http->capacity ? 2 * http->capacity : 4;
		struct http_answer *grown = realloc(http->answers, capacity * sizeof(*grown));

		if (!grown)
			return false;
		http->answers = grown;
		http->capacity = capacity;
	}
	http->answers[http->count++] = answer;
	return true;
}

/* An answer after which nothing of this connection is trusted or wanted any more. */
static int refuse(struct http *http, uint16_t status)
{
	http->refused = true;
	http->in_message = false;
	return queue_answer(http, (struct http_answer){.status = status,
						       .close = true,
						       .head = http->parser.method == HTTP_HEAD})
		       ? 0
		       : -ENOMEM;
}

static bool path_is(const struct http *http, const char *path)
{
	return http->path_len == strlen(path) && !memcmp(http->path, path, http->path_len);
}

/* The N of `/N`, or -1 when the path is no such number or N is too large. */
static int64_t path_number(const struct http *http)
{
	int64_t n = 0;

	if (http->path_len < 2 || http->path[0] != '/')
		return -1;
	for (unsigned i = 1; i < http->path_len; i++) {
		if (http->path[i] < '0' || http->path[i] > '9')
			return -1;
		n = n * 10 + (http->path[i] - '0');
		if (n > BODY_BYTES_MAX)
			return -1;
	}
	return n;
}

static struct http_answer route(const struct http *http)
{
	int64_t number = path_number(http);

	if (http->path_overflow)
		return (struct http_answer){.status = 404};
	if (path_is(http, "/") || path_is(http, "/healthz"))
		return (struct http_answer){
			.status = 200, .length = BODY_GREETING_BYTES, .greeting = true};
	if (number >= 0)
		return (struct http_answer){.status = 200, .length = (uint32_t)number};
	return (struct http_answer){.status = 404};
}

static int on_message_begin(http_parser *parser)
{
	struct http *http = parser->data;

	http->in_message = true;
	http->in_query = false;
	http->path_overflow = false;
	http->path_len = 0;
	return 0;
}

static int on_url(http_parser *parser, const char *at, size_t len)
{
	struct http *http = parser->data;

	for (size_t i = 0; i < len && !http->in_query; i++) {
		if (at[i] == '?' || at[i] == '#')
			http->in_query = true;
		else if (http->path_len == HTTP_PATH_BYTES)
			http->path_overflow = true;
		else
			http->path[http->path_len++] = at[i];
	}
	return 0;
}

/* A method we do not serve is refused here: its body may be endless. */
static int on_headers_complete(http_parser *parser)
{
	parser->upgrade = 0; /* an offer that we do not take */
	if (parser->method == HTTP_GET || parser->method == HTTP_HEAD)
		return 0;
	refuse(parser->data, 405);
	return -1;
}

static int on_message_complete(http_parser *parser)
{
	struct http *http = parser->data;
	struct http_answer answer = route(http);

	http->in_message = false;
	http->requests++;
	answer.head = parser->method == HTTP_HEAD;
	answer.close = !http_should_keep_alive(parser);
	if (answer.close)
		http->refused = true;
	if (!queue_answer(http, answer) || answer.close)
		http_parser_pause(parser, 1);
	return 0;
}

static const http_parser_settings settings = {
	.on_message_begin = on_message_begin,
	.on_url = on_url,
	.on_headers_complete = on_headers_complete,
	.on_message_complete = on_message_complete,
};

void http_init(void)
{
	http_parser_set_max_header_size(HTTP_HEADER_MAX);
}

struct http *http_new(void)
{
	struct http *http = calloc(1, sizeof(*http));

	if (!http)
		return NULL;
	http_parser_init(&http->parser, HTTP_REQUEST);
	http->parser.data = http;
	return http;
}

void http_free(struct http *http)
{
	if (http)
		free(http->answers);
	free(http);
}

int http_input(struct http *http, const uint8_t *bytes, size_t len)
{
	enum http_errno error;

	if (http->refused)
		return 0;
	http_parser_execute(&http->parser, &settings, (const char *)bytes, len);
	error = HTTP_PARSER_ERRNO(&http->parser);
	if (http->refused)
		return 0;
	if (error == HPE_PAUSED)
		return -ENOMEM;
	if (error == HPE_OK)
		return 0;
	return refuse(http, error == HPE_HEADER_OVERFLOW ? 431 : 400);
}

/* ---- responses ---- */

static const char *status_text(unsigned status)
{
	switch (status) {
	case 200:
		return "OK";
	case 400:
		return "Bad Request";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	default:
		return "Request Header Fields Too Large";
	}
}

/* RFC 9110 section 6.6.1; made once a second. Per thread: workers share nothing. */
static const char *date_line(void)
{
	static __thread char line[40];
	static __thread time_t made;
	time_t now = time(NULL);
	struct tm tm;

	if (now != made) {
		made = now;
		gmtime_r(&now, &tm);
		strftime(line, sizeof(line), "%a, %d %b %Y %H:%M:%S GMT", &tm);
	}
	return line;
}

static size_t write_header(const struct http_answer *answer, uint8_t *buf, size_t size)
{
	int len =
		snprintf((char *)buf, size,
			 "HTTP/1.1 %u %s\r\nServer: parkbench\r\nDate: %s\r\n%s"
			 "Content-Type: text/plain\r\nContent-Length: %u\r\nConnection: %s\r\n\r\n",
			 answer->status, status_text(answer->status), date_line(),
			 answer->status == 405 ? "Allow: GET, HEAD\r\n" : "", answer->length,
			 answer->close ? "close" : "keep-alive");

	return (size_t)len;
}

static void write_body(const struct http_answer *answer, uint8_t *buf, size_t offset, size_t len)
{
	if (answer->greeting)
		memcpy(buf, BODY_GREETING + offset, len);
	else
		body_fill(buf, offset, len);
}

/* Room that a header certainly fits in. */
#define HEADER_ROOM 320

/* One answer as far as it fits; true when it is complete. */
static bool write_answer(struct http *http, uint8_t *buf, size_t size, size_t *len)
{
	const struct http_answer *answer = &http->answers[http->head];
	uint32_t body = answer->head ? 0 : answer->length;
	size_t part;

	if (!http->header_sent) {
		if (size - *len < HEADER_ROOM)
			return false;
		*len += write_header(answer, buf + *len, size - *len);
		http->header_sent = true;
	}
	part = body - http->body_sent;
	if (part > size - *len)
		part = size - *len;
	write_body(answer, buf + *len, http->body_sent, part);
	http->body_sent += (uint32_t)part;
	*len += part;
	return http->body_sent == body;
}

size_t http_output(struct http *http, uint8_t *buf, size_t size)
{
	size_t len = 0;

	while (http->head < http->count && write_answer(http, buf, size, &len)) {
		http->head++;
		http->responses++;
		http->header_sent = false;
		http->body_sent = 0;
	}
	return len;
}

bool http_busy(const struct http *http)
{
	return http->in_message || http->head < http->count;
}

bool http_finished(const struct http *http)
{
	return http->refused && http->head == http->count;
}
