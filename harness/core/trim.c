// SPDX-License-Identifier: Apache-2.0
/*
 * harness/core/ - giving freed memory back to the kernel.
 *
 * malloc_trim(3) returns whole free pages. It does not see the freed chunks in a
 * thread's own cache (tcache: up to seven of each small size), and after a ramp
 * each of these sits alone in a page of the handshakes' memory: a quarter of a
 * megabyte a worker. Only the end of a thread empties its cache, so all chunks are
 * taken out of this thread's and freed by another one, which ends.
 */
#include "harness/core/trim.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

/* Of glibc's malloc/malloc.c: TCACHE_FILL_COUNT, and the usable sizes of TCACHE_MAX_BINS bins. */
#define CACHED_PER_SIZE 7
#define CACHED_SMALLEST 24
#define CACHED_LARGEST 1032
#define CACHED_STEP 16

struct chunk {
	struct chunk *next;
};

static struct chunk *take_cached(void)
{
	struct chunk *list = NULL;

	for (size_t size = CACHED_SMALLEST; size <= CACHED_LARGEST; size += CACHED_STEP) {
		for (int i = 0; i < CACHED_PER_SIZE; i++) {
			struct chunk *chunk = malloc(size);

			if (!chunk)
				return list;
			chunk->next = list;
			list = chunk;
		}
	}
	return list;
}

static void *free_all(void *arg)
{
	struct chunk *list = arg;

	while (list) {
		struct chunk *chunk = list;

		list = chunk->next;
		free(chunk);
	}
	return NULL;
}

void trim_memory(void)
{
	struct chunk *list = take_cached();
	pthread_t thread;

	if (pthread_create(&thread, NULL, free_all, list))
		free_all(list); /* no thread to be had: trim what can be trimmed */
	else
		pthread_join(thread, NULL);
	malloc_trim(0);
}
