/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/server/ - prefork: each worker a process with its own table of open files. The
 * parent drives its children by the control protocol, each over a socket pair that is their
 * standard input and output, and sums up what they answer. A child ends when its parent does,
 * however that ends. Source: fork(2), prctl(2) PR_SET_PDEATHSIG, socketpair(2).
 */
#ifndef HARNESS_SERVER_PREFORK_H
#define HARNESS_SERVER_PREFORK_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "harness/server/server.h"

struct prefork;

/* Forks config->sizing.workers children and waits until all are ready. Before the caller has
 * any threads. 0, or a negative errno with the reason; then none is left. */
int prefork_start(struct prefork **prefork, const struct server_config *config,
		  struct tls_identity *identity, char *reason, size_t reason_size);
/* The sum of what the children count. */
json_t *prefork_stats(struct prefork *prefork);
/* True when a child has ended; the reason says how. */
bool prefork_failed(struct prefork *prefork, char *reason, size_t reason_size);
/* Stops the children within `grace_s` seconds and a little, and frees. */
void prefork_stop(struct prefork *prefork, unsigned grace_s);

#endif
