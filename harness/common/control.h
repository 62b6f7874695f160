/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/common/ - `--control`: how parkbench drives the server and the load
 * generator. Commands come on standard input, one a line; each is answered by one
 * JSON object on one line of standard output. The end of the input means: stop.
 */
#ifndef HARNESS_COMMON_CONTROL_H
#define HARNESS_COMMON_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define CONTROL_LINE_BYTES 256

/* Zeroed memory is an empty reader. */
struct control {
	char line[CONTROL_LINE_BYTES];
	size_t len;
};

/*
 * Gives one line, without its newline, into `line` (CONTROL_LINE_BYTES); reads
 * from `fd` first when none has come yet, which waits when `fd` is blocking.
 * 1: a line; 0: no whole line yet; -EPIPE: the end; or another negative errno.
 */
int control_read(struct control *control, int fd, char *line);
/* A further line that was read along with the last, never waiting: 1, or 0. */
int control_next(struct control *control, char *line);
/* Writes an object as one line of standard output and releases it. */
void control_say(json_t *object);
/* {"event": …} for an error that ends nothing: the command was not understood. */
void control_complain(const char *command, const char *known);

#endif
