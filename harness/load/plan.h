/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/load/ - the tuple planner: which source address and port connection
 * number i uses, so that the kernel never has to search for a free port
 * (connect(2) slows by orders of magnitude near exhaustion) and the port range
 * needs no widening. Sources are addresses of 127.0.0.0/8 from 127.1.0.1 on.
 */
#ifndef HARNESS_LOAD_PLAN_H
#define HARNESS_LOAD_PLAN_H

#include <netinet/in.h>
#include <stdint.h>

#define PLAN_FIRST_SOURCE 0x7f010001u /* 127.1.0.1 */
#define PLAN_FIRST_PORT 10000u
#define PLAN_PORTS 50000u /* of each source address */
/* Sources end below 127.255.0.0. */
#define PLAN_CAPACITY ((uint64_t)(0x7fff0000u - PLAN_FIRST_SOURCE) * PLAN_PORTS)

/* The source of connection `index` < PLAN_CAPACITY to `destination`. Its port number is
 * left out of the plan, so that no source is the listener itself. */
void plan_source(const struct sockaddr_in *destination, uint64_t index, struct sockaddr_in *source);

#endif
