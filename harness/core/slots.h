/* SPDX-License-Identifier: Apache-2.0 */
/* harness/core/ - the slot table of one worker: 16 bytes a connection. */
#ifndef HARNESS_CORE_SLOTS_H
#define HARNESS_CORE_SLOTS_H

#include <stdint.h>

#include "reactors/reactor.h"

#define SLOT_NONE UINT32_MAX

/* The table is one reserved mapping that never moves; only slots that were ever
 * in use have memory behind them. Free slots are chained through `active`. */
struct slots {
	struct reactor_slot *table;
	uint32_t max;
	uint32_t top;  /* slots at and above were never used */
	uint32_t free; /* head of the chain, or SLOT_NONE */
	uint32_t in_use;
};

/* 0, or -ENOMEM. */
int slots_init(struct slots *slots, uint32_t max);
void slots_fini(struct slots *slots);
/* Takes a slot for `fd` under a new generation; SLOT_NONE when all are in use. */
uint32_t slots_take(struct slots *slots, int fd);
void slots_free(struct slots *slots, uint32_t slot);

#endif
