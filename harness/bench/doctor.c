// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - `parkbench doctor`. */
#include "harness/bench/doctor.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/capacity.h"
#include "harness/bench/netns.h"
#include "harness/bench/probe.h"
#include "harness/core/plugin.h"
#include "harness/measure/command.h"
#include "harness/measure/kernel_memory.h"
#include "reactors/reactor.h"

#define MIB 1048576
/* C10K, when no experiment says otherwise. */
#define CONNECTIONS 10000
#define IN_FLIGHT 64

struct doctor {
	FILE *stream;
	bool well;
	struct names reactors;
	struct names tls;
	unsigned connections;
	unsigned in_flight;
};

/* One line, and below it, where something is wrong, what to do. */
__attribute__((format(printf, 6, 7))) static void row(struct doctor *doctor, const char *what,
						      const char *now, const char *need, bool ok,
						      const char *fix, ...)
{
	va_list args;

	fprintf(doctor->stream, "%-6s  %-24s  %-14s  %s\n", ok ? "ok" : "NOT OK", what, now, need);
	if (ok)
		return;
	doctor->well = false;
	fprintf(doctor->stream, "        -> ");
	va_start(args, fix);
	vfprintf(doctor->stream, fix, args);
	va_end(args);
	fprintf(doctor->stream, "\n");
}

/* A setting of the kernel that must be so high; not known (-1) is not wrong. */
static void row_sysctl(struct doctor *doctor, const char *sysctl, int64_t now, int64_t need)
{
	char now_text[32] = "unknown", need_text[32] = "-";

	if (now >= 0)
		snprintf(now_text, sizeof(now_text), "%" PRId64, now);
	if (need > 0)
		snprintf(need_text, sizeof(need_text), "%" PRId64, need);
	row(doctor, sysctl, now_text, need_text, now < 0 || now >= need,
	    "sudo sysctl -w %s=%" PRId64, sysctl, need);
}

static void check_capacity(struct doctor *doctor, bool threads)
{
	struct capacity_needs needs;
	struct capacity capacity;
	char now[64], need[64];

	capacity_read(&capacity);
	capacity_needs(&needs, doctor->connections, doctor->in_flight, threads);
	snprintf(now, sizeof(now), "%" PRId64, capacity.nofile_soft);
	row(doctor, "files a process, soft", now, "any: parkbench raises it to the hard limit",
	    true, " ");
	snprintf(now, sizeof(now), "%" PRId64, capacity.nofile_hard);
	snprintf(need, sizeof(need), "%" PRId64, needs.files_per_process);
	row(doctor, "files a process, hard", now, need,
	    capacity.nofile_hard >= needs.files_per_process,
	    "sudo prlimit --pid $$ --nofile=%" PRId64
	    " (this shell), or a nofile line in /etc/security/limits.conf",
	    needs.files_per_process);
	row_sysctl(doctor, "fs.nr_open", capacity.nr_open, needs.files_per_process);
	row_sysctl(doctor, "fs.file-max", capacity.file_max, needs.files);
	row_sysctl(doctor, "kernel.pid_max", capacity.pid_max, needs.threads);
	row_sysctl(doctor, "kernel.threads-max", capacity.threads_max, needs.threads);
	row_sysctl(doctor, "vm.max_map_count", capacity.max_map_count, needs.maps);
	row_sysctl(doctor, "net.core.somaxconn", capacity.somaxconn, needs.backlog);
	snprintf(now, sizeof(now), "%" PRId64 " MiB", capacity.memory_available_bytes / MIB);
	snprintf(need, sizeof(need), "%" PRId64 " MiB at most, roughly", needs.memory_bytes / MIB);
	row(doctor, "memory available", now, need,
	    capacity.memory_available_bytes < 0 ||
		    capacity.memory_available_bytes >= needs.memory_bytes,
	    "end other programs, or run fewer connections: --connections N");
}

