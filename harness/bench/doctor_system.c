// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the rows of `parkbench doctor` on the system's ways. Sources:
 * kernel Documentation/admin-guide/sysctl/kernel.rst, proc(5) /proc/pid/status. */
#include "harness/bench/doctor_system.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/capacity.h"
#include "harness/bench/netns.h"
#include "harness/measure/cgroup.h"
#include "harness/measure/kernel_memory.h"
#include "harness/measure/net_counters.h"
#include "harness/measure/text_file.h"

void doctor_row(struct doctor *doctor, const char *what, const char *now, const char *need, bool ok,
		const char *fix, ...)
{
	va_list args;

	fprintf(doctor->stream, "%-6s  %-29s  %-14s  %s\n", ok ? "ok" : "NOT OK", what, now, need);
	if (ok)
		return;
	doctor->well = false;
	fprintf(doctor->stream, "        -> ");
	va_start(args, fix);
	vfprintf(doctor->stream, fix, args);
	va_end(args);
	fprintf(doctor->stream, "\n");
}

static void check_settings(struct doctor *doctor, const struct net_settings *settings)
{
	/* somaxconn has a row among the limits. */
	for (int i = 0; i < NET_SETTINGS; i++)
		if (*settings->before[i] && strcmp(net_setting_names[i], "net.core.somaxconn"))
			doctor_row(doctor, net_setting_names[i], settings->after[i],
				   "set in a cell's own network", true, " ");
}

void doctor_check_network(struct doctor *doctor, struct net_settings *settings)
{
	char reason[512], overflows[32] = "unknown";
	struct net_counters counters;
	bool private = !net_settings_probe(settings, reason, sizeof(reason));

	doctor_row(doctor, "private network", private ? "yes" : "no",
		   "yes: user namespaces, or root", private, "%s", reason);
	check_settings(doctor, settings);
	/* Cells have a network of their own, so these two disturb only servers that are started
	 * by hand. */
	doctor_row(doctor, "127.0.0.1:8443",
		   netns_port_answers(INADDR_LOOPBACK, 8443) ? "taken" : "free",
		   "free for a server started by hand; cells do not mind", true, " ");
	if (!net_counters_read("/proc/self/net", &counters))
		snprintf(overflows, sizeof(overflows), "%" PRIu64, counters.listen_overflows);
	doctor_row(doctor, "ListenOverflows so far", overflows,
		   "any: a cell counts from 0 in its own network", true, " ");
}

void doctor_check_memory_groups(struct doctor *doctor)
{
	struct kernel_meter meter;
	char name[64];
	int mode = cgroup_mode_read(&kernel_system_roots.cgroup);

	doctor_row(doctor, "cgroup mode", mode < 0 ? "unknown" : cgroup_mode_name(mode),
		   "one with the memory controller", true, " ");
	snprintf(name, sizeof(name), "parkbench-%d-doctor", (int)getpid());
	if (kernel_meter_open(&meter, &kernel_system_roots, name))
		return;
	doctor_row(doctor, "kernel memory by", kernel_method_name(meter.method),
		   "memcg-v1 or memcg-v2", meter.method >= KERNEL_METHOD_MEMCG_V1,
		   "kernel bytes a connection will be missing: %s; run as root: sudo parkbench "
		   "..., or in a group that is yours: systemd-run --user --scope -p Delegate=yes "
		   "parkbench ...",
		   meter.reason);
	kernel_meter_close(&meter);
}

/* 0 none, 1 strict, 2 a filter; -1 unknown. */
static long seccomp_mode(void)
{
	char *text = NULL, *line;
	long mode = -1;

	if (text_read("/proc/self/status", &text))
		return -1;
	line = strstr(text, "Seccomp:");
	if (line)
		mode = strtol(line + strlen("Seccomp:"), NULL, 10);
	free(text);
	return mode;
}

void doctor_check_io_uring(struct doctor *doctor)
{
	int64_t disabled = capacity_sysctl("/proc", "kernel.io_uring_disabled");
	long seccomp = seccomp_mode();
	char now[32] = "not there";

	if (disabled >= 0)
		snprintf(now, sizeof(now), "%" PRId64, disabled);
	doctor_row(doctor, "kernel.io_uring_disabled", now, "0 (before Linux 6.6: not there)",
		   disabled <= 0, "sudo sysctl -w kernel.io_uring_disabled=0");
	doctor_row(doctor, "seccomp",
		   seccomp < 0 ? "unknown"
		   : seccomp   ? "filtered"
			       : "none",
		   "any that allows io_uring_setup: see the reactors below", true, " ");
}
