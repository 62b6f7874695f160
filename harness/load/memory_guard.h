/* SPDX-License-Identifier: Apache-2.0 */
/* harness/load/ - what stops a ramp before the machine runs out of memory. Source: proc(5)
 * /proc/meminfo, MemAvailable. */
#ifndef HARNESS_LOAD_MEMORY_GUARD_H
#define HARNESS_LOAD_MEMORY_GUARD_H

#include <stdint.h>

/* Bytes that can be had without swapping: 0 and *bytes, or a negative errno. */
int memory_available(uint64_t *bytes);

#endif
