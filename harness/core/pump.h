/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/core/ - the pump: takes a connection as far as its input and the peer's reading
 * allow, one step after the other: handshake, output of the app, input to the app; then says
 * what the connection waits for. Thread: the worker's upcalls.
 */
#ifndef HARNESS_CORE_PUMP_H
#define HARNESS_CORE_PUMP_H

#include "harness/core/conn.h"

/* Moves what can be moved, with input[0..len) borrowed; what is left of it is kept. No send
 * may be outstanding, and nothing kept. At level keys the connection may have lost its object
 * when this returns. */
void pump(struct worker *worker, struct conn *conn, const uint8_t *input, size_t len);
/* Keeps input behind what is kept already; while output is pending the reactor is stopped
 * from bringing more. */
void pump_spill(struct worker *worker, struct conn *conn, const uint8_t *input, size_t len);

#endif
