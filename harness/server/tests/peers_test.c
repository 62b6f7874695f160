// SPDX-License-Identifier: Apache-2.0
/*
 * harness/server/ - parkbench-server against peers that misbehave: garbage, silence, resets,
 * half-closes, peers that do not read. For every reactor and TLS backend; after each of them
 * the server must still answer a well-behaved one, and stop when told to.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "harness/common/body.h"
#include "reactors/reactor.h"

#define PATIENCE_S 20
#define GREETING_REQUEST "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

struct subject {
	const char *reactor, *tls;
};

struct server {
	pid_t pid;
	int in, out;
	unsigned port;
};

/* ---- the server as a child, driven by --control ---- */

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

static void exec_server(const struct subject *subject, unsigned port)
{
	const char *dir = getenv("O") ? getenv("O") : "build";
	char path[256], listen_at[32];

	snprintf(path, sizeof(path), "%s/parkbench-server", dir);
	snprintf(listen_at, sizeof(listen_at), "127.0.0.1:%u", port);
	execl(path, path, "--reactor", subject->reactor, "--tls", subject->tls, "--listen",
	      listen_at, "--connections", "500", "--handshake-timeout", "1", "--control",
	      (char *)NULL);
	_exit(127);
}

static void read_line(struct server *server, char *line, size_t size)
{
	size_t len = 0;

	do {
		struct pollfd fd = {.fd = server->out, .events = POLLIN};

		assert_int_equal(poll(&fd, 1, PATIENCE_S * 1000), 1);
		assert_int_equal(read(server->out, line + len, 1), 1);
		assert_true(len + 1 < size);
	} while (line[len++] != '\n');
	line[len] = '\0';
}

static int start(void **state)
{
	struct subject *subject = *state;
	struct server *server = calloc(1, sizeof(*server));
	char line[1024];
	int in[2], out[2];

	server->port = free_port();
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	server->pid = fork();
	if (!server->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		exec_server(subject, server->port);
	}
	close(in[0]);
	close(out[1]);
	server->in = in[1];
	server->out = out[0];
	read_line(server, line, sizeof(line));
	assert_non_null(strstr(line, "\"ready\""));
	*state = server;
	return 0;
}

static void command(struct server *server, const char *text)
{
	assert_int_equal(write(server->in, text, strlen(text)), strlen(text));
}

static json_t *stats(struct server *server)
{
	char line[4096];
	json_t *object;

	command(server, "stats\n");
	read_line(server, line, sizeof(line));
	object = json_loads(line, 0, NULL);
	assert_non_null(object);
	return object;
}

static json_int_t stat_of(struct server *server, const char *name)
{
	json_t *object = stats(server);
	json_int_t value = json_integer_value(json_object_get(object, name));

	json_decref(object);
	return value;
}

/* Waits until the server holds nothing any more. */
static void wait_until_empty(struct server *server)
{
	for (int i = 0; i < PATIENCE_S * 20; i++) {
		if (!stat_of(server, "open"))
			return;
		poll(NULL, 0, 50);
	}
	fail_msg("connections are left open");
}

static int stop(void **state)
{
	struct server *server = *state;
	int status = -1;

	if (server->in >= 0)
		close(server->in);
	for (int i = 0; i < PATIENCE_S * 20 && waitpid(server->pid, &status, WNOHANG) == 0; i++)
		poll(NULL, 0, 50);
	if (status == -1) {
		kill(server->pid, SIGKILL);
		waitpid(server->pid, &status, 0);
	}
	close(server->out);
	free(server);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* ---- peers ---- */

static int dial(const struct server *server)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)server->port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Reads to the end of the stream; how much. Fails the test when the end does not come; a reset
 * counts as an end where `reset_is_fine`. */
