// SPDX-License-Identifier: Apache-2.0
/* harness/common/ - the limit on open files. */
#include "harness/common/limits.h"

#include <sys/resource.h>

uint64_t limits_raise_files(void)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_max;
}
