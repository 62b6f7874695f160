// SPDX-License-Identifier: Apache-2.0
/*
 * harness/fuzz/ - runs a target without a fuzzer: main of <target>_test. Without arguments each
 * seed is a test in TAP; the process ends at the first that fails.
 *	<target>_test FILE...        replays what a fuzzer wrote down
 *	<target>_test --seeds DIR    writes the seeds as files, for a fuzzer to start from
 */
#include "harness/fuzz/fuzz.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned seeds;
static const char *seed_dir;

static void count(const char *name, const uint8_t *data, size_t size)
{
	(void)name, (void)data, (void)size;
	seeds++;
}

/* Where a sanitizer watches, reading beyond a seed is noticed only if it ends where its memory
 * does.
 */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *exact = malloc(size);

	if (size && !exact)
		err(2, "malloc");
	if (size)
		memcpy(exact, data, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

static void replay(const char *name, const uint8_t *data, size_t size)
{
	static unsigned number;

	run(data, size);
	printf("ok %u - %s\n", ++number, name);
	fflush(stdout);
}

static void write_seed(const char *name, const uint8_t *data, size_t size)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", seed_dir, name);
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		err(2, "%s", path);
}

static void replay_file(const char *path)
{
	static uint8_t data[1 << 20];
	FILE *file = fopen(path, "r");
	size_t size;

	if (!file)
		err(2, "%s", path);
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	run(data, size);
	printf("%s: nothing found\n", path);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--seeds")) {
		seed_dir = argv[2];
		fuzz_seeds(write_seed);
		return 0;
	}
	for (int i = 1; i < argc; i++)
		replay_file(argv[i]);
	if (argc > 1)
		return 0;
	fuzz_seeds(count);
	printf("1..%u\n", seeds);
	fuzz_seeds(replay);
	return 0;
}
