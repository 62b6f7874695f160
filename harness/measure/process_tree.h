/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/measure/ - a process and all its descendants. Source: proc(5), /proc/pid/stat and
 * /proc/pid/task/tid/children (CONFIG_PROC_CHILDREN).
 *
 * The proc root is a parameter ("/proc"), so that tests read fixture directories.
 * A child whose parent has died belongs to init or a subreaper and is no longer
 * found; the children file may miss a process while one of its siblings exits.
 */
#ifndef HARNESS_MEASURE_PROCESS_TREE_H
#define HARNESS_MEASURE_PROCESS_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The ancestor is pids[0]. Freed with process_tree_free. */
struct process_tree {
	pid_t *pids;
	size_t count;
	size_t capacity;
};

/* Times in clock ticks, sysconf(_SC_CLK_TCK) a second. */
struct process_stat {
	pid_t parent;
	uint64_t user_ticks;
	uint64_t system_ticks;
};

/*
 * Fills `tree` with `ancestor` and its descendants. Where the kernel has no
 * children files every /proc/<pid>/stat is scanned for its parent instead.
 * Returns 0, -ESRCH when the ancestor does not exist, -EBADMSG for a file that
 * can't be understood, or -ENOMEM; on error there is nothing to free.
 */
int process_tree_read(const char *proc_root, pid_t ancestor, struct process_tree *tree);
void process_tree_free(struct process_tree *tree);

/* 0, -ESRCH when there is no such process, or -EBADMSG. */
int process_stat_read(const char *proc_root, pid_t pid, struct process_stat *stat);

#endif
