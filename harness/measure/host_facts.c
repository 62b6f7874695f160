// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - what a run's manifest.json says about the machine. Source: proc(5) */
#include "harness/measure/host_facts.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "harness/measure/command.h"
#include "harness/measure/text_file.h"

#define KB_BYTES 1024

const struct host_facts_query host_facts_system = {
	.proc_root = "/proc",
	.sys_root = "/sys",
	.os_release = "/etc/os-release",
	.cgroup = CGROUP_SYSTEM_ROOTS,
	.git_dir = ".",
	.packages = (const char *const[]){NULL},
};

static const char *const sysctls[] = {
	"fs.epoll.max_user_watches",
	"fs.file-max",
	"fs.nr_open",
	"kernel.io_uring_disabled",
	"kernel.pid_max",
	"kernel.threads-max",
	"kernel.unprivileged_userns_clone",
	"net.core.netdev_max_backlog",
	"net.core.rmem_max",
	"net.core.somaxconn",
	"net.core.wmem_max",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_max_orphans",
	"net.ipv4.tcp_max_syn_backlog",
	"net.ipv4.tcp_max_tw_buckets",
	"net.ipv4.tcp_mem",
	"net.ipv4.tcp_migrate_req",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_syncookies",
	"net.ipv4.tcp_wmem",
	"user.max_user_namespaces",
	"vm.max_map_count",
	"vm.overcommit_memory",
	"vm.swappiness",
};

static const struct {
	const char *name;
	__rlimit_resource_t resource;
} rlimits[] = {
	{"nofile", RLIMIT_NOFILE},
	{"nproc", RLIMIT_NPROC},
	{"stack", RLIMIT_STACK},
	{"memlock", RLIMIT_MEMLOCK},
};

/* The text of root/name, or NULL. The caller frees it. */
static char *read_below(const char *root, const char *name)
{
	char path[PATH_MAX], *text = NULL;

	if (!text_format(path, sizeof(path), "%s/%s", root, name))
		text_read(path, &text);
	return text;
}

/* The end of the first line that starts with `key`, cut off in place; NULL without one. */
static char *value_after(char *text, const char *key)
{
	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, strlen(key)))
			continue;
		char *value = line + strlen(key);
		return text_first_line(value + strspn(value, " \t:=\""));
	}
	return NULL;
}

static json_t *string_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *date_fact(const struct host_facts_query *query)
{
	char text[sizeof("2026-01-31T12:00:00Z")];
	time_t now = time(NULL);
	struct tm utc;

	(void)query;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	return json_string(text);
}

static json_t *kernel_fact(const struct host_facts_query *query)
{
	struct utsname name;

	(void)query;
	if (uname(&name))
		return json_null();
	return json_pack("{s:s, s:s, s:s, s:s}", "sysname", name.sysname, "release", name.release,
			 "version", name.version, "machine", name.machine);
}

static json_t *distribution_fact(const struct host_facts_query *query)
{
	char *text = NULL;

	text_read(query->os_release, &text);
	char *name = value_after(text, "PRETTY_NAME");
	if (name)
		name[strcspn(name, "\"")] = '\0';
	json_t *fact = string_or_null(name);
	free(text);
	return fact;
}

static json_t *compiler_fact(const struct host_facts_query *query)
{
	(void)query;
#ifdef __clang__
	return json_string("clang " __clang_version__);
#else
	return json_string("gcc " __VERSION__);
#endif
}

/* x86 marks a virtual machine by a CPU flag; elsewhere there is no such line: null. */
static json_t *hypervisor_fact(char *cpuinfo)
{
	const char *flags = value_after(cpuinfo, "flags");

	return flags ? json_boolean(text_list_has(flags, " ", "hypervisor")) : json_null();
}

