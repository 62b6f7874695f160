// SPDX-License-Identifier: Apache-2.0
/* harness/server/tests/ - a parkbench-server as a child of the test. */
#include "harness/server/tests/fixture_child.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/common/body.h"

#define ARGUMENTS_MAX 32
#define REQUEST "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

static unsigned free_port(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	close(fd);
	return ntohs(a.sin_port);
}

static void exec_server(unsigned port, const char *const options[])
{
	const char *dir = getenv("O") ? getenv("O") : "build";
	const char *argv[ARGUMENTS_MAX] = {"parkbench-server", "--tls", "plain", "--control",
					   "--listen"};
	char path[256], listen_at[32];
	size_t argc = 5;

	snprintf(path, sizeof(path), "%s/parkbench-server", dir);
	snprintf(listen_at, sizeof(listen_at), "127.0.0.1:%u", port);
	argv[argc++] = listen_at;
	for (size_t i = 0; options[i] && argc + 1 < ARGUMENTS_MAX; i++)
		argv[argc++] = options[i];
	execv(path, (char *const *)argv);
	_exit(127);
}

json_t *bed_line(const struct bed_server *server)
{
	char line[4096];
	size_t len = 0;

	do {
		struct pollfd fd = {.fd = server->out, .events = POLLIN};

		assert_int_equal(poll(&fd, 1, BED_PATIENCE_S * 1000), 1);
		if (read(server->out, line + len, 1) != 1)
			return NULL;
		assert_true(len + 1 < sizeof(line));
	} while (line[len++] != '\n');
	return json_loadb(line, len, 0, NULL);
}

void bed_start(struct bed_server *server, const char *const options[])
{
	int in[2], out[2];

	signal(SIGPIPE, SIG_IGN);
	server->port = free_port();
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	server->pid = fork();
	if (!server->pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		exec_server(server->port, options);
	}
	close(in[0]);
	close(out[1]);
	server->in = in[1];
	server->out = out[0];
	server->ready = bed_line(server);
}

int bed_await_end(struct bed_server *server)
{
	int status;

	for (int i = 0; i < BED_PATIENCE_S * 50; i++) {
		if (waitpid(server->pid, &status, WNOHANG) == server->pid) {
			json_decref(server->ready);
			close(server->in);
			close(server->out);
			return status;
		}
		poll(NULL, 0, 20);
	}
	kill(server->pid, SIGKILL);
	waitpid(server->pid, &status, 0);
	fail_msg("the server does not end");
	return status;
}

int bed_stop(struct bed_server *server)
{
	dprintf(server->in, "stop\n");
	return bed_await_end(server);
}

json_int_t bed_stat(struct bed_server *server, const char *name)
{
	json_t *stats, *counter;
	json_int_t value;

	dprintf(server->in, "stats\n");
	stats = bed_line(server);
	counter = json_object_get(stats, name);
	assert_non_null(counter);
	value = json_integer_value(counter);
	json_decref(stats);
	return value;
}

void bed_await_stat(struct bed_server *server, const char *name, json_int_t value)
{
	for (int i = 0; i < BED_PATIENCE_S * 50 && bed_stat(server, name) != value; i++)
		poll(NULL, 0, 20);
	assert_int_equal(bed_stat(server, name), value);
}

size_t bed_children(pid_t pid, pid_t *children, size_t max)
{
	char path[64];
	size_t count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (count < max && fscanf(file, "%d", &children[count]) == 1)
		count++;
	fclose(file);
	return count;
}

/* ---- clients ---- */

int bed_dial(const struct bed_server *server)
{
	const struct timeval patience = {.tv_sec = BED_PATIENCE_S};
	const struct sockaddr_in a = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)server->port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error;

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (const struct sockaddr *)&a, sizeof(a)))
		return fd;
	error = errno;
	close(fd);
	return -error;
}

bool bed_ask(int fd)
{
	return send(fd, REQUEST, sizeof(REQUEST) - 1, MSG_NOSIGNAL) == sizeof(REQUEST) - 1;
}

bool bed_answered(int fd)
{
	char text[1024];
	size_t len = 0;

	while (len + 1 < sizeof(text)) {
		ssize_t n = recv(fd, text + len, sizeof(text) - 1 - len, 0);

		if (n < 0 && errno == EAGAIN)
			fail_msg("a client hangs");
		if (n <= 0)
			return false;
		len += (size_t)n;
		text[len] = '\0';
		if (strstr(text, BODY_GREETING))
			return strstr(text, " 200 ") != NULL;
	}
	return false;
}
