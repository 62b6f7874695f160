// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - short lists of names, and what this build knows. */
#include "harness/bench/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/common/park.h"
#include "harness/core/plugin.h"
#include "reactors/reactor.h"

int names_add(struct names *names, const char *name)
{
	if (names->count == NAMES_MAX || strlen(name) >= NAME_SIZE)
		return -ENOSPC;
	strcpy(names->name[names->count++], name);
	return 0;
}

bool names_have(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->name[i], name))
			return true;
	return false;
}

void names_join(const struct names *names, char *text, size_t size)
{
	size_t used = 0;

	snprintf(text, size, "none");
	for (size_t i = 0; i < names->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
					 names->name[i]);
}

void names_known(struct known_names *known)
{
	const struct reactor_ops *const *reactors;
	char plugins[NAMES_MAX][NAME_SIZE];
	size_t count;
	int found;

	memset(known, 0, sizeof(*known));
	reactors = reactor_all(&count);
	for (size_t i = 0; i < count; i++)
		names_add(&known->reactors, reactors[i]->name);
	found = plugin_list(plugins, NAMES_MAX);
	for (int i = 0; i < found; i++)
		names_add(&known->tls, plugins[i]);
	for (int level = 0; level < PARK_LEVELS; level++)
		names_add(&known->park, park_levels[level].name);
}
