// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - trimming: what a thread's own cache pins is given back as well. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/core/trim.h"

#define SIZES 64
#define PER_SIZE 7
#define LARGE_BYTES 16384

static long resident_kib(void)
{
	long size, resident = 0;
	FILE *statm = fopen("/proc/self/statm", "r");

	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%ld %ld", &size, &resident), 2);
	fclose(statm);
	return resident * sysconf(_SC_PAGESIZE) / 1024;
}

/* Small chunks, each between large ones: in the cache they split what is free. */
static void *leave_small_chunks_cached(void *arg)
{
	static void *small[SIZES * PER_SIZE], *large[SIZES * PER_SIZE];
	long *grown_kib = arg, before = resident_kib();

	for (int i = 0; i < SIZES * PER_SIZE; i++) {
		small[i] = malloc((size_t)(24 + 16 * (i % SIZES)));
		large[i] = malloc(LARGE_BYTES);
		memset(large[i], 1, LARGE_BYTES);
	}
	for (int i = 0; i < SIZES * PER_SIZE; i++) {
		free(large[i]);
		free(small[i]);
	}
	trim_memory();
	*grown_kib = resident_kib() - before;
	return NULL;
}

/* 448 chunks in pages of their own would be 1,792 KiB. */
static void a_threads_cache_pins_nothing(void **state)
{
	pthread_t thread;
	long grown_kib;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* another allocator */
#endif
	assert_int_equal(pthread_create(&thread, NULL, leave_small_chunks_cached, &grown_kib), 0);
	pthread_join(thread, NULL);
	assert_true(grown_kib < 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_threads_cache_pins_nothing),
	};

	return cmocka_run_group_tests_name("trim", tests, NULL, NULL);
}
