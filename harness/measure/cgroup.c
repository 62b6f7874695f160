// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - where the caller's own memory cgroup is. Source: cgroups(7), proc(5) */
#include "harness/measure/cgroup.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/measure/text_file.h"

/* The fields of one mountinfo line that matter here; they point into the line. */
struct mount_line {
	char *root;    /* which directory of the file system is mounted */
	char *point;   /* where */
	char *type;    /* "cgroup", "cgroup2", ... */
	char *options; /* of the file system: v1 names its controllers here */
};

/* mountinfo writes space, tab, newline and backslash as \ooo. In place. */
static void decode_octal(char *text)
{
	char *out = text;

	for (; *text; text++) {
		if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
			char digits[4] = {text[1], text[2], text[3], '\0'};
			*out++ = (char)strtol(digits, NULL, 8);
			text += 3;
		} else {
			*out++ = *text;
		}
	}
	*out = '\0';
}

/* "36 35 98:0 /root /point rw,noatime master:1 - type source options" */
static int parse_mount(char *line, struct mount_line *mount)
{
	/* strsep and not strtok: the source of a mount may be the empty string. */
	char *word = strsep(&line, " ");

	*mount = (struct mount_line){0};
	for (int field = 0; word && strcmp(word, "-"); field++) {
		if (field == 3)
			mount->root = word;
		else if (field == 4)
			mount->point = word;
		word = strsep(&line, " ");
	}
	if (word) {
		mount->type = strsep(&line, " ");
		strsep(&line, " ");
		mount->options = strsep(&line, " ");
	}
	if (!mount->root || !mount->point || !mount->options)
		return -EBADMSG;
	decode_octal(mount->root);
	decode_octal(mount->point);
	return 0;
}

static bool mount_is(const struct mount_line *mount, enum cgroup_version version)
{
	if (version == CGROUP_V2)
		return !strcmp(mount->type, "cgroup2");
	return !strcmp(mount->type, "cgroup") && text_list_has(mount->options, ",", "memory");
}

int cgroup_mode_read(const struct cgroup_roots *roots)
{
	char *text, *rest;
	bool v1 = false, v2 = false;
	int err = text_read(roots->mountinfo, &text);

	if (err)
		return err;
	for (char *line = strtok_r(text, "\n", &rest); line && !err;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct mount_line mount;
		err = parse_mount(line, &mount);
		if (err)
			break;
		v1 |= !strcmp(mount.type, "cgroup");
		v2 |= !strcmp(mount.type, "cgroup2");
	}
	free(text);
	if (err)
		return err;
	return v1 && v2 ? CGROUP_MODE_HYBRID
	       : v1     ? CGROUP_MODE_V1
	       : v2     ? CGROUP_MODE_V2
			: CGROUP_MODE_NONE;
}

const char *cgroup_mode_name(enum cgroup_mode mode)
{
	static const char *const names[] = {
		[CGROUP_MODE_NONE] = "none",
		[CGROUP_MODE_V1] = "v1",
		[CGROUP_MODE_V2] = "v2",
		[CGROUP_MODE_HYBRID] = "hybrid",
	};

	return names[mode];
}

/* "4:memory:/path" or "0::/path": the path, or NULL when it's another hierarchy. */
static char *group_path(char *line, enum cgroup_version version)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return NULL;
	*controllers++ = '\0';
	*path++ = '\0';
	if (version == CGROUP_V2)
		return !strcmp(line, "0") && !*controllers ? path : NULL;
	return text_list_has(controllers, ",", "memory") ? path : NULL;
}

/* The caller's path within the hierarchy, as /proc/self/cgroup has it. */
static int read_group_path(const struct cgroup_roots *roots, enum cgroup_version version,
			   char path[PATH_MAX])
{
	char *text, *rest;
	int err = text_read(roots->cgroup, &text);

	if (err)
		return err;
	err = -ENOENT;
	for (char *line = strtok_r(text, "\n", &rest); line && err == -ENOENT;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *found = group_path(line, version);
		if (found)
			err = text_format(path, PATH_MAX, "%s", found);
	}
	free(text);
	return err;
}

/* Joins the mount point and that part of `path` which lies below the mount's root. */
static int place_group(const struct cgroup_roots *roots, const struct mount_line *mount,
		       const char *path, struct cgroup_place *place)
{
	size_t root_length = strcmp(mount->root, "/") ? strlen(mount->root) : 0;
	const char *below = path + root_length;

	/* "/.." is what a cgroup namespace shows of a group above its root. */
	if (strncmp(path, mount->root, root_length) || (*below && *below != '/') ||
	    !strncmp(path, "/..", 3))
		return -EXDEV;
	if (!strcmp(below, "/"))
		below = "";
	int err = text_format(place->mount, PATH_MAX, "%s%s", roots->mount_prefix, mount->point);
	return err ? err : text_format(place->own, PATH_MAX, "%s%s", place->mount, below);
}

int cgroup_find(const struct cgroup_roots *roots, enum cgroup_version version,
		struct cgroup_place *place)
{
	char path[PATH_MAX], *text, *rest;
	int found = -ENOENT;
	int err = read_group_path(roots, version, path);

	if (!err)
		err = text_read(roots->mountinfo, &text);
	if (err)
		return err;
	/* One hierarchy may be mounted several times: the first place that shows our group. */
	for (char *line = strtok_r(text, "\n", &rest); line && !err && found;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct mount_line mount;
		err = parse_mount(line, &mount);
		if (!err && mount_is(&mount, version))
			found = place_group(roots, &mount, path, place);
	}
	free(text);
	return err ? err : found;
}
