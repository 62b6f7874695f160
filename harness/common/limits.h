/* SPDX-License-Identifier: Apache-2.0 */
/* harness/common/ - the limit on open files. Source: getrlimit(2). */
#ifndef HARNESS_COMMON_LIMITS_H
#define HARNESS_COMMON_LIMITS_H

#include <stdint.h>

/* Files a program of ours has open before its first connection, and to spare. */
#define LIMITS_SPARE_FILES 64

/* Raises the soft limit to the hard one, and says what that is. */
uint64_t limits_raise_files(void);

#endif
