/* SPDX-License-Identifier: Apache-2.0 */
/* harness/load/ - one response, checked as it arrives: status 200, the right length, the
 * body byte for byte. Source: RFC 9112; parsing by http-parser. */
#ifndef HARNESS_LOAD_RESPONSE_H
#define HARNESS_LOAD_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <http_parser.h>

/* What is asked for on every connection. */
struct request {
	char text[160];
	size_t len;
	size_t body_bytes; /* expected */
	bool greeting;     /* the body of `/`, else that of `/N` */
};

struct response {
	http_parser parser;
	const struct request *request;
	size_t body_bytes; /* so far */
	bool complete;
	const char *wrong; /* NULL: all is well so far; else the cause, static */
	char status_cause[16];
};

/* 0; -EINVAL: the path is neither `/` nor `/N`. */
int request_init(struct request *request, const char *path);
void response_init(struct response *response, const struct request *request);
/* Takes bytes[0..len). True when the response is over: complete, or wrong. */
bool response_input(struct response *response, const uint8_t *bytes, size_t len);

#endif
