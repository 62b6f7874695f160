// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/tests/ - level deep on a line that delays packets, reorders and loses them, while
 * connections park and wake at all times: no byte may be wrong, no connection be reset. The line is
 * a netfilter queue in PREROUTING, which a thread of the test reads. CONNECTIONS, ROUNDS in the
 * environment: more than a test has the time for.
 */
#include "reactors/tests/fixture.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reactors/c1m_queue.h"

enum {
	LINE_QUEUE = 60000,
	LINE_HELD = 65536,
	DELAY_US = 15000, /* at most */
	LOST_OF_1000 = 5,
};

struct line {
	struct c1m_queue queue;
	pthread_t thread;
	atomic_bool ending;
	unsigned seed, count;
	struct {
		uint32_t id;
		uint64_t due_ns;
	} held[LINE_HELD];
};

static void take(struct line *line, uint32_t id)
{
	if (rand_r(&line->seed) % 1000 < LOST_OF_1000 || line->count == LINE_HELD) {
		c1m_queue_drop(&line->queue, id);
		return;
	}
	line->held[line->count].id = id;
	line->held[line->count].due_ns =
		bed_now_ns() + (uint64_t)(rand_r(&line->seed) % DELAY_US) * 1000;
	line->count++;
}

static void pass_on(struct line *line, uint64_t until_ns)
{
	for (unsigned i = 0; i < line->count;) {
		if (line->held[i].due_ns > until_ns) {
			i++;
			continue;
		}
		c1m_queue_accept(&line->queue, line->held[i].id);
		line->held[i] = line->held[--line->count];
	}
}

static void *be_the_line(void *arg)
{
	struct line *line = arg;
	struct pollfd fd = {.fd = c1m_queue_fd(&line->queue), .events = POLLIN};

	while (!atomic_load(&line->ending)) {
		struct c1m_packet packets[C1M_QUEUE_BATCH];
		int count;

		poll(&fd, 1, 1);
		count = c1m_queue_read(&line->queue, packets);
		for (int i = 0; i < count; i++)
			take(line, packets[i].id);
		pass_on(line, bed_now_ns());
	}
	pass_on(line, UINT64_MAX);
	return NULL;
}

static void run_or_fail(const char *command)
{
	if (system(command))
		fail_msg("failed: %s", command);
}

static struct line *start_line(void)
{
	struct line *line = calloc(1, sizeof(*line));

	assert_non_null(line);
	line->seed = 1;
	assert_int_equal(c1m_queue_open(&line->queue, LINE_QUEUE), 0);
	run_or_fail("ip link set lo mtu 1500 && iptables -w -t mangle -A PREROUTING -p tcp "
		    "-j NFQUEUE --queue-num 60000");
	assert_int_equal(pthread_create(&line->thread, NULL, be_the_line, line), 0);
	return line;
}

static void end_line(struct line *line)
{
	run_or_fail("iptables -w -t mangle -F PREROUTING");
	atomic_store(&line->ending, true);
	pthread_join(line->thread, NULL);
	c1m_queue_close(&line->queue);
	free(line);
}

/* ---- the connections ---- */

static unsigned setting(const char *name, unsigned otherwise)
{
	const char *value = getenv(name);

	return value ? (unsigned)strtoul(value, NULL, 10) : otherwise;
}

static void echo_and_park(struct bed *bed, uint32_t slot, ssize_t n)
{
	if (!bed->loop.slots[slot].active)
		bed_unpark(bed, slot);
	bed_check(bed, n > 0, "a connection has ended");
	if (n > 0)
		bed_check(bed, bed_send(bed, slot, (size_t)n) >= 0, "the echo was refused");
	if (!bed->conns[slot].sending)
		bed_check(bed, bed_park(bed, slot) == 0, "park failed");
}

/* Peers that have their answer speak again, after a while of their own. */
static unsigned speak(struct bed *bed, unsigned count, unsigned rounds, unsigned *round,
		      uint64_t *next_ns)
{
	unsigned done = 0;

	for (unsigned i = 0; i < count; i++) {
		struct bed_peer *peer = &bed->peers[i];

		if (peer->received < peer->to_send)
			continue;
		if (round[i] == rounds) {
			done++;
		} else if (!next_ns[i]) {
			next_ns[i] = bed_now_ns() + (uint64_t)(rand() % 60000) * 1000;
		} else if (bed_now_ns() >= next_ns[i]) {
			peer->to_send += (size_t)rand() % 10000 + 1;
			round[i]++;
			next_ns[i] = 0;
		}
	}
	return done;
}

static void storm(struct bed *bed)
{
	unsigned count = setting("CONNECTIONS", 200), rounds = setting("ROUNDS", 10);
	unsigned *round = calloc(count, sizeof(*round));
	uint64_t *next_ns = calloc(count, sizeof(*next_ns));
	struct line *line = start_line();
	time_t limit = time(NULL) + 60 + rounds * 10;

	assert_true(round && next_ns);
	alarm((unsigned)(limit - time(NULL)) + 60);
	bed->on_received = echo_and_park;
	for (unsigned i = 0; i < count; i++)
		bed_connect(bed);
	bed_until(bed, bed->accepted == count);
	while (speak(bed, count, rounds, round, next_ns) < count) {
		assert_true(time(NULL) < limit);
		bed_step(bed);
	}
	print_message("# parked %llu, woken %llu, dropped %llu\n",
		      (unsigned long long)bed->loop.counters.deep_parked,
		      (unsigned long long)bed->loop.counters.deep_woken,
		      (unsigned long long)bed->loop.counters.deep_dropped);
	assert_true(bed->loop.counters.deep_woken > 0);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(bed->peers[i].end, END_NONE);
	end_line(line);
	free(round);
	free(next_ns);
}

static const struct bed_case cases[] = {
	{"delayed, reordered and lost packets", storm},
};

int main(void)
{
	return bed_run_deep_cases("level deep on a bad line", cases, ARRAY_SIZE(cases));
}
