// SPDX-License-Identifier: Apache-2.0
/* harness/server/ - prefork: each worker a process. */
#include "harness/server/prefork.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/common/clock.h"
#include "harness/common/control.h"
#include "harness/server/serve.h"

/* Beyond the grace, until a child that does not end is killed. */
#define STOP_MARGIN_S 2

/* A worker process. */
struct child {
	pid_t pid; /* 0: it has ended */
	int fd;    /* our end of its standard input and output */
	FILE *answers;
};

struct prefork {
	unsigned started;
	struct child children[];
};

/* ---- in the child ---- */

/* Its stop comes from the parent: a Ctrl-C goes to all, and who ends first must not look as if
 * it had failed. */
static void become_worker(int fd, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	if (dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(1);
	/* The ends of its elder siblings above all: each must see its parent's end. */
	if (close_range(STDERR_FILENO + 1, ~0u, 0))
		_exit(1);
}

static _Noreturn void child_main(const struct server_config *parents, struct tls_identity *identity)
{
	struct server_config config = *parents;
	struct server *server;
	char reason[512];
	int status;

	config.sizing.model = WORKER_THREADS;
	config.sizing.workers = 1;
	if (server_start_child(&server, &config, identity, reason, sizeof(reason))) {
		control_say(json_pack("{s:s,s:s}", "event", "failed", "reason", reason));
		_exit(2);
	}
	serve_say_ready(&config);
	status = serve(server, true, -1);
	serve_stop(server, true);
	_exit(status);
}

/* ---- in the parent ---- */

/* The child's next line, or NULL when it has ended. */
static json_t *hear(struct child *child)
{
	char *line = NULL;
	size_t size = 0;
	json_t *object = NULL;

	if (getline(&line, &size, child->answers) > 0)
		object = json_loads(line, 0, NULL);
	free(line);
	return object;
}

static void tell(const struct child *child, const char *command)
{
	/* One that has ended is noticed when its answer is missing. */
	send(child->fd, command, strlen(command), MSG_NOSIGNAL);
}

static int start_child(struct prefork *prefork, const struct server_config *config,
		       struct tls_identity *identity)
{
	struct child *child = &prefork->children[prefork->started];
	pid_t parent = getpid();
	int pair[2], error;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	child->answers = fdopen(pair[0], "r");
	error = -errno;
	child->pid = child->answers ? fork() : -1;
	if (child->pid == 0) {
		become_worker(pair[1], parent);
		child_main(config, identity);
	}
	if (child->answers && child->pid < 0)
		error = -errno;
	close(pair[1]);
	child->fd = pair[0];
	if (child->pid > 0) {
		prefork->started++;
		return 0;
	}
	if (child->answers)
		fclose(child->answers);
	else
		close(pair[0]);
	return error;
}

static int await_ready(struct child *child, char *reason, size_t size)
{
	json_t *ready = hear(child);
	const char *event = json_string_value(json_object_get(ready, "event"));
	const char *why = json_string_value(json_object_get(ready, "reason"));
	int rc = event && !strcmp(event, "ready") ? 0 : -ECHILD;

	if (rc)
		snprintf(reason, size, "a worker process can not start: %s",
			 why ? why : "it ended without a word");
	json_decref(ready);
	return rc;
}

int prefork_start(struct prefork **out, const struct server_config *config,
		  struct tls_identity *identity, char *reason, size_t reason_size)
{
	unsigned workers = config->sizing.workers;
	struct prefork *prefork = calloc(1, sizeof(*prefork) + workers * sizeof(struct child));
	int rc = prefork ? 0 : -ENOMEM;

	while (!rc && prefork->started < workers)
		rc = start_child(prefork, config, identity);
	if (rc)
		snprintf(reason, reason_size, "can not start %u worker processes: %s", workers,
			 strerror(-rc));
	for (unsigned i = 0; !rc && i < workers; i++)
		rc = await_ready(&prefork->children[i], reason, reason_size);
	if (rc && prefork)
		prefork_stop(prefork, 0);
	else
		*out = prefork;
	return rc;
}

/* Adds number to number, and objects of numbers likewise. */
static void add_numbers(json_t *sum, json_t *part)
{
	const char *key;
	json_t *value;

	json_object_foreach(part, key, value)
	{
		json_t *have = json_object_get(sum, key);

		if (!have)
			json_object_set(sum, key, value);
		else if (json_is_object(have))
			add_numbers(have, value);
		else
			json_integer_set(have,
					 json_integer_value(have) + json_integer_value(value));
	}
}

json_t *prefork_stats(struct prefork *prefork)
{
	json_t *sum = json_object();

	for (unsigned i = 0; i < prefork->started; i++)
		tell(&prefork->children[i], "stats\n");
	for (unsigned i = 0; i < prefork->started; i++) {
		json_t *part = hear(&prefork->children[i]);

		add_numbers(sum, part);
		json_decref(part);
	}
	return sum;
}

bool prefork_failed(struct prefork *prefork, char *reason, size_t reason_size)
{
	for (unsigned i = 0; i < prefork->started; i++) {
		struct child *child = &prefork->children[i];
		int status;

		if (waitpid(child->pid, &status, WNOHANG) != child->pid)
			continue;
		snprintf(reason, reason_size, "worker process %d ended: %s %d", (int)child->pid,
			 WIFSIGNALED(status) ? "killed by signal" : "status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		child->pid = 0;
		return true;
	}
	return false;
}

/* Waits for a child's end: that of its words, at most until `deadline_ns`. */
static void await_end(struct child *child, uint64_t deadline_ns)
{
	struct pollfd fd = {.fd = child->fd, .events = POLLIN};
	char discard[256];

	for (;;) {
		uint64_t now = clock_now_ns();
		uint64_t left_ms = deadline_ns > now ? (deadline_ns - now) / NS_PER_MS + 1 : 0;

		if (!left_ms || poll(&fd, 1, (int)left_ms) == 0) {
			kill(child->pid, SIGKILL);
			return;
		}
		if (fd.revents && read(child->fd, discard, sizeof(discard)) <= 0)
			return;
	}
}

void prefork_stop(struct prefork *prefork, unsigned grace_s)
{
	uint64_t deadline_ns = clock_now_ns() + (grace_s + STOP_MARGIN_S) * NS_PER_S;

	for (unsigned i = 0; i < prefork->started; i++)
		tell(&prefork->children[i], "stop\n");
	for (unsigned i = 0; i < prefork->started; i++) {
		struct child *child = &prefork->children[i];

		if (child->pid) {
			await_end(child, deadline_ns);
			waitpid(child->pid, NULL, 0);
		}
		fclose(child->answers);
	}
	free(prefork);
}
