/* SPDX-License-Identifier: Apache-2.0 */
/* harness/core/ - giving freed memory back to the kernel. Source: malloc_trim(3), mallopt(3). */
#ifndef HARNESS_CORE_TRIM_H
#define HARNESS_CORE_TRIM_H

/*
 * Returns to the kernel what the calling thread and the whole process have freed:
 * also what glibc keeps in the thread's own cache. Milliseconds, with the
 * allocator's locks held in turn: for a thread that has fallen quiet.
 */
void trim_memory(void);

#endif
