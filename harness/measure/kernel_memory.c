// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - kernel memory of a group of processes: memory cgroup v1, v2, or slab. */
#include "harness/measure/kernel_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/measure/slabinfo.h"
#include "harness/measure/text_file.h"

#define CLOSE_ATTEMPTS 200
#define CLOSE_PAUSE_NS 10000000 /* 10 ms */

const struct kernel_roots kernel_system_roots = {
	.cgroup = CGROUP_SYSTEM_ROOTS,
	.slabinfo = "/proc/slabinfo",
	.os_release = "/proc/sys/kernel/osrelease",
};

const char *kernel_method_name(enum kernel_method method)
{
	static const char *const names[] = {
		[KERNEL_METHOD_NONE] = "none",
		[KERNEL_METHOD_SLAB] = "slab",
		[KERNEL_METHOD_MEMCG_V1] = "memcg-v1",
		[KERNEL_METHOD_MEMCG_V2] = "memcg-v2",
	};

	return names[method];
}

/* Appends "method: what: strerror" to the reason and hands the error back. */
__attribute__((format(printf, 4, 5))) static int
refuse(struct kernel_meter *meter, enum kernel_method method, int err, const char *format, ...)
{
	size_t used = strlen(meter->reason), size = sizeof(meter->reason);
	char what[512];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	/* Three methods' reasons fit; a very long path may cost the end of the last one. */
	snprintf(meter->reason + used, size - used, "%s%s: %s: %s", used ? "; " : "",
		 kernel_method_name(method), what, strerror(-err));
	return err;
}

static int file_in(char path[PATH_MAX], const char *dir, const char *name)
{
	return text_format(path, PATH_MAX, "%s/%s", dir, name);
}

/* An existing group is taken over only when nobody is in it. */
static int check_empty(const char *group_dir)
{
	char path[PATH_MAX], *processes;
	int err = file_in(path, group_dir, "cgroup.procs");

	if (!err)
		err = text_read(path, &processes);
	if (err)
		return err;
	if (*processes)
		err = -EBUSY;
	free(processes);
	return err;
}

/* Makes parent/group_name and leaves its path in the meter. */
static int make_group(struct kernel_meter *meter, const char *parent, const char *group_name)
{
	int err = text_format(meter->path, PATH_MAX, "%s/%s", parent, group_name);

	if (err)
		return err;
	if (!mkdir(meter->path, 0755))
		return 0;
	return errno == EEXIST ? check_empty(meter->path) : -errno;
}

static int open_v1(struct kernel_meter *meter, const struct kernel_roots *roots,
		   const char *group_name)
{
	struct cgroup_place place;
	char path[PATH_MAX];
	int err = cgroup_find(&roots->cgroup, CGROUP_V1_MEMORY, &place);

	if (err)
		return refuse(meter, KERNEL_METHOD_MEMCG_V1, err, "the v1 memory hierarchy");
	err = make_group(meter, place.own, group_name);
	if (err)
		return refuse(meter, KERNEL_METHOD_MEMCG_V1, err, "%s (run as root)", meter->path);

	/*
	 * The kernel charges accepted sockets to a v1 group only once a TCP limit
	 * was set in it: mem_cgroup_sk_alloc() looks at tcpmem_active. -1 is "no limit".
	 */
	err = file_in(path, meter->path, "memory.kmem.tcp.limit_in_bytes");
	if (!err)
		err = text_write(path, "-1");
	if (err) {
		rmdir(meter->path);
		return refuse(meter, KERNEL_METHOD_MEMCG_V1, err, "%s", path);
	}
	return 0;
}

/* Whether the space-separated file parent/name lists the memory controller. */
static int lists_memory(const char *parent, const char *name)
{
	char path[PATH_MAX], *text;
	int err = file_in(path, parent, name);

	if (!err)
		err = text_read(path, &text);
	if (err)
		return err;
	bool listed = text_list_has(text, " \n", "memory");
	free(text);
	return listed;
}

