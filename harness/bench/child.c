// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - a program under parkbench's control. Sources: prctl(2), wait(2). */
#include "harness/bench/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/common/clock.h"

/* The longest line that makes sense; what is longer is not our protocol. */
#define LINE_MAX_BYTES (1024 * 1024)

/* A connection is a file: the soft limit is raised to what is allowed. */
static void raise_nofile(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void exec_child(const char *const argv[], int in, int out, int log, pid_t parent,
		       int (*ready_to_exec)(void *arg), void *arg)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	/* The parent may have died before the prctl took effect. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(126);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0)
		_exit(126);
	raise_nofile();
	if (ready_to_exec && ready_to_exec(arg)) {
		dprintf(STDERR_FILENO, "could not enter the memory group: %s\n", strerror(errno));
		_exit(126);
	}
	execv(argv[0], (char *const *)argv);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int child_spawn(struct child *child, const char *name, const char *const argv[], const char *log,
		int (*ready_to_exec)(void *arg), void *arg)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1}, log_fd, error = 0;
	pid_t parent = getpid();

	*child = (struct child){.name = name, .pid = -1, .in = -1, .out = -1};
	snprintf(child->log, sizeof(child->log), "%s", log);
	log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (log_fd < 0 || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		error = -errno;
	if (!error)
		child->pid = fork();
	if (child->pid == 0)
		exec_child(argv, in[0], out[1], log_fd, parent, ready_to_exec, arg);
	if (!error && child->pid < 0)
		error = -errno;
	close(in[0]);
	close(out[1]);
	close(log_fd);
	child->in = in[1];
	child->out = out[0];
	if (error)
		child_end(child);
	return error;
}

int child_send(struct child *child, const char *command)
{
	char line[128];
	int len = snprintf(line, sizeof(line), "%s\n", command);

	if (len >= (int)sizeof(line))
		return -EMSGSIZE;
	/* Shorter than PIPE_BUF: written in one piece or not at all. */
	while (write(child->in, line, (size_t)len) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* Takes one whole line out of what was read. 1: there was one. */
static int take_line(struct child *child, json_t **object)
{
	char *end = child->line ? memchr(child->line, '\n', child->line_len) : NULL;
	size_t used;

	if (!end)
		return 0;
	*object = json_loadb(child->line, (size_t)(end - child->line), 0, NULL);
	used = (size_t)(end + 1 - child->line);
	memmove(child->line, child->line + used, child->line_len - used);
	child->line_len -= used;
	if (json_is_object(*object))
		return 1;
	json_decref(*object);
	*object = NULL;
	return -EBADMSG;
}

static int read_more(struct child *child)
{
	ssize_t n;

	if (child->line_len == child->line_size) {
		size_t size = child->line_size ? 2 * child->line_size : 4096;
		char *larger = size <= LINE_MAX_BYTES ? realloc(child->line, size) : NULL;

		if (!larger)
			return size > LINE_MAX_BYTES ? -EBADMSG : -ENOMEM;
		child->line = larger;
		child->line_size = size;
	}
	n = read(child->out, child->line + child->line_len, child->line_size - child->line_len);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -EPIPE;
	child->line_len += (size_t)n;
	return 0;
}

int child_read(struct child *child, int timeout_ms, json_t **object)
{
	uint64_t deadline = clock_now_ns() + (uint64_t)timeout_ms * NS_PER_MS;

	*object = NULL;
	for (;;) {
		struct pollfd ready = {.fd = child->out, .events = POLLIN};
		int ret = take_line(child, object);
		uint64_t now = clock_now_ns();

		if (ret)
			return ret > 0 ? 0 : ret;
		if (now >= deadline)
			return -ETIMEDOUT;
		ret = poll(&ready, 1, (int)((deadline - now) / NS_PER_MS) + 1);
		if (ret < 0 && errno != EINTR)
			return -errno;
		if (ret <= 0)
			continue;
		ret = read_more(child);
		if (ret)
			return ret;
	}
}

static bool reap(struct child *child, int flags)
{
	pid_t pid;

	if (child->pid < 0)
		return true;
	do
		pid = waitpid(child->pid, &child->status, flags);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	child->pid = -1;
	return true;
}

bool child_alive(struct child *child)
{
	return !reap(child, WNOHANG);
}

int child_wait(struct child *child, int timeout_ms)
{
	uint64_t deadline = clock_now_ns() + (uint64_t)timeout_ms * NS_PER_MS;

	while (!reap(child, WNOHANG)) {
		if (clock_now_ns() > deadline)
			return -ETIMEDOUT;
		poll(NULL, 0, 5);
	}
	return 0;
}

/* The last line with anything in it, of at most the last 4 KiB. */
static void last_line(const char *path, char *line, size_t size)
{
	char tail[4097] = "";
	FILE *file = fopen(path, "re");
	char *newline;
	size_t len;

	*line = '\0';
	if (!file)
		return;
	if (fseek(file, -4096, SEEK_END))
		rewind(file);
	len = fread(tail, 1, sizeof(tail) - 1, file);
	fclose(file);
	while (len && (tail[len - 1] == '\n' || tail[len - 1] == ' '))
		len--;
	tail[len] = '\0';
	newline = strrchr(tail, '\n');
	snprintf(line, size, "%s", newline ? newline + 1 : tail);
}

void child_obituary(const struct child *child, char *text, size_t size)
{
	char words[256];
	int used;

	last_line(child->log, words, sizeof(words));
	if (WIFSIGNALED(child->status))
		used = snprintf(text, size, "signal %d (%s)", WTERMSIG(child->status),
				strsignal(WTERMSIG(child->status)));
	else
		used = snprintf(text, size, "exit status %d", WEXITSTATUS(child->status));
	if (*words && used > 0 && (size_t)used < size)
		snprintf(text + used, size - (size_t)used, ": %s", words);
}

void child_end(struct child *child)
{
	if (child->in >= 0)
		close(child->in);
	if (child->out >= 0)
		close(child->out);
	child->in = -1;
	child->out = -1;
	if (child->pid > 0) {
		kill(child->pid, SIGKILL);
		reap(child, 0);
	}
	free(child->line);
	child->line = NULL;
	child->line_len = 0;
	child->line_size = 0;
}
