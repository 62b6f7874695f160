// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the directory of a run. */
#include "harness/bench/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/bench/result.h"
#include "harness/measure/text_file.h"

#define LATEST RUNDIR_LOCAL "/latest"
#define CELLS "cells.jsonl"
#define MANIFEST "manifest.json"

/* As mkdir -p. */
static int make_parents(const char *path)
{
	char part[PATH_MAX];

	if (text_format(part, sizeof(part), "%s", path))
		return -ENAMETOOLONG;
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0777) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	int entries = 0;

	if (!dir)
		return false;
	while (readdir(dir))
		entries++;
	closedir(dir);
	return entries == 2; /* . and .. */
}

static int make_out(struct rundir *dir, const char *out)
{
	int error = text_format(dir->path, sizeof(dir->path), "%s", out);

	if (!error)
		error = make_parents(dir->path);
	if (!error && mkdir(dir->path, 0777) && !(errno == EEXIST && is_empty(dir->path)))
		error = -errno;
	return error;
}

/* A number is appended when two runs start within one second. */
static int make_stamped(struct rundir *dir, const char *experiment)
{
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;
	int error = 0;

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	for (int i = 1; i < 100; i++) {
		char number[8] = "";

		if (i > 1)
			snprintf(number, sizeof(number), "-%d", i);
		error = text_format(dir->path, sizeof(dir->path), RUNDIR_LOCAL "/%s-%s%s", stamp,
				    experiment, number);
		if (!error)
			error = make_parents(dir->path);
		if (error)
			return error;
		if (!mkdir(dir->path, 0777))
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Replaced in one step, so that it always points somewhere. */
static void point_latest(const struct rundir *dir)
{
	char temporary[64];

	snprintf(temporary, sizeof(temporary), RUNDIR_LOCAL "/.latest-%d", (int)getpid());
	if (symlink(dir->name, temporary) || rename(temporary, LATEST))
		unlink(temporary);
}

static int make_inside(struct rundir *dir)
{
	static const char *const inside[] = {"logs", "handshake_us", "wake_us", "timeline"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir->path, inside[i]);
		if (mkdir(path, 0777) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int open_cells(struct rundir *dir, int flags)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" CELLS, dir->path);
	dir->cells_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
	return dir->cells_fd < 0 ? -errno : 0;
}

static int name_run(struct rundir *dir)
{
	char copy[sizeof(dir->path)];

	strcpy(copy, dir->path);
	return text_format(dir->name, sizeof(dir->name), "%.255s", basename(copy));
}

int rundir_create(struct rundir *dir, const char *out, const char *experiment, char *error,
		  size_t error_size)
{
	int ret;

	*dir = (struct rundir){.cells_fd = -1};
	ret = out ? make_out(dir, out) : make_stamped(dir, experiment);
	if (!ret)
		ret = make_inside(dir);
	if (!ret)
		ret = open_cells(dir, O_CREAT | O_EXCL);
	if (!ret)
		ret = name_run(dir);
	if (ret) {
		snprintf(error, error_size, "can not make the directory %s: %s",
			 *dir->path ? dir->path : RUNDIR_LOCAL,
			 ret == -EEXIST ? "it is there and not empty" : strerror(-ret));
		return ret;
	}
	if (!out)
		point_latest(dir);
	return 0;
}

/* ---- going on with one ---- */

static void drop_skipped(json_t *lines)
{
	for (size_t i = json_array_size(lines); i-- > 0;) {
		const json_t *verdict = json_object_get(json_array_get(lines, i), "verdict");

		if (json_is_string(verdict) && !strcmp(json_string_value(verdict), "skip"))
			json_array_remove(lines, i);
	}
}

/* In one step: a kill leaves either the old file or the new one. */
static int rewrite_cells(const struct rundir *dir, const json_t *lines)
{
	char path[PATH_MAX], temporary[PATH_MAX];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/" CELLS, dir->path);
	snprintf(temporary, sizeof(temporary), "%s/." CELLS, dir->path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < json_array_size(lines) && !ret; i++)
		ret = result_append(fd, json_array_get(lines, i));
	close(fd);
	if (!ret && rename(temporary, path))
		ret = -errno;
	if (ret)
		unlink(temporary);
	return ret;
}

static int check_same(const struct rundir *dir, const char *experiment, char *error, size_t size)
{
	json_t *manifest = rundir_manifest(dir->path, error, size);
	const char *text =
		json_string_value(json_object_get(json_object_get(manifest, "experiment"), "text"));
	int ret = 0;

	if (!manifest)
		return -EINVAL;
	if (!text || strcmp(text, experiment)) {
		snprintf(error, size,
			 "%s was made from another version of the experiment; its cells would "
			 "not compare with new ones: start a run of its own",
			 dir->path);
		ret = -EINVAL;
	}
	json_decref(manifest);
	return ret;
}

int rundir_resume(struct rundir *dir, const char *path, const char *experiment, json_t **lines,
		  char *error, size_t error_size)
{
	int ret;

	*lines = NULL;
	*dir = (struct rundir){.cells_fd = -1};
	ret = text_format(dir->path, sizeof(dir->path), "%s", path);
	if (ret) {
		snprintf(error, error_size, "%s: %s", path, strerror(-ret));
		return ret;
	}
	ret = check_same(dir, experiment, error, error_size);
	if (!ret)
		ret = rundir_load(dir->path, lines, error, error_size);
	if (ret)
		return ret;
	drop_skipped(*lines);
	ret = rewrite_cells(dir, *lines);
	if (!ret)
		ret = make_inside(dir);
	if (!ret)
		ret = open_cells(dir, 0);
	if (!ret)
		ret = name_run(dir);
	if (ret)
		snprintf(error, error_size, "%s can not be gone on with: %s", dir->path,
			 strerror(-ret));
	return ret;
}

int rundir_write_manifest(const struct rundir *dir, const json_t *manifest)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" MANIFEST, dir->path);
	return json_dump_file(manifest, path, JSON_INDENT(2)) ? -EIO : 0;
}

int rundir_find(const char *run, char *path, size_t size, char *error, size_t error_size)
{
	static const char *const places[] = {"", RUNDIR_LOCAL "/", RUNDIR_PUBLISHED "/"};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char cells[PATH_MAX];

		if (text_format(path, size, "%s%s", places[i], run) ||
		    text_format(cells, sizeof(cells), "%s/" CELLS, path))
			break;
		if (!access(cells, R_OK))
			return 0;
	}
	snprintf(error, error_size,
		 "%s: no run of that name: neither a directory with " CELLS
		 " nor one below " RUNDIR_LOCAL " or " RUNDIR_PUBLISHED,
		 run);
	return -ENOENT;
}

int rundir_load(const char *path, json_t **lines, char *error, size_t error_size)
{
	char file[PATH_MAX], *text, *line, *end;
	unsigned number = 1;
	int ret;

	*lines = NULL;
	ret = text_format(file, sizeof(file), "%s/" CELLS, path);
	if (!ret)
		ret = text_read(file, &text);
	if (ret) {
		snprintf(error, error_size, "%s/" CELLS ": %s", path, strerror(-ret));
		return ret;
	}
	*lines = json_array();
	for (line = text; (end = strchr(line, '\n')); line = end + 1, number++) {
		json_error_t why;
		json_t *object = json_loadb(line, (size_t)(end - line), 0, &why);

		if (json_is_object(object) && !json_array_append_new(*lines, object))
			continue;
		snprintf(error, error_size, "%s:%u: %s", file, number,
			 object ? "not an object" : why.text);
		json_decref(object);
		json_decref(*lines);
		*lines = NULL;
		ret = -EINVAL;
		break;
	}
	free(text);
	return ret;
}

json_t *rundir_manifest(const char *path, char *error, size_t error_size)
{
	char file[PATH_MAX];
	json_error_t why = {0};
	json_t *manifest = NULL;

	if (!text_format(file, sizeof(file), "%s/" MANIFEST, path))
		manifest = json_load_file(file, 0, &why);
	if (!manifest)
		snprintf(error, error_size, "%s/" MANIFEST ": %s", path, why.text);
	return manifest;
}

size_t rundir_planned(const char *path)
{
	char unused[256];
	json_t *manifest = rundir_manifest(path, unused, sizeof(unused));
	json_int_t planned = json_integer_value(json_object_get(manifest, "cells"));

	json_decref(manifest);
	return planned > 0 ? (size_t)planned : 0;
}

int rundir_experiment(const char *path, char *name, size_t size, char *error, size_t error_size)
{
	json_t *manifest = rundir_manifest(path, error, error_size);
	const char *found =
		json_string_value(json_object_get(json_object_get(manifest, "experiment"), "name"));
	int ret = 0;

	if (!manifest)
		return -EINVAL;
	if (!found || text_format(name, size, "%s", found)) {
		snprintf(error, error_size, "%s/" MANIFEST ": it names no experiment", path);
		ret = -EINVAL;
	}
	json_decref(manifest);
	return ret;
}
