// SPDX-License-Identifier: Apache-2.0
/* reactors/tests/ - the contract of reactor.h: run, wake, accepting. */
#include "reactors/tests/fixture.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void run_once(struct bed *bed, uint64_t deadline_ns)
{
	int error;

	bed->in_run = true;
	error = bed->loop.ops->run(&bed->loop, deadline_ns);
	bed->in_run = false;
	assert_int_equal(bed_answer(bed, "run", error), 0);
}

/* A loop in which nothing happens waits for its deadline: it does not spin until then. */
static void assert_waits(struct bed *bed)
{
	uint64_t deadline_ns = bed_now_ns() + 50000000;
	unsigned runs = 0;

	while (bed_now_ns() < deadline_ns) {
		run_once(bed, deadline_ns);
		runs++;
	}
	assert_in_range(runs, 1, 100);
}

static void deadlines(struct bed *bed)
{
	struct bed_peer *peer;

	bed_pair(bed, &peer);
	for (int i = 0; i < 100; i++)
		run_once(bed, 0);
	run_once(bed, bed_now_ns() - 1);
	assert_waits(bed);
}

/* The kernel goes on to have something to tell of these, but nobody wants it. */
static void closed_gate_waits(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	assert_int_equal(bed_gate(bed, slot, false), 0);
	peer->to_send = 1000;
	bed_steps(bed, 5);
	assert_waits(bed);
	bed_reset(peer);
	bed_steps(bed, 5);
	assert_waits(bed);
	assert_int_equal(bed->conns[slot].end, END_NONE);
	assert_int_equal(bed_gate(bed, slot, true), 0);
	bed_until(bed, bed->conns[slot].end != END_NONE);
}

static void told_end_waits(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	shutdown(peer->fd, SHUT_WR);
	bed_until(bed, bed->conns[slot].end == 0);
	assert_waits(bed);
	bed_reset(peer);
	bed_steps(bed, 5);
	assert_waits(bed);
}

/* A loop that never waits must still serve: here nothing but looks. */
static void looks_serve(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	time_t limit = time(NULL) + 60;

	peer->to_send = 1;
	bed_peer_write(peer);
	while (bed->conns[slot].received == 0 && time(NULL) < limit)
		run_once(bed, 0);
	assert_int_equal(bed->conns[slot].received, 1);
}

static void *wake_later(void *arg)
{
	struct reactor_loop *loop = arg;

	usleep(10000);
	loop->ops->wake(loop);
	return NULL;
}

static void wake_from_thread(struct bed *bed)
{
	for (int i = 0; i < 5; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, wake_later, &bed->loop), 0);
		run_once(bed, UINT64_MAX);
		pthread_join(thread, NULL);
		run_once(bed, 0);
	}
}

static void wake_before_run(struct bed *bed)
{
	bed->loop.ops->wake(&bed->loop);
	bed->loop.ops->wake(&bed->loop);
	run_once(bed, UINT64_MAX);
	bed->loop.ops->wake(&bed->loop);
	run_once(bed, UINT64_MAX);
}

static void wake_in_upcall(struct bed *bed, uint32_t slot, ssize_t n)
{
	(void)slot, (void)n;
	bed->loop.ops->wake(&bed->loop);
}

/* What was done in upcalls is to be seen by the caller of run: it returns. */
static void run_returns_after_upcalls(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	for (size_t i = 1; i <= 20; i++) {
		peer->to_send = i;
		bed_peer_write(peer);
		while (bed->conns[slot].received < i)
			run_once(bed, UINT64_MAX);
	}
	bed->on_received = wake_in_upcall;
	peer->to_send++;
	bed_until(bed, bed->conns[slot].received == peer->to_send);
}

/* A close that was asked for between two runs is something that happened. */
static void run_returns_for_close(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	bed_steps(bed, 3);
	bed_close_conn(bed, slot);
	while (bed->closed == 0)
		run_once(bed, UINT64_MAX);
	assert_int_equal(bed->closed, 1);
}

static int accept_gate(struct bed *bed, bool open)
{
	return bed_answer(bed, "accept_gate", bed->loop.ops->accept_gate(&bed->loop, open));
}

