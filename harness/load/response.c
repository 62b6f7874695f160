// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - one response, checked as it arrives. */
#include "harness/load/response.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/common/body.h"

int request_init(struct request *request, const char *path)
{
	char *end;
	int len;

	*request = (struct request){.greeting = !strcmp(path, "/")};
	if (request->greeting) {
		request->body_bytes = BODY_GREETING_BYTES;
	} else {
		request->body_bytes = *path == '/' ? strtoul(path + 1, &end, 10) : 0;
		if (*path != '/' || path[1] < '0' || path[1] > '9' || *end)
			return -EINVAL;
	}
	len = snprintf(request->text, sizeof(request->text),
		       "GET %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: parkbench-load\r\n\r\n",
		       path);
	if (len < 0 || (size_t)len >= sizeof(request->text))
		return -EINVAL;
	request->len = (size_t)len;
	return 0;
}

static int on_status(http_parser *parser, const char *at, size_t len)
{
	struct response *response = parser->data;

	(void)at;
	(void)len;
	if (parser->status_code == 200)
		return 0;
	snprintf(response->status_cause, sizeof(response->status_cause), "HTTP %u",
		 parser->status_code);
	response->wrong = response->status_cause;
	return -1;
}

static int on_body(http_parser *parser, const char *at, size_t len)
{
	struct response *response = parser->data;
	const struct request *request = response->request;

	if (len > request->body_bytes - response->body_bytes)
		response->wrong = "body too long";
	else if (request->greeting
			 ? memcmp(BODY_GREETING + response->body_bytes, at, len) != 0
			 : body_differs((const uint8_t *)at, response->body_bytes, len) != 0)
		response->wrong = "wrong body";
	response->body_bytes += len;
	return response->wrong ? -1 : 0;
}

static int on_message_complete(http_parser *parser)
{
	struct response *response = parser->data;

	response->complete = true;
	if (response->body_bytes != response->request->body_bytes)
		response->wrong = "body too short";
	http_parser_pause(parser, 1);
	return 0;
}

static const http_parser_settings settings = {
	.on_status = on_status,
	.on_body = on_body,
	.on_message_complete = on_message_complete,
};

void response_init(struct response *response, const struct request *request)
{
	memset(response, 0, sizeof(*response));
	http_parser_init(&response->parser, HTTP_RESPONSE);
	response->parser.data = response;
	response->request = request;
}

bool response_input(struct response *response, const uint8_t *bytes, size_t len)
{
	size_t used = http_parser_execute(&response->parser, &settings, (const char *)bytes, len);

	if (response->complete && !response->wrong && used < len)
		response->wrong = "bytes after the response";
	if (!response->complete && !response->wrong &&
	    HTTP_PARSER_ERRNO(&response->parser) != HPE_OK)
		response->wrong = "not HTTP";
	return response->complete || response->wrong;
}
