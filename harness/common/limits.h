/* SPDX-License-Identifier: Apache-2.0 */
/* harness/common/ - the limit on open files. Source: getrlimit(2). */
#ifndef HARNESS_COMMON_LIMITS_H
#define HARNESS_COMMON_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Files a program of ours has open before its first connection, and to spare. */
#define LIMITS_SPARE_FILES 64

/* The hard limit on open files of this process. */
uint64_t limits_hard_files(void);
/* Raises the soft limit to the hard one and checks that `files` fit beside
 * LIMITS_SPARE_FILES: 0, or -EMFILE with what is needed, what there is and how
 * it is raised. */
int limits_need_files(uint64_t files, char *reason, size_t reason_size);

#endif
