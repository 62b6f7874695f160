// SPDX-License-Identifier: Apache-2.0
/* harness/common/ - the limit on open files. */
#include "harness/common/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

uint64_t limits_hard_files(void)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_max;
}

int limits_need_files(uint64_t files, char *reason, size_t reason_size)
{
	struct rlimit limit = {0};
	uint64_t need = files + LIMITS_SPARE_FILES;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (need <= limit.rlim_max)
		return 0;
	snprintf(reason, reason_size,
		 "needs %" PRIu64 " open files, the hard limit is %" PRIu64
		 ": raise it with `prlimit "
		 "--pid $$ --nofile=%" PRIu64 "` as root, or ask for fewer connections",
		 need, (uint64_t)limit.rlim_max, need);
	return -EMFILE;
}
