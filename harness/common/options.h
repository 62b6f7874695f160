/* SPDX-License-Identifier: Apache-2.0 */
/* harness/common/ - what the command lines of the programs share. For main files: bad
 * values end the program with status 2 and a message that names the good ones. */
#ifndef HARNESS_COMMON_OPTIONS_H
#define HARNESS_COMMON_OPTIONS_H

#include <argp.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/common/park.h"
#include "harness/common/sizing.h"
#include "reactors/reactor.h"

#define PARKBENCH_VERSION "0.1"
/* Deadlines are kept in 16 bits of seconds: nine hours. */
#define OPTION_SECONDS_MAX 32000
/* Each takes some six milliseconds, rests included: ten minutes. */
#define OPTION_WAKES_MAX 100000

/*
 * Handshakes that a worker has under way at once unless told otherwise. It bounds what a storm of
 * new connections takes (some 50 KB each with OpenSSL: 13 MB a worker), and is wide enough not to
 * slow one down: with 0.1 s from end to end and back, 256 at a time are 2,560 a second, which is
 * about what one CPU can compute.
 */
#define OPTION_HANDSHAKES_MAX 256

/* A whole number within [min, max]. */
unsigned option_number(const struct argp_state *state, const char *option, const char *text,
		       unsigned min, unsigned max);
uint64_t option_bytes(const struct argp_state *state, const char *option, const char *text);
const struct reactor_ops *option_reactor(const char *name);
enum park_level option_park(const char *name);
enum worker_model option_worker_model(const struct argp_state *state, const char *name);
/* CPUs that this process may run on, at least 1. */
unsigned option_cpus(void);

#endif
