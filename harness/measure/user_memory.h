/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/measure/ - user memory of a process or a process tree, from smaps_rollup.
 * Source: proc(5), kernel fs/proc/task_mmu.c.
 *
 * PSS counts a page shared by n processes as 1/n, so the sum over a tree counts
 * each page once as long as nobody outside shares it. SwapPss is the same for
 * pages in swap. RSS counts shared pages in full for every process.
 * Sizes in bytes; the kernel's are kB, rounded down for each process.
 * Reading walks the page tables: milliseconds a GiB, in the reader's time, with
 * the process's mmap lock held for reading.
 */
#ifndef HARNESS_MEASURE_USER_MEMORY_H
#define HARNESS_MEASURE_USER_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

struct user_memory {
	int64_t pss_bytes;
	int64_t swap_pss_bytes;
	int64_t rss_bytes;
	int processes; /* how many were added up */
};

/*
 * One process. smaps is summed up where the kernel has no smaps_rollup (before
 * Linux 4.14). Returns 0, -ESRCH when the process died (a zombie has no memory
 * either), -EACCES without permission to trace it, -EBADMSG for a file that
 * can't be understood.
 */
int user_memory_of_process(const char *proc_root, pid_t pid, struct user_memory *memory);

/* The process and all its descendants. -ESRCH only when `ancestor` itself died. */
int user_memory_of_tree(const char *proc_root, pid_t ancestor, struct user_memory *memory);

#endif
