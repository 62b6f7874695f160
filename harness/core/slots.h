/* SPDX-License-Identifier: Apache-2.0 */
/* harness/core/ - the slot table of one worker: 16 bytes a connection. */
#ifndef HARNESS_CORE_SLOTS_H
#define HARNESS_CORE_SLOTS_H

#include <stdint.h>

#include "reactors/reactor.h"

#define SLOT_NONE UINT32_MAX

/* The table is one reserved mapping that never moves, so it grows without a copy; only pages
 * of slots that are or were in use have memory behind them. Free slots are chained through
 * `active`. */
struct slots {
	struct reactor_slot *table;
	uint32_t max;
	uint32_t top;  /* slots at and above have no memory */
	uint32_t free; /* head of the chain, or SLOT_NONE */
	uint32_t in_use;
	uint16_t first_generation; /* of slots whose memory was given back */
	bool freed;                /* some were, since slots_give_back last looked */
};

/* 0, or -ENOMEM. */
int slots_init(struct slots *slots, uint32_t max);
void slots_fini(struct slots *slots);
/* Takes a slot for `fd` under a new generation; SLOT_NONE when all are in use. */
uint32_t slots_take(struct slots *slots, int fd);
void slots_free(struct slots *slots, uint32_t slot);
/* Gives the memory behind the free end of the table back to the kernel, and has low slots
 * taken first from now on, so that the end becomes free. O(top). */
void slots_give_back(struct slots *slots);

#endif
