/* SPDX-License-Identifier: Apache-2.0 */
/* harness/common/ - response bodies: what the server sends and the load generator
 * compares byte for byte. */
#ifndef HARNESS_COMMON_BODY_H
#define HARNESS_COMMON_BODY_H

#include <stddef.h>
#include <stdint.h>

#define BODY_GREETING "Hello, world\n"
#define BODY_GREETING_BYTES (sizeof(BODY_GREETING) - 1)

/* The longest body there is, of `/N`. */
#define BODY_BYTES_MAX (1u << 20)

/* Bytes [offset, offset + len) of the body of `/N`: the alphabet over and over. */
void body_fill(uint8_t *buf, size_t offset, size_t len);
/* 0 when bytes[0..len) is that part of the body; else the first wrong index + 1. */
size_t body_differs(const uint8_t *bytes, size_t offset, size_t len);

#endif