static size_t drain(int fd, char *buf, size_t size, bool reset_is_fine)
{
	size_t len = 0;

	for (;;) {
		char scratch[16384];
		ssize_t n = recv(fd, scratch, sizeof(scratch), 0);

		if (n < 0 && errno == EINTR)
			continue; /* a probe of io_uring left work to this thread */
		if (n < 0 && errno == ECONNRESET && reset_is_fine)
			return len;
		if (n < 0)
			fail_msg("the end does not come: %s", strerror(errno));
		if (n == 0)
			return len;
		for (ssize_t i = 0; buf && i < n && len + (size_t)i + 1 < size; i++)
			buf[len + (size_t)i] = scratch[i];
		len += (size_t)n;
		if (buf)
			buf[len < size ? len : size - 1] = '\0';
	}
}

static void hang_up_hard(int fd)
{
	const struct linger none = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(fd);
}

static bool is_plain(struct server *server)
{
	/* A TLS server answers plain HTTP with an alert, a plain one with HTTP. */
	char answer[512] = "";
	int fd = dial(server);

	assert_int_equal(send(fd, "GET /healthz HTTP/1.0\r\n\r\n", 25, MSG_NOSIGNAL), 25);
	drain(fd, answer, sizeof(answer), true);
	close(fd);
	return !strncmp(answer, "HTTP/1.1 200", 12);
}

static void garbage(void **state)
{
	struct server *server = *state;
	static uint8_t noise[1 << 18];
	unsigned seed = 1;

	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)rand_r(&seed);
	for (size_t len = 1; len <= sizeof(noise); len *= 8) {
		int fd = dial(server);

		send(fd, noise, len, MSG_NOSIGNAL);
		shutdown(fd, SHUT_WR);
		drain(fd, NULL, 0, true);
		close(fd);
	}
	wait_until_empty(server);
	is_plain(server);
}

static void a_refused_peer_gets_the_reason(void **state)
{
	struct server *server = *state;
	char answer[512] = "";
	bool plain = is_plain(server);
	int fd = dial(server);

	/* A record with half a ServerHello; no HTTP either. */
	assert_int_equal(send(fd, "\x16\x03\x01\0\x05\x02\0\0\x01\0", 10, MSG_NOSIGNAL), 10);
	assert_true(drain(fd, answer, sizeof(answer), false) > 0);
	if (plain)
		assert_memory_equal(answer, "HTTP/1.1 400", 12);
	else
		assert_int_equal(answer[0], 21); /* an alert record */
	close(fd);
}

static void silence(void **state)
{
	struct server *server = *state;
	bool plain = is_plain(server);
	int fd = dial(server);

	/* With plain nothing but a request that was begun has a deadline. */
	if (plain)
		assert_int_equal(send(fd, "GET", 3, MSG_NOSIGNAL), 3);
	drain(fd, NULL, 0, true);
	close(fd);
	wait_until_empty(server);
}

static void truncated_hello(void **state)
{
	/* The head of a record of 512 bytes, and a little of it. */
	static const uint8_t hello[] = {22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 1, 2, 3};
	struct server *server = *state;

	for (size_t len = 1; len <= sizeof(hello); len++) {
		int fd = dial(server);

		assert_int_equal(send(fd, hello, len, MSG_NOSIGNAL), len);
		close(fd);
	}
	wait_until_empty(server);
}

static void resets(void **state)
{
	struct server *server = *state;

	for (int i = 0; i < 50; i++) {
		int fd = dial(server);

		if (i % 3)
			send(fd, "\x16\x03\x01\x02", (size_t)(i % 5), MSG_NOSIGNAL);
		hang_up_hard(fd);
	}
	wait_until_empty(server);
	is_plain(server);
}

static void half_close_is_answered(void **state)
{
	struct server *server = *state;
	char answer[512] = "";
	int fd = dial(server);

	assert_int_equal(send(fd, GREETING_REQUEST, strlen(GREETING_REQUEST), MSG_NOSIGNAL),
			 strlen(GREETING_REQUEST));
	shutdown(fd, SHUT_WR);
	drain(fd, answer, sizeof(answer), false);
	assert_non_null(strstr(answer, BODY_GREETING));
	close(fd);
}

/* A pipeline of requests for far more than all buffers hold, by a peer that reads only after it
 * has sent everything it can: the server has to hold back its reading, and lose nothing. */