/* Children of `parent` have a memory.stat only when subtree_control says so. */
static int enable_memory(const char *parent)
{
	char path[PATH_MAX];
	int listed = lists_memory(parent, "cgroup.controllers");

	if (listed <= 0)
		return listed ? listed : -EOPNOTSUPP;
	listed = lists_memory(parent, "cgroup.subtree_control");
	if (listed)
		return listed < 0 ? listed : 0;
	int err = file_in(path, parent, "cgroup.subtree_control");
	return err ? err : text_write(path, "+memory");
}

static int try_v2(struct kernel_meter *meter, const char *parent, const char *group_name)
{
	char path[PATH_MAX];

	/* Moving a process in needs this file of the two groups' common ancestor. */
	int err = file_in(path, parent, "cgroup.procs");
	if (!err && access(path, W_OK))
		err = -errno;
	if (!err)
		err = enable_memory(parent);
	if (!err)
		err = make_group(meter, parent, group_name);
	if (err)
		return err;

	err = file_in(path, meter->path, "memory.stat");
	if (!err && access(path, R_OK))
		err = -errno;
	if (err)
		rmdir(meter->path);
	return err;
}

static int open_v2(struct kernel_meter *meter, const struct kernel_roots *roots,
		   const char *group_name)
{
	struct cgroup_place place;
	int err = cgroup_find(&roots->cgroup, CGROUP_V2, &place);

	if (err)
		return refuse(meter, KERNEL_METHOD_MEMCG_V2, err, "the v2 hierarchy");

	/* From our own group upwards; the reason given is that of the nearest. */
	char parent[PATH_MAX];
	memcpy(parent, place.own, sizeof(parent));
	err = try_v2(meter, parent, group_name);
	for (int up = err; up && strlen(parent) > strlen(place.mount);) {
		*strrchr(parent, '/') = '\0';
		up = try_v2(meter, parent, group_name);
		if (!up)
			return 0;
	}
	if (!err)
		return 0;
	return refuse(meter, KERNEL_METHOD_MEMCG_V2, err,
		      "memory controller in %s or above (run as root, or under systemd-run "
		      "--user --scope -p Delegate=yes)",
		      place.own);
}

static int open_slab(struct kernel_meter *meter, const struct kernel_roots *roots,
		     const char *group_name)
{
	int64_t bytes;
	int err = slabinfo_socket_bytes(roots->slabinfo, &bytes);

	(void)group_name;
	if (!err)
		err = text_format(meter->path, PATH_MAX, "%s", roots->slabinfo);
	if (err)
		return refuse(meter, KERNEL_METHOD_SLAB, err, "%s", roots->slabinfo);
	return 0;
}

static int read_v1(const struct kernel_meter *meter, int64_t *bytes)
{
	char path[PATH_MAX];
	int64_t kmem, tcp;
	int err = file_in(path, meter->path, "memory.kmem.usage_in_bytes");

	if (!err)
		err = text_read_int(path, &kmem);
	if (!err)
		err = file_in(path, meter->path, "memory.kmem.tcp.usage_in_bytes");
	if (!err)
		err = text_read_int(path, &tcp);
	if (!err)
		*bytes = kmem + tcp;
	return err;
}

/* The number behind `key` in lines of "key number"; -ENODATA without such a line. */
static int stat_line(const char *text, const char *key, int64_t *value)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, length) && line[length] == ' ')
			return sscanf(line + length, " %" SCNd64, value) == 1 ? 0 : -EBADMSG;
	}
	return -ENODATA;
}

/* Kernels before 5.18 have no total: its parts, of which the oldest lack some. */
static int sum_v2_parts(const char *text, int64_t *bytes)
{
	static const char *const parts[] = {"kernel_stack", "pagetables", "percpu", "vmalloc"};
	int err = stat_line(text, "slab", bytes);

	for (size_t i = 0; !err && i < sizeof(parts) / sizeof(parts[0]); i++) {
		int64_t part = 0;
		err = stat_line(text, parts[i], &part);
		if (err == -ENODATA)
			err = 0;
		*bytes += part;
	}
	return err;
}

