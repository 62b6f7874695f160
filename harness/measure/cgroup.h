/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/measure/ - where the caller's own memory cgroup is.
 * Source: cgroups(7), proc(5) /proc/pid/mountinfo, kernel Documentation/admin-guide/cgroup-v2.rst.
 */
#ifndef HARNESS_MEASURE_CGROUP_H
#define HARNESS_MEASURE_CGROUP_H

#include <limits.h>

/* Where to look. Tests point these at fixture files. */
struct cgroup_roots {
	const char *mountinfo;    /* /proc/self/mountinfo */
	const char *cgroup;       /* /proc/self/cgroup */
	const char *mount_prefix; /* stands before every mount point; "" on a real system */
};

/* The initialiser for the running system. */
#define CGROUP_SYSTEM_ROOTS                                                                        \
	{                                                                                          \
		.mountinfo = "/proc/self/mountinfo", .cgroup = "/proc/self/cgroup",                \
		.mount_prefix = ""                                                                 \
	}

enum cgroup_mode {
	CGROUP_MODE_NONE,   /* no cgroup file system is mounted */
	CGROUP_MODE_V1,     /* only v1 hierarchies */
	CGROUP_MODE_V2,     /* only the v2 hierarchy */
	CGROUP_MODE_HYBRID, /* both: controllers may be in either */
};

enum cgroup_version {
	CGROUP_V1_MEMORY, /* the v1 hierarchy that has the memory controller */
	CGROUP_V2,        /* the v2 hierarchy, whether it has that controller or not */
};

struct cgroup_place {
	char mount[PATH_MAX]; /* the mount point */
	char own[PATH_MAX];   /* the caller's group: the mount point or a directory below it */
};

/* Returns the mode, or the negative errno of reading mountinfo. */
int cgroup_mode_read(const struct cgroup_roots *roots);

/* "none", "v1", "v2" or "hybrid". */
const char *cgroup_mode_name(enum cgroup_mode mode);

/*
 * Fills `place`. -ENOENT when no such hierarchy is mounted or the caller is not
 * in it, -EXDEV when the caller's group is outside what is mounted (a container
 * that sees only a part), -EBADMSG, -ENAMETOOLONG or the errno of reading.
 */
int cgroup_find(const struct cgroup_roots *roots, enum cgroup_version version,
		struct cgroup_place *place);

#endif
