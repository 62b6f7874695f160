// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - `parkbench list`: what there is to combine. */
#include "harness/bench/list.h"

#include "harness/bench/names.h"
#include "harness/bench/probe.h"
#include "harness/common/park.h"
#include "reactors/reactor.h"

static void list_reactors(FILE *stream)
{
	size_t count;
	const struct reactor_ops *const *all = reactor_all(&count);

	fprintf(stream, "reactors (how events and bytes arrive):\n");
	for (size_t i = 0; i < count; i++) {
		struct probe probe;

		probe_reactor(all[i]->name, &probe);
		fprintf(stream, "  %-14s %s\n  %-14s Linux %s or later; %s%s\n", all[i]->name,
			all[i]->summary, "", all[i]->kernel_floor,
			probe.available ? "available" : "not available: ", probe.reason);
	}
}

static void list_tls(FILE *stream, const struct names *names)
{
	fprintf(stream, "\ntls (backends, plug-ins beside the program):\n");
	if (names->count == 0)
		fprintf(stream, "  none built; build them with: make tls\n");
	for (size_t i = 0; i < names->count; i++) {
		struct probe probe;

		probe_tls(names->name[i], &probe);
		fprintf(stream, "  %-14s %s\n", names->name[i],
			probe.available ? probe.summary : "not available");
		fprintf(stream, "  %-14s %s\n", "", probe.available ? probe.version : probe.reason);
	}
}

void list_print(FILE *stream)
{
	struct known_names known;

	names_known(&known);
	list_reactors(stream);
	list_tls(stream, &known.tls);
	fprintf(stream, "\npark (what an idle connection keeps):\n");
	for (int level = 0; level < PARK_LEVELS; level++)
		fprintf(stream, "  %-14s %s\n", park_levels[level].name,
			park_levels[level].summary);
}
