// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - output of a short command. Source: posix_spawn(3) */
#include "harness/measure/command.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts argv with `output` as its standard output. */
static int start(char *const argv[], bool with_errors, int output, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return -err;
	err = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, output, 1);
	if (!err && with_errors)
		err = posix_spawn_file_actions_adddup2(&actions, output, 2);
	else if (!err)
		err = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (!err)
		err = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

/* Until end of file, so that the command never dies of a closed pipe. */
static void drain(int fd, char *out, size_t size)
{
	char rest[4096];
	size_t length = 0;

	for (;;) {
		size_t room = size - 1 - length;
		ssize_t got = room ? read(fd, out + length, room) : read(fd, rest, sizeof(rest));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		length += room ? (size_t)got : 0;
	}
	out[length] = '\0';
}

static int finish(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int command_capture(char *const argv[], bool with_errors, char *out, size_t size)
{
	int ends[2];
	pid_t pid = 0;

	out[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	int err = start(argv, with_errors, ends[1], &pid);
	close(ends[1]);
	if (!err) {
		drain(ends[0], out, size);
		err = finish(pid);
	}
	close(ends[0]);
	return err;
}
