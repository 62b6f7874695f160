/* SPDX-License-Identifier: Apache-2.0 */
/* harness/load/ - the crypto floor: the same handshake in memory, without a socket. What
 * a ramp costs beyond it is the kernel and our own code. */
#ifndef HARNESS_LOAD_FLOOR_H
#define HARNESS_LOAD_FLOOR_H

#include <stddef.h>

#include "tls_backends/tls_backend.h"

/* Median CPU microseconds of a handshake, each side apart; the freeing of the
 * sessions, which a ramp does not do either, is not in it. */
struct floor_result {
	double server_us;
	double client_us;
};

/* Measures `handshakes` of them in the calling thread. 0, or a negative errno with
 * the reason. */
int floor_measure(const struct tls_ops *server, const struct tls_ops *client, enum park_level park,
		  unsigned handshakes, struct floor_result *result, char *reason,
		  size_t reason_size);

#endif
