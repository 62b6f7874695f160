/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/server/ - HTTP/1.1 of one connection: requests in, responses out. Knows
 * nothing of sockets or TLS. Source: RFC 9110, RFC 9112; parsing by http-parser.
 *
 * Paths: `/` a greeting of 13 bytes, `/N` a body of N bytes up to 1 MiB,
 * `/healthz`. 400, 404, 405, 431 as a client expects them.
 */
#ifndef HARNESS_SERVER_HTTP_H
#define HARNESS_SERVER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <http_parser.h>

#define HTTP_HEADER_MAX 8192u
#define HTTP_PATH_BYTES 32

/* One response that waits to be sent, or is being sent. */
struct http_answer {
	uint16_t status;
	bool head;       /* the body's length is told, its bytes are not sent */
	bool close;      /* the last on this connection */
	bool greeting;   /* the body is the greeting, not the alphabet */
	uint32_t length; /* of the body */
};

/* Exists from the first byte of a request until all is answered. The queue of
 * answers is bounded by its caller, who asks for output before it gives the next
 * 16 KiB of input: at most 16384 / 18 of them. */
struct http {
	http_parser parser;
	char path[HTTP_PATH_BYTES]; /* cut off at the query; too long: not found */
	uint8_t path_len;
	bool path_overflow;
	bool in_query;
	bool in_message;      /* a request has begun and is not complete */
	bool refused;         /* no more input is looked at */
	bool header_sent;     /* of answers[head] */
	uint32_t body_sent;   /* of answers[head] */
	uint32_t head, count; /* answers[head..count) wait */
	uint32_t capacity;
	struct http_answer *answers;
	uint64_t requests; /* since http_new */
	uint64_t responses;
};

/* Once in the process, before the first connection. */
void http_init(void);
/* NULL: out of memory. */
struct http *http_new(void);
void http_free(struct http *http);
/* Takes all of bytes[0..len). 0, or -ENOMEM. */
int http_input(struct http *http, const uint8_t *bytes, size_t len);
/* The next bytes to send into buf[0..size), size >= 512; how many, 0: none. */
size_t http_output(struct http *http, uint8_t *buf, size_t size);
/* A request or an answer is under way. */
bool http_busy(const struct http *http);
/* All was said and the connection is to end. */
bool http_finished(const struct http *http);

#endif
