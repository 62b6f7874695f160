// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - what stops a ramp before the machine runs out of memory. */
#include "harness/load/memory_guard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int memory_available(uint64_t *bytes)
{
	FILE *meminfo = fopen("/proc/meminfo", "re");
	char line[128];
	int rc = -ENOENT;

	if (!meminfo)
		return -errno;
	while (rc && fgets(line, sizeof(line), meminfo))
		if (sscanf(line, "MemAvailable: %" SCNu64 " kB", bytes) == 1)
			rc = 0;
	fclose(meminfo);
	*bytes = rc ? 0 : *bytes * 1024;
	return rc;
}
