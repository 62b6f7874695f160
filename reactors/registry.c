// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - the list of engines, filled by their constructors before main
 * starts: the only list there is, so that adding a file adds an engine.
 */
#include "reactors/reactor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct reactor_ops *engines[REACTOR_MAX];
static size_t engine_count;

/* There is no caller to return an error to before main: say it and abort. */
static _Noreturn void refuse(const struct reactor_ops *ops, const char *why)
{
	fprintf(stderr, "reactor '%s': %s\n", ops->name, why);
	abort();
}

void reactor_register(const struct reactor_ops *ops)
{
	size_t at = 0;

	if (engine_count == REACTOR_MAX)
		refuse(ops, "too many engines; raise REACTOR_MAX in reactors/reactor.h");
	while (at < engine_count && strcmp(engines[at]->name, ops->name) < 0)
		at++;
	if (at < engine_count && strcmp(engines[at]->name, ops->name) == 0)
		refuse(ops, "two files in reactors/ register this name; rename one");
	memmove(&engines[at + 1], &engines[at], (engine_count - at) * sizeof(engines[0]));
	engines[at] = ops;
	engine_count++;
}

const struct reactor_ops *reactor_find(const char *name)
{
	for (size_t i = 0; i < engine_count; i++)
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	return NULL;
}

const struct reactor_ops *const *reactor_all(size_t *count)
{
	*count = engine_count;
	return engines;
}
