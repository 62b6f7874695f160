// SPDX-License-Identifier: Apache-2.0
/*
 * harness/server/ - more clients than a server has room for: workers that are full leave the
 * others the rest, nobody hangs, nothing spins, and they come back. For every reactor, in a
 * private network, where net.ipv4.tcp_migrate_req can be set.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/bench/netns.h"
#include "harness/measure/text_file.h"
#include "harness/server/tests/fixture_child.h"
#include "reactors/reactor.h"

enum { ROOM = 60, WORKERS = 2, ALL = WORKERS * ROOM, CLIENTS = ALL + 20 };

static char no_network[512]; /* why; "" where there is one */

static void start(struct bed_server *server, const char *reactor)
{
	const char *const options[] = {"--reactor",     reactor,     "--worker-model",
				       "tables",        "--workers", "2",
				       "--connections", "60",        NULL};

	bed_start(server, options);
	assert_non_null(server->ready);
}

/* Dials them all before anyone is served, then asks on all. How many got an answer; the
 * others were refused, or saw the end: bed_answered fails the test if one hangs. */
static int crowd(const struct bed_server *server, int *fds)
{
	int served = 0;

	for (int i = 0; i < CLIENTS; i++)
		fds[i] = bed_dial(server);
	for (int i = 0; i < CLIENTS; i++)
		if (fds[i] >= 0)
			bed_ask(fds[i]);
	for (int i = 0; i < CLIENTS; i++) {
		if (fds[i] >= 0 && bed_answered(fds[i])) {
			served++;
			continue;
		}
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
	return served;
}

static void leave(int *fds, int count)
{
	for (int i = 0; i < CLIENTS && count; i++) {
		if (fds[i] < 0)
			continue;
		close(fds[i]);
		fds[i] = -1;
		count--;
	}
}

/* A loop that spins makes thousands of calls in the time of a few ticks. */
static void does_not_spin(struct bed_server *server)
{
	json_int_t before = bed_stat(server, "syscalls");

	poll(NULL, 0, 1500);
	assert_in_range(bed_stat(server, "syscalls") - before, 0, 200);
}

/* Somebody who comes later is served as soon as a worker is back. */
static void comes_back(struct bed_server *server)
{
	for (int i = 0; i < BED_PATIENCE_S * 20; i++) {
		int fd = bed_dial(server);
		bool served = fd >= 0 && bed_ask(fd) && bed_answered(fd);

		if (fd >= 0)
			close(fd);
		if (served)
			return;
		poll(NULL, 0, 50);
	}
	fail_msg("no worker comes back");
}

/* Engines whose kernel accepts on its own take more than there is room for, and turn it away;
 * otherwise all of the room is used, wherever the kernel had placed the clients. */
static void slots_fill_up(void **state)
{
	struct bed_server server;
	int fds[CLIENTS], served;

	start(&server, *state);
	served = crowd(&server, fds);
	if (!bed_stat(&server, "turned_away"))
		assert_int_equal(served, ALL);
	assert_in_range(served, ROOM, ALL);
	assert_int_equal(bed_stat(&server, "open"), served);
	assert_in_range(bed_stat(&server, "shed_listeners"), 1, CLIENTS);
	does_not_spin(&server);
	leave(fds, served / 2);
	comes_back(&server);
	leave(fds, CLIENTS);
	bed_await_stat(&server, "open", 0);
	assert_int_equal(bed_stop(&server), 0);
}

/* Trap: a ring's accept has the limit of the time at which it was armed, so there the slots
 * may fill up first. */
static void tables_fill_up(void **state)
{
	const struct rlimit few = {.rlim_cur = ROOM / 2, .rlim_max = ROOM / 2};
	struct bed_server server;
	int fds[CLIENTS], served;

	start(&server, *state);
	assert_int_equal(prlimit(server.pid, RLIMIT_NOFILE, &few, NULL), 0);
	served = crowd(&server, fds);
	assert_in_range(served, WORKERS, strstr(*state, "io_uring") ? ALL : WORKERS * ROOM / 2);
	assert_int_equal(bed_stat(&server, "open"), served);
	assert_in_range(bed_stat(&server, "shed_listeners"), WORKERS, 1000);
	does_not_spin(&server);
	leave(fds, served - 1);
	comes_back(&server);
	leave(fds, CLIENTS);
	bed_await_stat(&server, "open", 0);
	assert_int_equal(bed_stop(&server), 0);
}

static void in_network(void **state, void (*test)(void **))
{
	char reason[512];

	if (*no_network) {
		print_message("# SKIP %s\n", no_network);
		skip();
	}
	if (reactor_find(*state)->probe(reason, sizeof(reason))) {
		print_message("# SKIP %s: %s\n", (const char *)*state, reason);
		skip();
	}
	test(state);
}

static void slots(void **state)
{
	in_network(state, slots_fill_up);
}

static void tables(void **state)
{
#ifdef __SANITIZE_THREAD__
	print_message("# SKIP ThreadSanitizer needs more files than this leaves it\n");
	skip();
#endif
	in_network(state, tables_fill_up);
}

int main(void)
{
	size_t count, used = 0;
	const struct reactor_ops *const *all = reactor_all(&count);
	struct CMUnitTest *tests = calloc(2 * count, sizeof(*tests));
	static char names[2 * REACTOR_MAX][64];
	int failed;

	if (!netns_enter(0, no_network, sizeof(no_network)))
		*no_network = '\0';
	text_write("/proc/sys/net/ipv4/tcp_migrate_req", "1");
	for (size_t i = 0; i < 2 * count; i++) {
		void *name = (void *)all[i / 2]->name;

		snprintf(names[i], sizeof(names[i]), "%s: %s fill up", all[i / 2]->name,
			 i % 2 ? "tables" : "slots");
		tests[used++] =
			(struct CMUnitTest){names[i], i % 2 ? tables : slots, NULL, NULL, name};
	}
	failed = _cmocka_run_group_tests("full tables", tests, used, NULL, NULL);
	free(tests);
	return failed;
}
