// SPDX-License-Identifier: Apache-2.0
/*
 * harness/server/ - the worker models: whatever a worker is, the server starts, serves, sums up
 * what its workers count, and leaves nobody behind, however it ends.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/server/tests/fixture.h"

enum { WORKERS = 3, CLIENTS = 48 };

static void start(struct bed_server *server, const char *model)
{
	const char *const options[] = {
		"--worker-model", model, "--workers", "3", "--connections", "500",
		"--idle-timeout", "60",  NULL};

	bed_start(server, options);
	assert_string_equal(json_string_value(json_object_get(server->ready, "event")), "ready");
}

static void ask_all(int *fds)
{
	for (int i = 0; i < CLIENTS; i++)
		assert_true(bed_ask(fds[i]));
	for (int i = 0; i < CLIENTS; i++)
		assert_true(bed_answered(fds[i]));
}

static void serves_and_sums_up(void **state)
{
	const char *model = *state;
	struct bed_server server;
	int fds[CLIENTS];

	start(&server, model);
	assert_string_equal(json_string_value(json_object_get(server.ready, "worker_model")),
			    model);
	assert_int_equal(json_integer_value(json_object_get(server.ready, "workers")), WORKERS);
	assert_int_equal(
		json_integer_value(json_object_get(server.ready, "connections_per_worker")), 500);
	for (int i = 0; i < CLIENTS; i++)
		assert_true((fds[i] = bed_dial(&server)) >= 0);
	ask_all(fds);
	ask_all(fds);
	assert_int_equal(bed_stat(&server, "open"), CLIENTS);
	assert_int_equal(bed_stat(&server, "accepted"), CLIENTS);
	assert_int_equal(bed_stat(&server, "responses"), 2 * CLIENTS);
	for (int i = 0; i < CLIENTS; i++)
		close(fds[i]);
	bed_await_stat(&server, "open", 0);
	assert_int_equal(bed_stop(&server), 0);
}

/* A copy of a descriptor in another worker's table would keep the connection, or the
 * listener, from ending. */
static void what_is_closed_is_closed(void **state)
{
	struct bed_server server;
	char byte;
	int fd;

	start(&server, *state);
	fd = bed_dial(&server);
	assert_true(bed_ask(fd));
	assert_true(bed_answered(fd));
	dprintf(server.in, "stop\n");
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	for (int i = 0; i < BED_PATIENCE_S * 50 && bed_dial(&server) != -ECONNREFUSED; i++)
		poll(NULL, 0, 20);
	assert_int_equal(bed_dial(&server), -ECONNREFUSED);
	close(fd);
	assert_int_equal(bed_await_end(&server), 0);
}

static void stops_with_clients_by_signal(void **state)
{
	struct bed_server server;
	int fd;

	start(&server, *state);
	fd = bed_dial(&server);
	assert_true(bed_ask(fd));
	assert_true(bed_answered(fd));
	kill(server.pid, SIGTERM);
	assert_int_equal(bed_await_end(&server), 0);
	close(fd);
}

static void the_port_is_not_shared_in_silence(void **state)
{
	struct bed_server server, second = {0};
	char listen_at[32];
	const char *const options[] = {"--listen", listen_at, "--worker-model", *state, NULL};

	start(&server, *state);
	snprintf(listen_at, sizeof(listen_at), "127.0.0.1:%u", server.port);
	bed_start(&second, options);
	assert_null(second.ready);
	assert_int_equal(WEXITSTATUS(bed_await_end(&second)), 2);
	assert_int_equal(bed_stop(&server), 0);
}

/* ---- processes ---- */

/* Orphans become ours, so that their end can be waited for. */
static void await_orphans(const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int left = BED_PATIENCE_S * 50;

		while (left-- && waitpid(pids[i], NULL, WNOHANG) == 0)
			poll(NULL, 0, 20);
		assert_true(kill(pids[i], 0) < 0 && errno == ESRCH);
	}
}

static void children_end_with_their_parent(void **state)
{
	struct bed_server server;
	pid_t children[WORKERS + 1];

	(void)state;
	start(&server, "processes");
	assert_int_equal(bed_children(server.pid, children, WORKERS + 1), WORKERS);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	kill(server.pid, SIGKILL);
	assert_true(WIFSIGNALED(bed_await_end(&server)));
	await_orphans(children, WORKERS);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void the_parent_ends_with_a_child(void **state)
{
	struct bed_server server;
	pid_t children[WORKERS + 1];

	(void)state;
	start(&server, "processes");
	assert_int_equal(bed_children(server.pid, children, WORKERS + 1), WORKERS);
	kill(children[1], SIGKILL);
	assert_int_equal(WEXITSTATUS(bed_await_end(&server)), 1);
	for (size_t i = 0; i < WORKERS; i++)
		assert_true(kill(children[i], 0) < 0 && errno == ESRCH);
}

static void what_can_not_fit_is_refused(void **state)
{
	const char *const options[] = {"--connections", "90000000", "--workers", "1", NULL};
	struct bed_server server;

	(void)state;
	bed_start(&server, options);
	assert_null(server.ready);
	assert_int_equal(WEXITSTATUS(bed_await_end(&server)), 2);
}

int main(void)
{
	static char threads[] = "threads", tables[] = "tables", processes[] = "processes";
#define EACH_MODEL(test)                                                                           \
	{#test ": threads", test, NULL, NULL, threads},                                            \
		{#test ": tables", test, NULL, NULL, tables},                                      \
	{                                                                                          \
#test ": processes", test, NULL, NULL, processes                                   \
	}
	const struct CMUnitTest tests[] = {
		EACH_MODEL(serves_and_sums_up),
		EACH_MODEL(what_is_closed_is_closed),
		EACH_MODEL(stops_with_clients_by_signal),
		EACH_MODEL(the_port_is_not_shared_in_silence),
		cmocka_unit_test(children_end_with_their_parent),
		cmocka_unit_test(the_parent_ends_with_a_child),
		cmocka_unit_test(what_can_not_fit_is_refused),
	};

	return cmocka_run_group_tests_name("worker models", tests, NULL, NULL);
}