static int read_v2(const struct kernel_meter *meter, int64_t *bytes)
{
	char path[PATH_MAX], *text;
	int64_t sock;
	int err = file_in(path, meter->path, "memory.stat");

	if (!err)
		err = text_read(path, &text);
	if (err)
		return err;
	err = stat_line(text, "kernel", bytes);
	if (err == -ENODATA)
		err = sum_v2_parts(text, bytes);
	if (!err)
		err = stat_line(text, "sock", &sock);
	if (!err)
		*bytes += sock;
	free(text);
	return err;
}

static int read_slab(const struct kernel_meter *meter, int64_t *bytes)
{
	return slabinfo_socket_bytes(meter->path, bytes);
}

/* In the order of preference. */
static const struct method_ops {
	enum kernel_method method;
	int (*open)(struct kernel_meter *meter, const struct kernel_roots *roots,
		    const char *group_name);
	int (*read)(const struct kernel_meter *meter, int64_t *bytes);
} methods[] = {
	{KERNEL_METHOD_MEMCG_V1, open_v1, read_v1},
	{KERNEL_METHOD_MEMCG_V2, open_v2, read_v2},
	{KERNEL_METHOD_SLAB, open_slab, read_slab},
};
#define METHODS (sizeof(methods) / sizeof(methods[0]))

static bool has_group(const struct kernel_meter *meter)
{
	return meter->method == KERNEL_METHOD_MEMCG_V1 || meter->method == KERNEL_METHOD_MEMCG_V2;
}

/* inet_csk_accept() charges the struct sock since Linux 6.12. Unknown counts as old. */
static bool is_before_6_12(const char *os_release_path)
{
	char *text;
	int major = 0, minor = 0;

	if (!text_read(os_release_path, &text))
		sscanf(text, "%d.%d", &major, &minor);
	free(text);
	return major < 6 || (major == 6 && minor < 12);
}

int kernel_meter_open(struct kernel_meter *meter, const struct kernel_roots *roots,
		      const char *group_name)
{
	*meter = (struct kernel_meter){.method = KERNEL_METHOD_NONE};
	if (!*group_name || *group_name == '.' || strchr(group_name, '/'))
		return -EINVAL;

	for (size_t i = 0; i < METHODS; i++) {
		if (methods[i].open(meter, roots, group_name))
			continue;
		meter->method = methods[i].method;
		meter->system_wide = meter->method == KERNEL_METHOD_SLAB;
		if (has_group(meter)) {
			meter->reason[0] = '\0';
			meter->misses_accepted = is_before_6_12(roots->os_release);
		}
		return 0;
	}
	meter->path[0] = '\0';
	return 0;
}

int kernel_meter_add_pid(const struct kernel_meter *meter, pid_t pid)
{
	char path[PATH_MAX], line[16];
	int err;

	if (!has_group(meter))
		return 0;
	err = file_in(path, meter->path, "cgroup.procs");
	if (!err)
		err = text_format(line, sizeof(line), "%d\n", pid);
	return err ? err : text_write(path, line);
}

int kernel_meter_read(const struct kernel_meter *meter, int64_t *bytes)
{
	for (size_t i = 0; i < METHODS; i++)
		if (methods[i].method == meter->method)
			return methods[i].read(meter, bytes);
	return -ENODATA;
}

int kernel_meter_close(struct kernel_meter *meter)
{
	const struct timespec pause = {.tv_nsec = CLOSE_PAUSE_NS};

	/* A process leaves its group a moment after its end was reported. */
	for (int attempt = 1; has_group(meter) && rmdir(meter->path); attempt++) {
		if (errno == ENOENT)
			break;
		if (errno != EBUSY || attempt == CLOSE_ATTEMPTS)
			return -errno;
		nanosleep(&pause, NULL);
	}
	*meter = (struct kernel_meter){.method = KERNEL_METHOD_NONE};
	return 0;
}