static void check_network(struct doctor *doctor)
{
	char reason[512];
	bool private = !netns_probe(reason, sizeof(reason));

	row(doctor, "private network", private ? "yes" : "no", "yes", private, "%s", reason);
	/* Cells have a network of their own, so this one disturbs only servers that
	 * are started by hand. */
	row(doctor, "127.0.0.1:8443", netns_port_answers(INADDR_LOOPBACK, 8443) ? "taken" : "free",
	    "free for a server started by hand; cells do not mind", true, " ");
}

static void check_kernel_meter(struct doctor *doctor)
{
	struct kernel_meter meter;
	char name[64];
	bool per_group;

	snprintf(name, sizeof(name), "parkbench-%d-doctor", (int)getpid());
	if (kernel_meter_open(&meter, &kernel_system_roots, name))
		return;
	per_group = meter.method >= KERNEL_METHOD_MEMCG_V1;
	row(doctor, "kernel memory by", kernel_method_name(meter.method), "memcg-v1 or memcg-v2",
	    per_group,
	    "kernel bytes a connection will be missing: %s; run as root: sudo parkbench ..., or "
	    "in a group that is yours: systemd-run --user --scope -p Delegate=yes parkbench ...",
	    meter.reason);
	kernel_meter_close(&meter);
}

static void check_programs(struct doctor *doctor)
{
	static const char *const programs[] = {"parkbench-server", "parkbench-load"};
	static char *const gnuplot[] = {"gnuplot", "--version", NULL};
	char path[PATH_MAX], version[64] = "";
	bool there;

	for (size_t i = 0; i < 2; i++) {
		there = !beside_executable(path, sizeof(path), programs[i]) && !access(path, X_OK);
		row(doctor, programs[i], there ? "built" : "missing", "beside parkbench", there,
		    "make");
	}
	there = command_capture(gnuplot, false, version, sizeof(version)) == 0;
	version[strcspn(version, "\n")] = '\0';
	row(doctor, "gnuplot", there ? "there" : "missing", there ? version : "for the plots",
	    there, "sudo apt-get install gnuplot-nox");
}

static void check_variants(struct doctor *doctor)
{
	struct probe probe;

	for (size_t i = 0; i < doctor->reactors.count; i++) {
		probe_reactor(doctor->reactors.name[i], &probe);
		row(doctor, "reactor", doctor->reactors.name[i], probe.available ? "runs here" : "",
		    probe.available, "its cells will be skipped: %s", probe.reason);
	}
	for (size_t i = 0; i < doctor->tls.count; i++) {
		probe_tls(doctor->tls.name[i], &probe);
		row(doctor, "tls", doctor->tls.name[i], probe.version, probe.available,
		    "its cells will be skipped: %s", probe.reason);
	}
	if (doctor->tls.count == 0)
		row(doctor, "tls", "none", "at least one backend", false, "make tls");
}

bool doctor_print(FILE *stream, const struct experiment *exp)
{
	struct doctor doctor = {
		.stream = stream,
		.well = true,
		.connections = exp ? choices_most(&exp->dimension[DIM_CONNECTIONS]) : CONNECTIONS,
		.in_flight = exp ? choices_most(&exp->dimension[DIM_IN_FLIGHT]) : IN_FLIGHT,
	};
	struct known_names known;
	bool threads = false;

	names_known(&known);
	doctor.reactors = exp ? exp->reactors : known.reactors;
	doctor.tls = exp ? exp->tls : known.tls;
	if (exp && !names_have(&doctor.tls, exp->client_tls))
		names_add(&doctor.tls, exp->client_tls);
	for (size_t i = 0; i < doctor.reactors.count; i++) {
		const struct reactor_ops *ops = reactor_find(doctor.reactors.name[i]);

		threads |= ops && ops->caps & REACTOR_CAP_THREADS;
	}
	fprintf(stream, "for %u connections%s%s:\n\n", doctor.connections,
		exp ? ", experiment " : "", exp ? exp->name : "");
	fprintf(stream, "%-6s  %-24s  %-14s  %s\n", "", "what", "is", "needed");
	check_capacity(&doctor, threads);
	check_network(&doctor);
	check_kernel_meter(&doctor);
	check_programs(&doctor);
	check_variants(&doctor);
	fprintf(stream, "\n%s\n", doctor.well ? "all is well" : "something is NOT OK, see above");
	return doctor.well;
}
