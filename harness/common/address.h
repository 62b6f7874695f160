/* SPDX-License-Identifier: Apache-2.0 */
/* harness/common/ - "ADDRESS:PORT" on a command line: numeric, IPv4 or [IPv6]. */
#ifndef HARNESS_COMMON_ADDRESS_H
#define HARNESS_COMMON_ADDRESS_H

#include <sys/socket.h>

/* 0, or -EINVAL. */
int address_parse(const char *text, struct sockaddr_storage *address, socklen_t *len);

#endif
