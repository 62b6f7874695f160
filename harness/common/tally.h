/* SPDX-License-Identifier: Apache-2.0 */
/* harness/common/ - failures counted by cause, never a bare total. */
#ifndef HARNESS_COMMON_TALLY_H
#define HARNESS_COMMON_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define TALLY_CAUSES 32
#define TALLY_CAUSE_BYTES 80

/* Causes beyond the last place are counted under "other". Not shared between
 * threads. Zeroed memory is an empty tally. */
struct tally {
	struct tally_entry {
		char cause[TALLY_CAUSE_BYTES];
		uint64_t count;
	} entries[TALLY_CAUSES];
	size_t used;
	uint64_t total;
};

void tally_add(struct tally *tally, const char *cause, uint64_t count);
/* `error`: errno, negative or not; the cause is its name, "ECONNRESET". */
void tally_add_errno(struct tally *tally, int error);
void tally_merge(struct tally *into, const struct tally *from);
/* {"cause": count, …}; the caller owns it. */
json_t *tally_json(const struct tally *tally);
/* The name of an errno, "ECONNRESET"; "errno 999" has no name: "unknown". */
const char *errno_name(int error);

#endif
