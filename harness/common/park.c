// SPDX-License-Identifier: Apache-2.0
/* harness/common/ - the table of park levels. */
#include "harness/common/park.h"

#include <errno.h>
#include <string.h>

const struct park_info park_levels[PARK_LEVELS] = {
	[PARK_HOLD] = {"hold", "the whole session, as allocated, and a 16 KiB read buffer"},
	[PARK_SHED] = {"shed", "the session object with its buffers released, no tickets"},
	[PARK_KEYS] = {"keys",
		       "no session object: 112 bytes of traffic secrets and sequence numbers"},
	[PARK_DEEP] = {"deep", "as keys, and no socket: 48 bytes of TCP state (reactor c1m)"},
};

int park_find(const char *name)
{
	for (int level = 0; level < PARK_LEVELS; level++)
		if (!strcmp(park_levels[level].name, name))
			return level;
	return -EINVAL;
}
