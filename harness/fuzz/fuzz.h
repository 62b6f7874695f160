/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/fuzz/ - what the fuzz targets share. A target is one file: it takes an input apart into
 * choices and bytes, drives the product with them, and ends the process where a promise is broken.
 * Its seeds stand beside it; `make check` replays them, `make fuzz` starts from them. What a fuzzer
 * finds becomes a seed of a readable name. Source: https://llvm.org/docs/LibFuzzer.html
 */
#ifndef HARNESS_FUZZ_FUZZ_H
#define HARNESS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The entry of libFuzzer, which owns its name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Tells each seed of the target to `emit`; a name is fit for a file. */
typedef void fuzz_emit(const char *name, const uint8_t *data, size_t size);
void fuzz_seeds(fuzz_emit *emit);

/* An input being taken apart; beyond its end there are zeros. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t fuzz_byte(struct fuzz_input *input)
{
	if (!input->left)
		return 0;
	input->left--;
	return *input->at++;
}

static inline uint16_t fuzz_word(struct fuzz_input *input)
{
	uint8_t high = fuzz_byte(input);

	return (uint16_t)(high << 8 | fuzz_byte(input));
}

/* At most *len bytes; *len says how many there are. */
static inline const uint8_t *fuzz_bytes(struct fuzz_input *input, size_t *len)
{
	const uint8_t *bytes = input->at;

	if (*len > input->left)
		*len = input->left;
	input->at += *len;
	input->left -= *len;
	return bytes;
}

/* Says what was promised and ends the process so that a fuzzer takes notice. */
_Noreturn void fuzz_fail(const char *file, int line, const char *promise);

#define FUZZ_CHECK(promise) ((promise) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #promise))

/* A seed being made. */
#define FUZZ_SEED_MAX 12000u

struct fuzz_seed {
	size_t len;
	uint8_t bytes[FUZZ_SEED_MAX];
};

static inline void fuzz_put(struct fuzz_seed *seed, uint8_t byte)
{
	FUZZ_CHECK(seed->len < FUZZ_SEED_MAX);
	seed->bytes[seed->len++] = byte;
}

static inline void fuzz_put_word(struct fuzz_seed *seed, size_t word)
{
	fuzz_put(seed, (uint8_t)(word >> 8));
	fuzz_put(seed, (uint8_t)word);
}

static inline void fuzz_put_bytes(struct fuzz_seed *seed, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fuzz_put(seed, ((const uint8_t *)bytes)[i]);
}

#endif
