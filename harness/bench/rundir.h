/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - the directory of a run: manifest.json, cells.jsonl, logs/, handshake_us/,
 * wake_us/ and timeline/. Made below results/local/ of the current directory, where `latest`
 * points to the newest.
 */
#ifndef HARNESS_BENCH_RUNDIR_H
#define HARNESS_BENCH_RUNDIR_H

#include <jansson.h>
#include <limits.h>
#include <stddef.h>

#define RUNDIR_LOCAL "results/local"
#define RUNDIR_PUBLISHED "results/published"

struct rundir {
	char path[PATH_MAX / 4]; /* files in it get longer names */
	char name[256];          /* the last part of it: the run's name */
	int cells_fd;            /* cells.jsonl, for appending; close it */
};

/* Makes results/local/<time>-<experiment>, or `out` unless NULL, which must not
 * exist or be empty. 0, or a negative errno with the message. */
int rundir_create(struct rundir *dir, const char *out, const char *experiment, char *error,
		  size_t error_size);

/*
 * Opens the run in `path` again, to go on with it. Its experiment must be `experiment`, a file's
 * text, as it was. Lines of cells that were skipped leave cells.jsonl, so that these may run now,
 * as does a line that was cut short; `lines` are the others, a new reference. 0, or a negative
 * errno with the message.
 */
int rundir_resume(struct rundir *dir, const char *path, const char *experiment, json_t **lines,
		  char *error, size_t error_size);

/* Its manifest, a new reference; NULL with the message. */
json_t *rundir_manifest(const char *path, char *error, size_t error_size);

/* Writes the manifest. 0 or a negative errno. */
int rundir_write_manifest(const struct rundir *dir, const json_t *manifest);

/* The directory meant by a directory's path, a run's name, or "latest". 0, or -ENOENT
 * with the message. */
int rundir_find(const char *run, char *path, size_t size, char *error, size_t error_size);

/* The lines of its cells.jsonl as an array, a new reference. A last line without its
 * newline was cut short by a kill and is left out. 0, or a negative errno with
 * the message, which names file and line. */
int rundir_load(const char *path, json_t **lines, char *error, size_t error_size);

/* How many cells its manifest planned; 0 when it can not be read. */
size_t rundir_planned(const char *path);

/* The name of the experiment, from its manifest. 0, or a negative errno with the message. */
int rundir_experiment(const char *path, char *name, size_t size, char *error, size_t error_size);

#endif
