// SPDX-License-Identifier: Apache-2.0
/* harness/common/ - "ADDRESS:PORT" on a command line. */
#include "harness/common/address.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_port(const char *text)
{
	char *end;
	long port = strtol(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && port > 0 && port <= 65535;
}

int address_parse(const char *text, struct sockaddr_storage *address, socklen_t *len)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	const char *colon = strrchr(text, ':');
	struct addrinfo *found;
	char host[64];
	int size;

	if (!colon || !is_port(colon + 1))
		return -EINVAL;
	size = *text == '[' && colon > text && colon[-1] == ']'
		       ? snprintf(host, sizeof(host), "%.*s", (int)(colon - text - 2), text + 1)
		       : snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	if (size <= 0 || (size_t)size >= sizeof(host) ||
	    getaddrinfo(host, colon + 1, &hints, &found))
		return -EINVAL;
	memcpy(address, found->ai_addr, found->ai_addrlen);
	*len = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}