static void a_peer_that_does_not_read(void **state)
{
	static const char request[] = "GET /50000 HTTP/1.1\r\nHost: a\r\n\r\n";
	const int requests = 2000;
	struct server *server = *state;
	size_t len, sent = 0, total = requests * (sizeof(request) - 1);
	size_t body_total = (size_t)requests * 50000;
	int fd = dial(server);

	for (int stalls = 0; sent < total && stalls < 20;) {
		size_t at = sent % (sizeof(request) - 1);
		ssize_t n = send(fd, request + at, sizeof(request) - 1 - at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			sent += (size_t)n;
			continue;
		}
		stalls++;
		poll(NULL, 0, 10);
	}
	is_plain(server); /* others are served meanwhile */
	shutdown(fd, SHUT_WR);
	len = drain(fd, NULL, 0, false);
	if (sent == total)
		assert_true(len > body_total);
	assert_true(len > sent / (sizeof(request) - 1) * 50000);
	close(fd);
}

static void stops_with_peers_connected(void **state)
{
	struct server *server = *state;
	char line[256];
	int fds[32];

	for (size_t i = 0; i < 32; i++)
		fds[i] = dial(server);
	command(server, "stop\n");
	read_line(server, line, sizeof(line));
	assert_non_null(strstr(line, "\"stopped\""));
	for (size_t i = 0; i < 32; i++) {
		drain(fds[i], NULL, 0, true);
		close(fds[i]);
	}
}

/* Under --control, too, and with the commands' end of the pipe still open. */
static void a_signal_stops_it_after_a_command(void **state)
{
	struct server *server = *state;
	char line[256];

	stat_of(server, "open");
	assert_int_equal(kill(server->pid, SIGTERM), 0);
	read_line(server, line, sizeof(line));
	assert_non_null(strstr(line, "\"stopped\""));
}

/* ---- for every reactor and backend ---- */

static const struct {
	const char *name;
	CMUnitTestFunction run;
	bool plain_only; /* needs a peer that speaks; with TLS: interop_test.sh */
} cases[] = {
	{"garbage", garbage, false},
	{"a refused peer gets the reason", a_refused_peer_gets_the_reason, false},
	{"silence", silence, false},
	{"truncated hello", truncated_hello, false},
	{"resets", resets, false},
	{"half-close is answered", half_close_is_answered, true},
	{"a peer that does not read", a_peer_that_does_not_read, true},
	{"stops with peers connected", stops_with_peers_connected, false},
	{"a signal stops it after a command", a_signal_stops_it_after_a_command, false},
};

#define CASES (sizeof(cases) / sizeof(cases[0]))
#define BACKENDS 3

static bool built(const char *tls)
{
	const char *dir = getenv("PARKBENCH_TLS_DIR");
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.so", dir ? dir : "build/tls", tls);
	return access(path, R_OK) == 0;
}

int main(void)
{
	static const char *const backends[BACKENDS] = {"plain", "openssl", "boringssl"};
	static struct CMUnitTest tests[REACTOR_MAX * BACKENDS * CASES];
	static struct subject subjects[REACTOR_MAX * BACKENDS];
	static char names[REACTOR_MAX * BACKENDS * CASES][80];
	const struct reactor_ops *const *reactors;
	size_t count, n = 0, s = 0;
	char reason[256];

	signal(SIGPIPE, SIG_IGN);
	reactors = reactor_all(&count);
	for (size_t r = 0; r < count; r++) {
		if (reactors[r]->probe(reason, sizeof(reason)))
			continue;
		for (size_t b = 0; b < BACKENDS; b++) {
			if (!built(backends[b]))
				continue;
			subjects[s] = (struct subject){reactors[r]->name, backends[b]};
			for (size_t c = 0; c < CASES; c++) {
				if (cases[c].plain_only && strcmp(backends[b], "plain"))
					continue;
				snprintf(names[n], sizeof(names[n]), "%s+%s: %s", reactors[r]->name,
					 backends[b], cases[c].name);
				tests[n] = (struct CMUnitTest){names[n], cases[c].run, start, stop,
							       &subjects[s]};
				n++;
			}
			s++;
		}
	}
	return _cmocka_run_group_tests("peers", tests, n, NULL, NULL);
}
