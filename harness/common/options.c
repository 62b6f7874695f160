// SPDX-License-Identifier: Apache-2.0
/* harness/common/ - what the command lines of the programs share. */
#include "harness/common/options.h"

#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

unsigned option_number(const struct argp_state *state, const char *option, const char *text,
		       unsigned min, unsigned max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value < min || value > max)
		argp_error(state, "%s \"%s\": a whole number from %u to %u is needed", option, text,
			   min, max);
	return (unsigned)value;
}

uint64_t option_bytes(const struct argp_state *state, const char *option, const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end)
		argp_error(state, "%s \"%s\": a number of bytes is needed", option, text);
	return value;
}

const struct reactor_ops *option_reactor(const char *name)
{
	const struct reactor_ops *found = reactor_find(name);
	const struct reactor_ops *const *all;
	char known[512] = "";
	size_t count, len = 0;

	if (found)
		return found;
	all = reactor_all(&count);
	for (size_t i = 0; i < count && len < sizeof(known); i++)
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s %s", i ? "," : "",
					all[i]->name);
	errx(2, "no reactor \"%s\"; there are:%s", name, known);
}

enum park_level option_park(const char *name)
{
	int level = park_find(name);
	char known[256] = "";
	size_t len = 0;

	if (level >= 0)
		return (enum park_level)level;
	for (int i = 0; i < PARK_LEVELS && len < sizeof(known); i++)
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s %s", i ? "," : "",
					park_levels[i].name);
	errx(2, "no park level \"%s\"; there are:%s", name, known);
}

enum worker_model option_worker_model(const struct argp_state *state, const char *name)
{
	int model = worker_model_find(name);

	if (model < 0)
		argp_error(state,
			   "--worker-model \"%s\": auto, threads, tables or processes is needed",
			   name);
	return (enum worker_model)model;
}

unsigned option_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned)CPU_COUNT(&set);
}
