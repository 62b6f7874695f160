// SPDX-License-Identifier: Apache-2.0
/* harness/fuzz/ - the end of a run that found something. */
#include "harness/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

void fuzz_fail(const char *file, int line, const char *promise)
{
	fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, promise);
	abort();
}
