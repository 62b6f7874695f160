/* SPDX-License-Identifier: Apache-2.0 */
/* harness/measure/ - output of a short command (git, dpkg-query). Source: posix_spawn(3). */
#ifndef HARNESS_MEASURE_COMMAND_H
#define HARNESS_MEASURE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs argv, found through PATH, to its end and keeps the first size - 1 bytes of
 * its standard output in `out`, NUL-terminated; the rest is read and dropped.
 * Standard error goes there too with `with_errors`, else nowhere. Blocks.
 * Returns the exit status, 128 + the signal that ended it, or a negative errno:
 * -ENOENT when there is no such command.
 */
int command_capture(char *const argv[], bool with_errors, char *out, size_t size);

#endif
