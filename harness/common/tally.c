// SPDX-License-Identifier: Apache-2.0
/* harness/common/ - failures counted by cause. */
#include "harness/common/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tally_entry *tally_entry(struct tally *tally, const char *cause)
{
	struct tally_entry *entry;

	for (size_t i = 0; i < tally->used; i++)
		if (!strncmp(tally->entries[i].cause, cause, TALLY_CAUSE_BYTES - 1))
			return &tally->entries[i];
	if (tally->used == TALLY_CAUSES - 1)
		cause = "other";
	if (tally->used == TALLY_CAUSES)
		return &tally->entries[TALLY_CAUSES - 1];
	entry = &tally->entries[tally->used++];
	snprintf(entry->cause, sizeof(entry->cause), "%s", cause);
	return entry;
}

void tally_add(struct tally *tally, const char *cause, uint64_t count)
{
	tally_entry(tally, cause)->count += count;
	tally->total += count;
}

const char *errno_name(int error)
{
	const char *name = strerrorname_np(abs(error));

	return name ? name : "unknown errno";
}

void tally_add_errno(struct tally *tally, int error)
{
	tally_add(tally, errno_name(error), 1);
}

void tally_merge(struct tally *into, const struct tally *from)
{
	for (size_t i = 0; i < from->used; i++)
		tally_add(into, from->entries[i].cause, from->entries[i].count);
}

json_t *tally_json(const struct tally *tally)
{
	json_t *object = json_object();

	for (size_t i = 0; i < tally->used; i++)
		json_object_set_new(object, tally->entries[i].cause,
				    json_integer((json_int_t)tally->entries[i].count));
	return object;
}
