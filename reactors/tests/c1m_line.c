// SPDX-License-Identifier: Apache-2.0
/* reactors/tests/ - a bad line. */
#include "reactors/tests/c1m_line.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/common/clock.h"
#include "reactors/c1m_queue.h"

enum { QUEUE = 60000, HELD_MAX = 1 << 16, IDLE_MS = 50 };

struct line {
	struct c1m_queue queue;
	pthread_t thread;
	atomic_bool ending;
	unsigned delay_us, seed, count;
	struct {
		uint64_t due_ns;
		uint32_t id;
	} held[HELD_MAX];
};

static void take(struct line *line, uint32_t id)
{
	uint64_t delay_ns = rand_r(&line->seed) % (line->delay_us + 1) * NS_PER_US;

	if (line->count == HELD_MAX) {
		c1m_queue_drop(&line->queue, id);
		return;
	}
	line->held[line->count].id = id;
	line->held[line->count++].due_ns = clock_now_ns() + delay_ns;
}

/* In the order they came, among those that are due. */
static void pass_on(struct line *line, uint64_t until_ns)
{
	unsigned left = 0;

	for (unsigned i = 0; i < line->count; i++) {
		if (line->held[i].due_ns <= until_ns)
			c1m_queue_accept(&line->queue, line->held[i].id);
		else
			line->held[left++] = line->held[i];
	}
	line->count = left;
}

static void *be_the_line(void *arg)
{
	struct line *line = arg;
	struct pollfd fd = {.fd = c1m_queue_fd(&line->queue), .events = POLLIN};

	while (!atomic_load(&line->ending)) {
		struct c1m_packet packets[C1M_QUEUE_BATCH];
		int count;

		poll(&fd, 1, line->count ? 1 : IDLE_MS);
		count = c1m_queue_read(&line->queue, packets);
		for (int i = 0; i < count; i++)
			take(line, packets[i].id);
		pass_on(line, clock_now_ns());
	}
	pass_on(line, UINT64_MAX);
	return NULL;
}

static int add_rules(double loss)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "set -- iptables -w -t mangle -A PREROUTING -p tcp\n"
		 "\"$@\" -m statistic --mode random --probability %.6f -j DROP && "
		 "\"$@\" -j NFQUEUE --queue-num %d",
		 loss, QUEUE);
	return system(command) ? -EIO : 0;
}

int line_start(struct line **out, double loss, unsigned delay_us, char *reason, size_t reason_size)
{
	struct line *line = calloc(1, sizeof(*line));
	int error;

	if (!line)
		return -ENOMEM;
	line->delay_us = delay_us;
	line->seed = 1;
	error = c1m_queue_open(&line->queue, QUEUE);
	if (error) {
		c1m_queue_explain(error, reason, reason_size);
		goto no_queue;
	}
	error = add_rules(loss);
	if (!error)
		error = -pthread_create(&line->thread, NULL, be_the_line, line);
	if (error) {
		snprintf(reason, reason_size, "iptables refuses the rules of a bad line");
		c1m_queue_close(&line->queue);
		goto no_queue;
	}
	*out = line;
	return 0;

no_queue:
	free(line);
	return error;
}

void line_end(struct line *line)
{
	if (system("iptables -w -t mangle -F PREROUTING"))
		fprintf(stderr, "the rules of the bad line are still there\n");
	atomic_store(&line->ending, true);
	pthread_join(line->thread, NULL);
	c1m_queue_close(&line->queue);
	free(line);
}