static json_t *cpu_fact(const struct host_facts_query *query)
{
	char *cpuinfo = read_below(query->proc_root, "cpuinfo");
	cpu_set_t allowed;

	/* value_after() cuts the text at the line it finds, and flags come after the model. */
	json_t *hypervisor = hypervisor_fact(cpuinfo);
	json_t *model = string_or_null(value_after(cpuinfo, "model name"));
	json_t *count = sched_getaffinity(0, sizeof(allowed), &allowed)
				? json_null()
				: json_integer(CPU_COUNT(&allowed));
	free(cpuinfo);
	return json_pack("{s:o, s:I, s:o, s:o}", "model", model, "online",
			 (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "allowed", count, "hypervisor",
			 hypervisor);
}

static json_t *meminfo_bytes(const struct host_facts_query *query, const char *key)
{
	char *meminfo = read_below(query->proc_root, "meminfo");
	const char *value = value_after(meminfo, key);
	int64_t kb;

	json_t *fact = value && sscanf(value, "%" SCNd64 " kB", &kb) == 1
			       ? json_integer(kb * KB_BYTES)
			       : json_null();
	free(meminfo);
	return fact;
}

static json_t *memory_fact(const struct host_facts_query *query)
{
	return json_pack("{s:o, s:o}", "total_bytes", meminfo_bytes(query, "MemTotal"),
			 "swap_bytes", meminfo_bytes(query, "SwapTotal"));
}

static json_t *load_fact(const struct host_facts_query *query)
{
	char *text = read_below(query->proc_root, "loadavg");
	double one, five, fifteen;

	json_t *fact = text && sscanf(text, "%lf %lf %lf", &one, &five, &fifteen) == 3
			       ? json_pack("[f, f, f]", one, five, fifteen)
			       : json_null();
	free(text);
	return fact;
}

static json_t *clocksource_fact(const struct host_facts_query *query)
{
	char *text = read_below(query->sys_root,
				"devices/system/clocksource/clocksource0/current_clocksource");
	json_t *fact = string_or_null(text ? text_first_line(text) : NULL);

	free(text);
	return fact;
}

/* "always [madvise] never": the word in brackets. */
static json_t *hugepage_fact(const struct host_facts_query *query)
{
	char *text = read_below(query->sys_root, "kernel/mm/transparent_hugepage/enabled");
	char *word = text ? strchr(text, '[') : NULL;

	if (word)
		word[strcspn(word, "]")] = '\0';
	json_t *fact = string_or_null(word ? word + 1 : NULL);
	free(text);
	return fact;
}

static json_t *cgroup_fact(const struct host_facts_query *query)
{
	int mode = cgroup_mode_read(&query->cgroup);

	return mode < 0 ? json_null() : json_string(cgroup_mode_name((enum cgroup_mode)mode));
}

/* White space to single spaces, none at the end. In place. */
static char *squeeze(char *text)
{
	char *out = text;

	for (const char *in = text; *in; in++) {
		if (!isspace((unsigned char)*in))
			*out++ = *in;
		else if (out > text && out[-1] != ' ')
			*out++ = ' ';
	}
	if (out > text && out[-1] == ' ')
		out--;
	*out = '\0';
	return text;
}

/* A number where the value is one, else the string; null where this kernel lacks it. */
static json_t *one_sysctl(const char *proc_root, const char *name)
{
	char file[128];
	int64_t number;

	if (text_format(file, sizeof(file), "sys/%s", name))
		return json_null();
	for (char *dot = file; (dot = strchr(dot, '.'));)
		*dot = '/';
	char *text = read_below(proc_root, file);
	if (!text)
		return json_null();
	json_t *fact =
		text_parse_int(text, &number) ? json_string(squeeze(text)) : json_integer(number);
	free(text);
	return fact;
}

static json_t *sysctls_fact(const struct host_facts_query *query)
{
	json_t *fact = json_object();

	for (size_t i = 0; fact && i < sizeof(sysctls) / sizeof(sysctls[0]); i++)
		if (json_object_set_new(fact, sysctls[i],
					one_sysctl(query->proc_root, sysctls[i]))) {
			json_decref(fact);
			return NULL;
		}
	return fact;
}

static json_t *limit_value(rlim_t value)
{
	return value == RLIM_INFINITY ? json_string("unlimited") : json_integer((json_int_t)value);
}

static json_t *one_rlimit(__rlimit_resource_t resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return json_null();
	return json_pack("{s:o, s:o}", "soft", limit_value(limit.rlim_cur), "hard",
			 limit_value(limit.rlim_max));
}

static json_t *rlimits_fact(const struct host_facts_query *query)
{
	json_t *fact = json_object();

	(void)query;
	for (size_t i = 0; fact && i < sizeof(rlimits) / sizeof(rlimits[0]); i++)
		if (json_object_set_new(fact, rlimits[i].name, one_rlimit(rlimits[i].resource))) {
			json_decref(fact);
			return NULL;
		}
	return fact;
}

/* The version of an installed package; null without dpkg or without the package. */
static json_t *one_package(const char *name)
{
	char *const argv[] = {"dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}\n",
			      (char *)name, NULL};
	static const char installed[] = "installed ";
	char line[256];

	if (command_capture(argv, false, line, sizeof(line)) ||
	    strncmp(line, installed, sizeof(installed) - 1))
		return json_null();
	return json_string(text_first_line(line) + sizeof(installed) - 1);
}

static json_t *packages_fact(const struct host_facts_query *query)
{
	json_t *fact = json_object();

	for (const char *const *name = query->packages; fact && *name; name++)
		if (json_object_set_new(fact, *name, one_package(*name))) {
			json_decref(fact);
			return NULL;
		}
	return fact;
}

static json_t *no_commit(const char *output, int status)
{
	char reason[600];

	if (status < 0)
		output = strerror(-status);
	snprintf(reason, sizeof(reason), "git rev-parse HEAD: %s", output);
	return json_pack("{s:n, s:n, s:s}", "commit", "dirty", "reason", reason);
}

static json_t *git_fact(const struct host_facts_query *query)
{
	char *dir = (char *)query->git_dir;
	char *const revision[] = {"git", "-C", dir, "rev-parse", "--verify", "HEAD", NULL};
	/* Without the option, status would refresh the index and wait for its lock. What lies in
	 * results/, this run itself among it, is neither built nor run. */
	char *const changes[] = {
		"git", "--no-optional-locks", "-C", dir, "status", "--porcelain", "--",
		".",   ":(exclude)results",   NULL};
	char commit[512], changed[2];

	int status = command_capture(revision, true, commit, sizeof(commit));
	text_first_line(commit);
	if (status)
		return no_commit(commit, status);
	status = command_capture(changes, false, changed, sizeof(changed));
	if (status)
		return json_pack("{s:s, s:n, s:s}", "commit", commit, "dirty", "reason",
				 "git status failed");
	return json_pack("{s:s, s:b, s:n}", "commit", commit, "dirty", changed[0] != '\0',
			 "reason");
}

static const struct {
	const char *key;
	json_t *(*make)(const struct host_facts_query *query);
} facts[] = {
	{"date", date_fact},
	{"kernel", kernel_fact},
	{"distribution", distribution_fact},
	{"compiler", compiler_fact},
	{"cpu", cpu_fact},
	{"memory", memory_fact},
	{"load_average", load_fact},
	{"clocksource", clocksource_fact},
	{"transparent_hugepage", hugepage_fact},
	{"cgroup_mode", cgroup_fact},
	{"sysctls", sysctls_fact},
	{"rlimits", rlimits_fact},
	{"packages", packages_fact},
	{"git", git_fact},
};

int host_facts_fill(json_t *manifest, const struct host_facts_query *query)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (json_object_set_new(manifest, facts[i].key, facts[i].make(query)))
			return -ENOMEM;
	return 0;
}
