/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/measure/ - what a run's manifest.json says about the machine.
 * Source: proc(5), uname(2), getrlimit(2), os-release(5), dpkg-query(1), git(1).
 *
 * Whatever this system doesn't have is null, never left out and never guessed:
 * two manifests always have the same keys.
 *
 *  date                  UTC, ISO 8601
 *  kernel                sysname release version machine (no host name)
 *  distribution          PRETTY_NAME of os-release
 *  compiler              what compiled this program
 *  cpu                   model, online, allowed (of this process), hypervisor (boolean)
 *  memory                total_bytes, swap_bytes
 *  load_average          over 1, 5 and 15 minutes, at the call
 *  clocksource, transparent_hugepage
 *  cgroup_mode           "v1" "v2" "hybrid" "none"
 *  sysctls               by name; a number, or a string where it is several.
 *                        net.* are those of the caller's network namespace
 *  rlimits               nofile nproc stack memlock, of this process:
 *                        {soft, hard}, each a number or "unlimited"; bytes for
 *                        stack and memlock
 *  packages              the version of each package asked for
 *  git                   commit, dirty (untracked files count, results/ does not),
 *                        reason (unless null: why the other two are)
 */
#ifndef HARNESS_MEASURE_HOST_FACTS_H
#define HARNESS_MEASURE_HOST_FACTS_H

#include <jansson.h>

#include "harness/measure/cgroup.h"

/* Borrowed for the length of the call. */
struct host_facts_query {
	const char *proc_root;       /* "/proc" */
	const char *sys_root;        /* "/sys" */
	const char *os_release;      /* "/etc/os-release" */
	struct cgroup_roots cgroup;  /* CGROUP_SYSTEM_ROOTS */
	const char *git_dir;         /* a directory of the checkout */
	const char *const *packages; /* names for dpkg-query, NULL at the end */
};

/* The paths of a real system, "." for git_dir and no packages: set the last two. */
extern const struct host_facts_query host_facts_system;

/*
 * Sets the keys above in the object `manifest`; others stay. Runs git and
 * dpkg-query, so it takes some tens of milliseconds: not while measuring.
 * Returns 0, or -ENOMEM (also for a string that is not UTF-8).
 */
int host_facts_fill(json_t *manifest, const struct host_facts_query *query);

#endif
