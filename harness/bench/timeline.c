// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - what a cell used, over its time. Library: jansson. */
#include "harness/bench/timeline.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

static json_t *whole(double value)
{
	return isnan(value) ? json_null() : json_integer(llround(value));
}

int timeline_write(FILE *stream, const struct timeline_sample *sample)
{
	json_t *line =
		json_pack("{s:f, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "t_s",
			  round(sample->t_s * 1e3) / 1e3, "step", sample->step, "established",
			  whole(sample->established), "handshakes", whole(sample->handshakes),
			  "server_user_bytes", whole(sample->server_user_bytes),
			  "server_kernel_bytes", whole(sample->server_kernel_bytes),
			  "client_user_bytes", whole(sample->client_user_bytes),
			  "client_kernel_bytes", whole(sample->client_kernel_bytes),
			  "memory_available_bytes", whole(sample->memory_available_bytes));
	int ret = 0;

	if (!line)
		return -ENOMEM;
	if (json_dumpf(line, stream, JSON_COMPACT | JSON_REAL_PRECISION(9)) ||
	    fputc('\n', stream) == EOF || fflush(stream))
		ret = -EIO;
	json_decref(line);
	return ret;
}
