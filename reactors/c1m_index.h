/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - c1m: which parked connection a packet belongs to. One index a process, since
 * the kernel may hand the packet to any of its loops: a hash table, cut into parts with a
 * lock each, of chains that run through the records. 2 to 4 bytes a record beside it.
 *
 * Any thread, unless said otherwise.
 */
#ifndef REACTORS_C1M_INDEX_H
#define REACTORS_C1M_INDEX_H

#include <stdint.h>

#include "reactors/c1m_tcp.h"

#define C1M_NOBODY UINT32_MAX
#define C1M_SPACES 255
#define C1M_SPACE_SLOTS (1u << 24)

/* A record by its loop's space and its slot. */
static inline uint32_t c1m_handle(uint32_t space, uint32_t slot)
{
	return space << 24 | slot;
}

static inline uint32_t c1m_handle_space(uint32_t handle)
{
	return handle >> 24;
}

static inline uint32_t c1m_handle_slot(uint32_t handle)
{
	return handle & (C1M_SPACE_SLOTS - 1);
}

/* A loop's records, indexed by slot, become known, and the number of the queue that it reads.
 * The space, or -ENFILE (all in use), -ENOMEM. */
int c1m_index_open(struct c1m_record *records, uint16_t queue);
/* None of its records is in the index any more. */
void c1m_index_close(uint32_t space);
uint16_t c1m_index_queue(uint32_t space);

/* By the record's own loop. While it is in the index its tuple and `next` stay as they are. */
void c1m_index_insert(uint32_t handle);
void c1m_index_remove(uint32_t handle);
/*
 * The record of that tuple, or C1M_NOBODY after absent(arg), which is called under the lock:
 * no record of the tuple is inserted until it returns.
 */
uint32_t c1m_index_find(const struct c1m_tuple *tuple, void (*absent)(void *arg), void *arg);

#endif
