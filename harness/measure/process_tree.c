// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - a process and all its descendants. Source: proc(5). */
#include "harness/measure/process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/measure/text_file.h"

int process_stat_read(const char *proc_root, pid_t pid, struct process_stat *stat)
{
	char path[PATH_MAX], *text;
	int err = text_format(path, sizeof(path), "%s/%d/stat", proc_root, pid);

	if (!err)
		err = text_read(path, &text);
	if (err)
		return err == -ENOENT ? -ESRCH : err;

	/* The name in parentheses may itself hold spaces and parentheses. */
	char *name_end = strrchr(text, ')');
	if (!name_end ||
	    sscanf(name_end + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
		   &stat->parent, &stat->user_ticks, &stat->system_ticks) != 3)
		err = -EBADMSG;
	free(text);
	return err;
}

static int add(struct process_tree *tree, pid_t pid)
{
	/* A pid that is already known was reused while we were looking. */
	for (size_t i = 0; i < tree->count; i++)
		if (tree->pids[i] == pid)
			return 0;

	if (tree->count == tree->capacity) {
		size_t capacity = tree->capacity ? tree->capacity * 2 : 16;
		pid_t *pids = realloc(tree->pids, capacity * sizeof(*pids));
		if (!pids)
			return -ENOMEM;
		tree->pids = pids;
		tree->capacity = capacity;
	}
	tree->pids[tree->count++] = pid;
	return 0;
}

/* Directory entries that are a number: processes in /proc, threads in task. */
static pid_t entry_pid(const struct dirent *entry)
{
	int64_t number;

	if (text_parse_int(entry->d_name, &number) || number <= 0 || number > INT_MAX)
		return 0;
	return (pid_t)number;
}

static int add_children_of_thread(const char *task_dir, pid_t tid, struct process_tree *tree)
{
	char path[PATH_MAX], *text;
	int err = text_format(path, sizeof(path), "%s/%d/children", task_dir, tid);

	if (!err)
		err = text_read(path, &text);
	if (err)
		return err == -ENOENT || err == -ESRCH ? 0 : err; /* the thread ended */

	char *rest, *word = strtok_r(text, " \n", &rest);
	for (; word && !err; word = strtok_r(NULL, " \n", &rest)) {
		int64_t child;
		err = text_parse_int(word, &child);
		if (!err)
			err = add(tree, (pid_t)child);
	}
	free(text);
	return err;
}

static int add_children(const char *proc_root, pid_t pid, struct process_tree *tree)
{
	char path[PATH_MAX];
	int err = text_format(path, sizeof(path), "%s/%d/task", proc_root, pid);

	if (err)
		return err;
	DIR *dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -errno; /* the process ended */

	for (struct dirent *entry; !err && (entry = readdir(dir));) {
		pid_t tid = entry_pid(entry);
		if (tid)
			err = add_children_of_thread(path, tid, tree);
	}
	closedir(dir);
	return err;
}

static int follow_children(const char *proc_root, struct process_tree *tree)
{
	int err = 0;

	for (size_t i = 0; i < tree->count && !err; i++)
		err = add_children(proc_root, tree->pids[i], tree);
	return err;
}

/* One pass over every process: those whose parent is in the tree join it. */
static int scan_once(const char *proc_root, struct process_tree *tree)
{
	DIR *dir = opendir(proc_root);
	int err = dir ? 0 : -errno;

	for (struct dirent *entry; !err && (entry = readdir(dir));) {
		struct process_stat stat;
		pid_t pid = entry_pid(entry);
		if (!pid)
			continue;
		err = process_stat_read(proc_root, pid, &stat);
		if (err == -ESRCH) {
			err = 0; /* it ended between readdir and open */
			continue;
		}
		for (size_t i = 0; !err && i < tree->count; i++)
			if (tree->pids[i] == stat.parent) {
				err = add(tree, pid);
				break;
			}
	}
	if (dir)
		closedir(dir);
	return err;
}

/* Passes until none finds anybody: a child may stand before its parent in /proc. */
static int scan_parents(const char *proc_root, struct process_tree *tree)
{
	size_t before;
	int err;

	do {
		before = tree->count;
		err = scan_once(proc_root, tree);
	} while (!err && tree->count > before);
	return err;
}

int process_tree_read(const char *proc_root, pid_t ancestor, struct process_tree *tree)
{
	struct process_stat stat;
	char children[PATH_MAX];

	*tree = (struct process_tree){0};
	int err = process_stat_read(proc_root, ancestor, &stat);
	if (!err)
		err = text_format(children, sizeof(children), "%s/%d/task/%d/children", proc_root,
				  ancestor, ancestor);
	if (!err)
		err = add(tree, ancestor);
	if (!err)
		err = access(children, F_OK) ? scan_parents(proc_root, tree)
					     : follow_children(proc_root, tree);
	if (err)
		process_tree_free(tree);
	return err;
}

void process_tree_free(struct process_tree *tree)
{
	free(tree->pids);
	*tree = (struct process_tree){0};
}
