/* SPDX-License-Identifier: Apache-2.0 */
/* harness/common/ - park levels: what an idle connection keeps. */
#ifndef HARNESS_COMMON_PARK_H
#define HARNESS_COMMON_PARK_H

enum park_level {
	PARK_HOLD, /* everything, as allocated; a 16 KiB read buffer is kept */
	PARK_SHED, /* the session object, its buffers released */
	PARK_KEYS, /* no session object: its traffic secrets and sequence numbers */
	PARK_DEEP, /* as keys, and no socket: its TCP state (reactor c1m) */
	PARK_LEVELS,
};

struct park_info {
	const char *name;
	const char *summary;
};

/* Indexed by level. */
extern const struct park_info park_levels[PARK_LEVELS];

/* The level of that name, or -EINVAL. */
int park_find(const char *name);

#endif
