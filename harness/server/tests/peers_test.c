// SPDX-License-Identifier: Apache-2.0
/*
 * harness/server/ - parkbench-server against peers that misbehave: garbage, silence, resets,
 * half-closes, peers that do not read. For every reactor and TLS backend; after each of them
 * the server must still answer a well-behaved one, and stop when told to.
 */
#include <errno.h>
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

#include "harness/common/body.h"
#include "harness/server/tests/fixture_child.h"
#include "reactors/reactor.h"

#define GREETING_REQUEST "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

struct subject {
	const char *reactor, *tls;
};

static void start_one(struct bed_server *server, const struct subject *subject)
{
	const char *const options[] = {"--reactor",  subject->reactor,    "--tls",
				       subject->tls, "--connections=500", "--handshake-timeout=1",
				       NULL};

	bed_start(server, options);
	assert_non_null(server->ready);
}

static int start(void **state)
{
	const struct subject *subject = *state;
	struct bed_server *server = calloc(1, sizeof(*server));

	start_one(server, subject);
	*state = server;
	return 0;
}

static int stop(void **state)
{
	struct bed_server *server = *state;
	int status = bed_stop(server);

	free(server);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int dial(const struct bed_server *server)
{
	int fd = bed_dial(server);

	assert_true(fd >= 0);
	return fd;
}

static void wait_until_empty(struct bed_server *server)
{
	bed_await_stat(server, "open", 0);
}

static void wait_until_stopped(const struct bed_server *server)
{
	json_t *line = bed_line(server);

	assert_string_equal(json_string_value(json_object_get(line, "event")), "stopped");
	json_decref(line);
}

/* ---- peers ---- */

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

static bool is_plain(struct bed_server *server)
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
	struct bed_server *server = *state;
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
	struct bed_server *server = *state;
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

static void truncated_hello(void **state)
{
	/* The head of a record of 512 bytes, and a little of it. */
	static const uint8_t hello[] = {22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 1, 2, 3};
	struct bed_server *server = *state;

	for (size_t len = 1; len <= sizeof(hello); len++) {
		int fd = dial(server);

		assert_int_equal(send(fd, hello, len, MSG_NOSIGNAL), len);
		close(fd);
	}
	wait_until_empty(server);
}

static void resets(void **state)
{
	struct bed_server *server = *state;

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
	struct bed_server *server = *state;
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
	struct bed_server *server = *state;
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
	struct bed_server *server = *state;
	int fds[32];

	for (size_t i = 0; i < 32; i++)
		fds[i] = dial(server);
	dprintf(server->in, "stop\n");
	wait_until_stopped(server);
	for (size_t i = 0; i < 32; i++) {
		drain(fds[i], NULL, 0, true);
		close(fds[i]);
	}
}

/* Under --control, too, and with the commands' end of the pipe still open. */
static void a_signal_stops_it_after_a_command(void **state)
{
	struct bed_server *server = *state;

	bed_stat(server, "open");
	assert_int_equal(kill(server->pid, SIGTERM), 0);
	wait_until_stopped(server);
}

/* ---- peers that are silent: of all servers at once, so that their deadlines pass together ---- */

#define BACKENDS 3

static struct subject subjects[REACTOR_MAX * BACKENDS];
static size_t subject_count;

static struct silent {
	struct bed_server server;
	int fd;
} silent[REACTOR_MAX * BACKENDS];

static int fall_silent(void **state)
{
	(void)state;
	for (size_t i = 0; i < subject_count; i++) {
		struct silent *peer = &silent[i];
		bool plain;

		start_one(&peer->server, &subjects[i]);
		plain = is_plain(&peer->server);
		peer->fd = dial(&peer->server);
		/* With plain nothing but a request that was begun has a deadline. */
		if (plain)
			assert_int_equal(send(peer->fd, "GET", 3, MSG_NOSIGNAL), 3);
	}
	return 0;
}

static void silence(void **state)
{
	struct silent *peer = *state;

	drain(peer->fd, NULL, 0, true);
	close(peer->fd);
	wait_until_empty(&peer->server);
	assert_int_equal(bed_stop(&peer->server), 0);
}

/* ---- for every reactor and backend ---- */

static const struct {
	const char *name;
	CMUnitTestFunction run;
	bool plain_only; /* needs a peer that speaks; with TLS: interop_test.sh */
} cases[] = {
	{"garbage", garbage, false},
	{"a refused peer gets the reason", a_refused_peer_gets_the_reason, false},
	{"truncated hello", truncated_hello, false},
	{"resets", resets, false},
	{"half-close is answered", half_close_is_answered, true},
	{"a peer that does not read", a_peer_that_does_not_read, true},
	{"stops with peers connected", stops_with_peers_connected, false},
	{"a signal stops it after a command", a_signal_stops_it_after_a_command, false},
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

static bool built(const char *tls)
{
	const char *dir = getenv("PARKBENCH_TLS_DIR");
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.so", dir ? dir : "build/tls", tls);
	return access(path, R_OK) == 0;
}

static void find_subjects(void)
{
	static const char *const backends[BACKENDS] = {"plain", "openssl", "boringssl"};
	const struct reactor_ops *const *reactors;
	char reason[256];
	size_t count;

	reactors = reactor_all(&count);
	for (size_t r = 0; r < count; r++) {
		if (reactors[r]->probe(reason, sizeof(reason)))
			continue;
		for (size_t b = 0; b < BACKENDS; b++)
			if (built(backends[b]))
				subjects[subject_count++] =
					(struct subject){reactors[r]->name, backends[b]};
	}
}

static char names[REACTOR_MAX * BACKENDS * (CASES + 1)][80];
static size_t name_count;

static const char *name_of(const struct subject *subject, const char *test)
{
	char *name = names[name_count++];

	snprintf(name, sizeof(names[0]), "%s+%s: %s", subject->reactor, subject->tls, test);
	return name;
}

static int run_cases(void)
{
	static struct CMUnitTest tests[REACTOR_MAX * BACKENDS * CASES];
	size_t n = 0;

	for (size_t s = 0; s < subject_count; s++) {
		for (size_t c = 0; c < CASES; c++) {
			if (cases[c].plain_only && strcmp(subjects[s].tls, "plain"))
				continue;
			tests[n++] = (struct CMUnitTest){name_of(&subjects[s], cases[c].name),
							 cases[c].run, start, stop, &subjects[s]};
		}
	}
	return _cmocka_run_group_tests("peers", tests, n, NULL, NULL);
}

static int run_silence(void)
{
	static struct CMUnitTest tests[REACTOR_MAX * BACKENDS];

	for (size_t s = 0; s < subject_count; s++)
		tests[s] = (struct CMUnitTest){name_of(&subjects[s], "silence"), silence, NULL,
					       NULL, &silent[s]};
	return _cmocka_run_group_tests("silent peers", tests, subject_count, fall_silent, NULL);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	find_subjects();
	return run_cases() + run_silence();
}
