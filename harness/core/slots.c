// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - the slot table of one worker. */
#include "harness/core/slots.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t table_bytes(uint32_t max)
{
	return (size_t)max * sizeof(struct reactor_slot);
}

int slots_init(struct slots *slots, uint32_t max)
{
	void *table = mmap(NULL, table_bytes(max), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (table == MAP_FAILED)
		return -ENOMEM;
	*slots = (struct slots){.table = table, .max = max, .free = SLOT_NONE};
	return 0;
}

void slots_fini(struct slots *slots)
{
	if (slots->table)
		munmap(slots->table, table_bytes(slots->max));
	slots->table = NULL;
}

uint32_t slots_take(struct slots *slots, int fd)
{
	uint32_t slot = slots->free;
	struct reactor_slot *s;

	if (slot != SLOT_NONE)
		slots->free = (uint32_t)(uintptr_t)slots->table[slot].active;
	else if (slots->top < slots->max)
		slot = slots->top++;
	else
		return SLOT_NONE;
	s = &slots->table[slot];
	/* A slot whose memory was given back has forgotten its own. */
	if (!s->generation)
		s->generation = slots->first_generation;
	s->active = NULL;
	s->fd = fd;
	s->generation++;
	s->deadline = 0;
	slots->in_use++;
	return slot;
}

void slots_free(struct slots *slots, uint32_t slot)
{
	struct reactor_slot *s = &slots->table[slot];

	s->active = (void *)(uintptr_t)slots->free;
	s->fd = REACTOR_FD_FREE;
	s->deadline = 0;
	slots->free = slot;
	slots->in_use--;
	slots->freed = true;
}

/* The slots below the new end are chained anew, the lowest first. */
static void lower_end(struct slots *slots)
{
	while (slots->top && slots->table[slots->top - 1].fd == REACTOR_FD_FREE) {
		const struct reactor_slot *s = &slots->table[--slots->top];

		if (s->generation > slots->first_generation)
			slots->first_generation = s->generation;
	}
	slots->free = SLOT_NONE;
	for (uint32_t slot = slots->top; slot-- > 0;) {
		struct reactor_slot *s = &slots->table[slot];

		if (s->fd != REACTOR_FD_FREE)
			continue;
		s->active = (void *)(uintptr_t)slots->free;
		slots->free = slot;
	}
}

void slots_give_back(struct slots *slots)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t old_end = (size_t)slots->top * sizeof(*slots->table), end;

	if (!slots->freed)
		return;
	slots->freed = false;
	lower_end(slots);
	end = ((size_t)slots->top * sizeof(*slots->table) + page - 1) / page * page;
	if (end < old_end)
		madvise((char *)slots->table + end, old_end - end, MADV_DONTNEED);
}
