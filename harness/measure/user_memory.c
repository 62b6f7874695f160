// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - user memory from smaps_rollup. Source: proc(5), kernel fs/proc/task_mmu.c */
#include "harness/measure/user_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/measure/process_tree.h"
#include "harness/measure/text_file.h"

#define KB_BYTES 1024

/* The sum of every `key` line: one in smaps_rollup, one a mapping in smaps. */
static int sum_lines(const char *text, const char *key, int64_t *sum_bytes)
{
	size_t key_length = strlen(key);
	int lines = 0;

	*sum_bytes = 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		int64_t kb;
		int end = 0;
		line += *line == '\n';
		if (strncmp(line, key, key_length))
			continue;
		if (sscanf(line + key_length, " %" SCNd64 " kB%n", &kb, &end) != 1 || !end)
			return -EBADMSG;
		*sum_bytes += kb * KB_BYTES;
		lines++;
	}
	return lines ? 0 : -EBADMSG;
}

static int parse(const char *text, struct user_memory *memory)
{
	int err;

	/* smaps of a zombie or a kernel thread is empty: no address space. */
	if (!*text)
		return -ESRCH;
	err = sum_lines(text, "Pss:", &memory->pss_bytes);
	if (!err)
		err = sum_lines(text, "SwapPss:", &memory->swap_pss_bytes);
	if (!err)
		err = sum_lines(text, "Rss:", &memory->rss_bytes);
	memory->processes = 1;
	return err;
}

static int read_file(const char *proc_root, pid_t pid, const char *name, char **text)
{
	char path[PATH_MAX];
	int err = text_format(path, sizeof(path), "%s/%d/%s", proc_root, pid, name);

	return err ? err : text_read(path, text);
}

int user_memory_of_process(const char *proc_root, pid_t pid, struct user_memory *memory)
{
	char *text = NULL;
	int err = read_file(proc_root, pid, "smaps_rollup", &text);

	*memory = (struct user_memory){0};
	if (err == -ENOENT)
		err = read_file(proc_root, pid, "smaps", &text);
	if (!err)
		err = parse(text, memory);
	free(text);
	return err == -ENOENT ? -ESRCH : err;
}

int user_memory_of_tree(const char *proc_root, pid_t ancestor, struct user_memory *memory)
{
	struct process_tree tree;
	int err = process_tree_read(proc_root, ancestor, &tree);

	*memory = (struct user_memory){0};
	if (err)
		return err;
	for (size_t i = 0; i < tree.count && !err; i++) {
		struct user_memory one;
		err = user_memory_of_process(proc_root, tree.pids[i], &one);
		if (err == -ESRCH && tree.pids[i] != ancestor) {
			err = 0; /* a descendant ended meanwhile: nothing to add */
			continue;
		}
		memory->pss_bytes += one.pss_bytes;
		memory->swap_pss_bytes += one.swap_pss_bytes;
		memory->rss_bytes += one.rss_bytes;
		memory->processes += one.processes;
	}
	process_tree_free(&tree);
	return err;
}
