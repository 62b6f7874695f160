/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - gates: what a cell must meet, and when its figures do not count.
 * Each reads the result so far and may change its verdict; the first verdict
 * stands. `failures` is what the load reported, {"cause":n, ...}, or NULL.
 */
#ifndef HARNESS_BENCH_GATES_H
#define HARNESS_BENCH_GATES_H

#include <jansson.h>

#include "harness/bench/experiment.h"
#include "harness/bench/result.h"

/* All connections established, and over TLS 1.3 unless the cell is plain. */
void gates_after_ramp(struct result *result, const char *tls_protocol, const json_t *failures);
/* Nothing dropped while idle. */
void gates_after_hold(struct result *result, const json_t *failures);
/* No session kept that should have been dissolved: such a cell measures another level. */
void gates_after_parking(struct result *result);
/* Every response 200 with the right body; index from 0. */
void gates_after_round(struct result *result, int index, const json_t *failures);
void gates_after_history(struct result *result, const json_t *failures);
/* Every connection has changed its keys so many times, and the server with it. */
void gates_after_key_updates(struct result *result, unsigned cycles, const json_t *failures);
/* Every wake brought its response, and, at level deep, a socket: `restored` is how many the server
 * has made meanwhile, NAN at other levels. */
void gates_after_wakes(struct result *result, unsigned count, double restored,
		       const json_t *failures);
/* Every response 200 with the right body, and there were some; index as in result->active. */
void gates_after_active(struct result *result, int index, const json_t *failures);
/* Validity (listen counters, the client as the bottleneck), then the limits. */
void gates_at_end(struct result *result, const struct gate_limits *limits);

/* "ECONNRESET 2, status 500 1"; "cause unknown" when there is none. */
void gates_failures_text(const json_t *failures, char *text, size_t size);

#endif
