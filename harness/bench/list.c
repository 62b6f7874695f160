// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - `parkbench list`: what there is to combine. */
#include "harness/bench/list.h"

#include <errno.h>
#include <string.h>

#include "harness/bench/measured.h"
#include "harness/bench/names.h"
#include "harness/bench/probe.h"
#include "harness/bench/rundir.h"
#include "harness/common/park.h"
#include "reactors/reactor.h"

static void list_kernel_bytes(FILE *stream, const struct reactor_ops *ops,
			      const struct measured *measured)
{
	double bytes;
	const struct measured_run *run = measured_find(measured, ops->name, &bytes);

	fprintf(stream, "  %-16s kernel bytes an idle connection beyond its socket: %u predicted, ",
		"", ops->kernel_conn_bytes);
	if (!strcmp(ops->name, MEASURED_REFERENCE))
		fprintf(stream, "the others are measured against it\n");
	else if (run)
		fprintf(stream, "%.0f as measured in %s\n", bytes, run->path);
	else
		fprintf(stream, "not measured yet: parkbench run experiments/reactors.cfg\n");
}

static void list_reactors(FILE *stream)
{
	struct measured measured;
	size_t count;
	const struct reactor_ops *const *all = reactor_all(&count);

	/* Out of memory: what was read until then. */
	measured_load(&measured, RUNDIR_LOCAL, RUNDIR_PUBLISHED);
	fprintf(stream, "reactors (how events and bytes arrive):\n");
	for (size_t i = 0; i < count; i++) {
		struct probe probe;

		probe_reactor(all[i]->name, &probe);
		fprintf(stream, "  %-16s %s\n  %-16s Linux %s or later; %s%s\n", all[i]->name,
			all[i]->summary, "", all[i]->kernel_floor,
			probe.available ? "available" : "not available: ", probe.reason);
		list_kernel_bytes(stream, all[i], &measured);
	}
	measured_free(&measured);
}

static void list_tls(FILE *stream, const struct names *names)
{
	fprintf(stream, "\ntls (backends, plug-ins beside the program):\n");
	if (names->count == 0)
		fprintf(stream, "  none built; build them with: make tls\n");
	for (size_t i = 0; i < names->count; i++) {
		struct probe probe;

		probe_tls(names->name[i], &probe);
		fprintf(stream, "  %-16s %s\n", names->name[i],
			probe.available ? probe.summary : "not available");
		fprintf(stream, "  %-16s %s\n", "", probe.available ? probe.version : probe.reason);
	}
}

/* Level deep needs a reactor, a kernel and rights for it: for each that has it, why not. */
static void list_deep(FILE *stream)
{
	size_t count;
	const struct reactor_ops *const *all = reactor_all(&count);

	for (size_t i = 0; i < count; i++) {
		struct probe probe;

		if (!all[i]->deep)
			continue;
		probe_deep(all[i]->name, &probe);
		fprintf(stream, "  %-16s on reactor %s %s%s\n", "", all[i]->name,
			probe.available ? "available" : "not available: ", probe.reason);
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
		fprintf(stream, "  %-16s %s\n", park_levels[level].name,
			park_levels[level].summary);
	list_deep(stream);
}

/* Those that every reactor has. */
static void look_at_park(const char *name, struct probe *probe)
{
	probe->available = strcmp(name, park_levels[PARK_DEEP].name) != 0;
}

int list_print_names(FILE *stream, const char *kind)
{
	struct known_names known;
	const struct {
		const char *kind;
		const struct names *names;
		void (*look)(const char *name, struct probe *probe);
	} kinds[] = {
		{"reactors", &known.reactors, probe_reactor},
		{"tls", &known.tls, probe_tls},
		{"park", &known.park, look_at_park},
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		if (strcmp(kinds[k].kind, kind) != 0)
			continue;
		names_known(&known);
		for (size_t i = 0; i < kinds[k].names->count; i++) {
			struct probe probe;

			kinds[k].look(kinds[k].names->name[i], &probe);
			if (probe.available)
				fprintf(stream, "%s\n", kinds[k].names->name[i]);
		}
		return 0;
	}
	return -EINVAL;
}
