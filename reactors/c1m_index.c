// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - c1m: the index of parked connections by 4-tuple.
 * build-pkg: libmnl
 */
#include "reactors/c1m_index.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { PARTS = 64, FIRST_HEADS = 16 };

/* A lock is held for some 100 ns, and its part's growth for as long as it takes to touch the
 * records: a 64th of them. */
struct part {
	pthread_mutex_t lock;
	uint32_t *heads; /* handles; mask + 1 of them */
	uint32_t mask;
	uint32_t count;
};

struct space {
	struct c1m_record *records; /* NULL: not in use */
	uint16_t queue;
};

static struct {
	pthread_mutex_t lock; /* guards opening and closing */
	bool ready;
	uint64_t key[2]; /* peers choose their ports, but not with a chain in mind */
	struct space spaces[C1M_SPACES];
	struct part parts[PARTS];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct c1m_record *record_of(uint32_t handle)
{
	return &all.spaces[c1m_handle_space(handle)].records[c1m_handle_slot(handle)];
}

/* The finalizer of MurmurHash3, keyed before each half of the tuple. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
	return x ^ x >> 33;
}

static uint64_t hash(const struct c1m_tuple *tuple)
{
	uint64_t addrs = (uint64_t)tuple->local_addr << 32 | tuple->peer_addr;
	uint64_t ports = (uint64_t)tuple->local_port << 16 | tuple->peer_port;

	return mix(mix(addrs ^ all.key[0]) + (ports ^ all.key[1]));
}

static struct part *part_of(uint64_t hashed)
{
	return &all.parts[hashed >> 58];
}

_Static_assert(PARTS == 1 << (64 - 58), "part_of takes the upper six bits");

static uint32_t *new_heads(uint32_t count)
{
	uint32_t *heads = malloc(count * sizeof(*heads));

	if (heads)
		memset(heads, 0xff, count * sizeof(*heads)); /* C1M_NOBODY */
	return heads;
}

/* Parts live until the process ends, as do their tables. */
static int make_ready(void)
{
	if (all.ready)
		return 0;
	if (getrandom(all.key, sizeof(all.key), 0) != sizeof(all.key))
		return -errno;
	for (unsigned i = 0; i < PARTS; i++) {
		struct part *part = &all.parts[i];

		if (!part->heads)
			part->heads = new_heads(FIRST_HEADS);
		if (!part->heads)
			return -ENOMEM;
		part->mask = FIRST_HEADS - 1;
		pthread_mutex_init(&part->lock, NULL);
	}
	all.ready = true;
	return 0;
}

int c1m_index_open(struct c1m_record *records, uint16_t queue)
{
	int space = 0, error;

	pthread_mutex_lock(&all.lock);
	error = make_ready();
	while (space < C1M_SPACES && all.spaces[space].records)
		space++;
	if (!error && space == C1M_SPACES)
		error = -ENFILE;
	if (!error)
		all.spaces[space] = (struct space){records, queue};
	pthread_mutex_unlock(&all.lock);
	return error ? error : space;
}

void c1m_index_close(uint32_t space)
{
	pthread_mutex_lock(&all.lock);
	all.spaces[space] = (struct space){0};
	pthread_mutex_unlock(&all.lock);
}

uint16_t c1m_index_queue(uint32_t space)
{
	return all.spaces[space].queue;
}

static void push(uint32_t *heads, uint32_t mask, uint32_t handle)
{
	struct c1m_record *record = record_of(handle);
	uint32_t *head = &heads[hash(&record->tuple) & mask];

	record->next = *head;
	*head = handle;
}

/* From two records a head to one. Without memory for it the chains grow longer. */
static void grow(struct part *part)
{
	uint32_t mask = part->mask * 2 + 1;
	uint32_t *heads = new_heads(mask + 1);

	if (!heads)
		return;
	for (uint32_t i = 0; i <= part->mask; i++) {
		uint32_t next;

		for (uint32_t at = part->heads[i]; at != C1M_NOBODY; at = next) {
			next = record_of(at)->next;
			push(heads, mask, at);
		}
	}
	free(part->heads);
	part->heads = heads;
	part->mask = mask;
}

void c1m_index_insert(uint32_t handle)
{
	struct part *part = part_of(hash(&record_of(handle)->tuple));

	pthread_mutex_lock(&part->lock);
	if (part->count > 2 * part->mask)
		grow(part);
	push(part->heads, part->mask, handle);
	part->count++;
	pthread_mutex_unlock(&part->lock);
}

void c1m_index_remove(uint32_t handle)
{
	struct c1m_record *record = record_of(handle);
	uint64_t hashed = hash(&record->tuple);
	struct part *part = part_of(hashed);
	uint32_t *at;

	pthread_mutex_lock(&part->lock);
	at = &part->heads[hashed & part->mask];
	while (*at != handle)
		at = &record_of(*at)->next;
	*at = record->next;
	part->count--;
	pthread_mutex_unlock(&part->lock);
}

uint32_t c1m_index_find(const struct c1m_tuple *tuple, void (*absent)(void *arg), void *arg)
{
	uint64_t hashed = hash(tuple);
	struct part *part = part_of(hashed);
	uint32_t at;

	pthread_mutex_lock(&part->lock);
	at = part->heads[hashed & part->mask];
	while (at != C1M_NOBODY && memcmp(&record_of(at)->tuple, tuple, sizeof(*tuple)) != 0)
		at = record_of(at)->next;
	if (at == C1M_NOBODY)
		absent(arg);
	pthread_mutex_unlock(&part->lock);
	return at;
}
