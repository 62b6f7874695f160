/* SPDX-License-Identifier: Apache-2.0 */
/* reactors/tests/ - segments and sockets as a peer's kernel does not make them on request. All
 * need CAP_NET_ADMIN; what goes wrong fails the test. */
#ifndef REACTORS_TESTS_INJECT_H
#define REACTORS_TESTS_INJECT_H

#include <stddef.h>
#include <stdint.h>

enum { INJECT_SYN = 0x02, INJECT_RST = 0x04, INJECT_ACK = 0x10 };

/* A segment of the connection of `fd`, as if by its end: `distance` bytes from what it will
 * send next, with `len` bytes of zeroes. */
void inject_segment(int fd, uint8_t flags, int32_t distance, size_t len);
/* Keep-alive probes of fd: after so many seconds of silence, dead after so many without an
 * answer. */
void inject_keep_alive(int fd, int seconds, int probes);
/* Ends *fd without a packet, sets it to -1; a socket on its way to the same peer from the same
 * port. */
int inject_rebirth(int *fd);

#endif
