// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - `parkbench doctor`. */
#include "harness/bench/doctor.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/capacity.h"
#include "harness/bench/doctor_system.h"
#include "harness/bench/probe.h"
#include "harness/common/options.h"
#include "harness/core/plugin.h"
#include "harness/measure/command.h"
#include "reactors/reactor.h"

/* C10K, when no experiment says otherwise. */
#define CONNECTIONS 10000
#define IN_FLIGHT 64

static void check_capacity(struct doctor *doctor, const struct capacity_ask *ask,
			   const struct net_settings *settings)
{
	struct capacity capacity;
	struct capacity_rows rows;

	capacity_read(&capacity, "/proc");
	capacity.somaxconn = net_settings_after(settings, "net.core.somaxconn");
	capacity_check(&rows, &capacity, ask);
	for (size_t i = 0; i < rows.count; i++) {
		const struct capacity_row *row = &rows.row[i];

		doctor_row(doctor, row->what, row->now, row->need, row->ok, "%s", row->fix);
	}
}

static void check_programs(struct doctor *doctor)
{
	static const char *const programs[] = {"parkbench-server", "parkbench-load"};
	static char *const gnuplot[] = {"gnuplot", "--version", NULL};
	char path[PATH_MAX], version[64] = "";
	bool there;

	for (size_t i = 0; i < 2; i++) {
		there = !beside_executable(path, sizeof(path), programs[i]) && !access(path, X_OK);
		doctor_row(doctor, programs[i], there ? "built" : "missing", "beside parkbench",
			   there, "make");
	}
	there = command_capture(gnuplot, false, version, sizeof(version)) == 0;
	version[strcspn(version, "\n")] = '\0';
	doctor_row(doctor, "gnuplot", there ? "there" : "missing",
		   there ? version : "for the plots", there, "sudo apt-get install gnuplot-nox");
}

static void check_reactors(struct doctor *doctor, const struct names *reactors)
{
	struct probe probe;

	for (size_t i = 0; i < reactors->count; i++)
		if (!strncmp(reactors->name[i], "io_uring", strlen("io_uring"))) {
			doctor_check_io_uring(doctor);
			break;
		}
	for (size_t i = 0; i < reactors->count; i++) {
		probe_reactor(reactors->name[i], &probe);
		doctor_row(doctor, "reactor", reactors->name[i], probe.available ? "runs here" : "",
			   probe.available, "its cells will be skipped: %s", probe.reason);
	}
}

static void check_tls(struct doctor *doctor, const struct names *tls)
{
	struct probe probe;

	for (size_t i = 0; i < tls->count; i++) {
		probe_tls(tls->name[i], &probe);
		doctor_row(doctor, "tls", tls->name[i], probe.version, probe.available,
			   "its cells will be skipped: %s", probe.reason);
	}
	if (tls->count == 0)
		doctor_row(doctor, "tls", "none", "at least one backend", false, "make tls");
}

static bool any_has_threads(const struct names *reactors)
{
	bool threads = false;

	for (size_t i = 0; i < reactors->count; i++) {
		const struct reactor_ops *ops = reactor_find(reactors->name[i]);

		threads |= ops && ops->caps & REACTOR_CAP_THREADS;
	}
	return threads;
}

bool doctor_print(FILE *stream, const struct experiment *exp)
{
	struct doctor doctor = {.stream = stream, .well = true};
	struct capacity_ask ask = {.connections = CONNECTIONS,
				   .in_flight = IN_FLIGHT,
				   .clients = 1,
				   .cpus = option_cpus()};
	struct net_settings settings;
	struct known_names known;
	struct names tls;

	names_known(&known);
	if (exp) {
		known.reactors = exp->reactors;
		capacity_ask_most(&ask, exp);
	}
	tls = exp ? exp->tls : known.tls;
	if (exp && !names_have(&tls, exp->client_tls))
		names_add(&tls, exp->client_tls);
	ask.thread_per_connection = any_has_threads(&known.reactors);
	fprintf(stream, "for %u connections%s%s:\n\n", ask.connections, exp ? ", experiment " : "",
		exp ? exp->name : "");
	fprintf(stream, "%-6s  %-29s  %-14s  %s\n", "", "what", "is", "needed");
	doctor_check_network(&doctor, &settings);
	check_capacity(&doctor, &ask, &settings);
	doctor_check_memory_groups(&doctor);
	check_programs(&doctor);
	check_reactors(&doctor, &known.reactors);
	check_tls(&doctor, &tls);
	fprintf(stream, "\n%s\n", doctor.well ? "all is well" : "something is NOT OK, see above");
	return doctor.well;
}
