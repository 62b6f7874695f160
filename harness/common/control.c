// SPDX-License-Identifier: Apache-2.0
/* harness/common/ - the line protocol of `--control`. */
#include "harness/common/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool take_line(struct control *control, char *line)
{
	char *end = memchr(control->line, '\n', control->len);
	size_t len;

	if (!end)
		return false;
	len = (size_t)(end - control->line);
	memcpy(line, control->line, len);
	line[len] = '\0';
	control->len -= len + 1;
	memmove(control->line, end + 1, control->len);
	return true;
}

int control_read(struct control *control, int fd, char *line)
{
	ssize_t n;

	if (take_line(control, line))
		return 1;
	if (control->len == sizeof(control->line))
		return -EMSGSIZE;
	n = read(fd, control->line + control->len, sizeof(control->line) - control->len);
	if (n == 0)
		return -EPIPE;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	control->len += (size_t)n;
	return take_line(control, line);
}

int control_next(struct control *control, char *line)
{
	return take_line(control, line);
}

void control_say(json_t *object)
{
	json_dumpf(object, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(object);
}

void control_complain(const char *command, const char *known)
{
	control_say(
		json_pack("{s:s,s:s,s:s}", "event", "error", "command", command, "known", known));
}