static void accept_gate_waits(struct bed *bed)
{
	assert_int_equal(accept_gate(bed, false), 0);
	assert_int_equal(accept_gate(bed, false), 0);
	bed_steps(bed, 2);
	for (int i = 0; i < 100; i++)
		bed_connect(bed);
	bed_steps(bed, 5);
	assert_int_equal(bed->accepted, 0);
	assert_int_equal(accept_gate(bed, true), 0);
	assert_int_equal(accept_gate(bed, true), 0);
	bed_until(bed, bed->accepted == 100);
	bed_connect(bed);
	bed_until(bed, bed->accepted == 101);
}

/* Those accepted by the kernel before it knew of the closed gate may still come. */
static void accept_gate_in_upcall(struct bed *bed)
{
	unsigned before;

	bed->accept_limit = 5;
	for (int i = 0; i < 20; i++)
		bed_connect(bed);
	bed_until(bed, bed->accepted >= 5);
	bed_steps(bed, 10);
	before = bed->accepted;
	for (int i = 0; i < 20; i++)
		bed_connect(bed);
	bed_steps(bed, 10);
	assert_int_equal(bed->accepted, before);
	assert_int_equal(accept_gate(bed, true), 0);
	bed_until(bed, bed->accepted == 40);
	assert_int_equal(bed->accept_errors, 0);
}

/* Leaves no room for another file: the lowest free number becomes the limit. */
static void fill_file_table(struct rlimit *saved)
{
	struct rlimit full;
	int lowest = dup(STDIN_FILENO);

	assert_true(lowest >= 0);
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, saved), 0);
	full = (struct rlimit){.rlim_cur = (rlim_t)lowest, .rlim_max = saved->rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
}

static void accept_without_files(struct bed *bed)
{
	unsigned first_errors, first_upcalls, errors;
	struct rlimit saved;

	for (int i = 0; i < 5; i++)
		bed_connect(bed);
	fill_file_table(&saved);
	bed_steps(bed, 50);
	first_errors = bed->accept_errors;
	first_upcalls = bed->upcalls;
	accept_gate(bed, true);
	bed_steps(bed, 50);
	errors = bed->accept_errors;
	setrlimit(RLIMIT_NOFILE, &saved);
	assert_int_equal(first_errors, 1);
	assert_int_equal(first_upcalls, 1);
	assert_int_equal(errors, 2);
	assert_int_equal(bed->accept_error, -EMFILE);
	bed_steps(bed, 5);
	assert_int_equal(bed->accepted, 0);
	assert_int_equal(accept_gate(bed, true), 0);
	bed_until(bed, bed->accepted == 5);
	assert_int_equal(bed->accept_errors, 2);
}

/* A worker that was full comes back with another listener. Nothing of the former is told, be
 * the engine done with it by then or not. */
static void listens_again(struct bed *bed)
{
	for (int steps = 0; steps < 4; steps++) {
		unsigned before = bed->accepted;
		uint16_t port;

		bed_connect(bed);
		bed_until(bed, bed->accepted == before + 1);
		assert_int_equal(accept_gate(bed, false), 0);
		shutdown(bed->listen_fd, SHUT_RD);
		close(bed->listen_fd);
		bed_steps(bed, steps);
		bed->listen_fd = bed_listener(&port, 64);
		assert_int_equal(bed->loop.ops->listen(&bed->loop, bed->listen_fd), 0);
		for (int i = 0; i < 20; i++)
			bed_connect(bed);
		bed_until(bed, bed->accepted == before + 21);
	}
	bed_steps(bed, 3);
	assert_int_equal(bed->accept_errors, 0);
}

static void nothing_happens(struct bed *bed)
{
	bed_steps(bed, 3);
	assert_int_equal(bed->upcalls, 0);
}

static const struct bed_case cases[] = {
	{"starts and ends without a connection", nothing_happens},
	{"deadlines: none left, past and future", deadlines},
	{"a closed recv gate does not spin", closed_gate_waits},
	{"an end that was told does not spin", told_end_waits},
	{"a loop that only looks still serves", looks_serve},
	{"run returns after upcalls", run_returns_after_upcalls},
	{"run returns for a close asked from outside", run_returns_for_close},
	{"wake from another thread", wake_from_thread},
	{"wake before run", wake_before_run},
	{"accept gate closed and opened", accept_gate_waits},
	{"accept gate closed in accepted", accept_gate_in_upcall},
	{"no file left to accept with: EMFILE", accept_without_files},
	{"another listener after the first", listens_again},
};

int main(void)
{
	return bed_run_cases("reactor contract: the loop", cases, ARRAY_SIZE(cases));
}
