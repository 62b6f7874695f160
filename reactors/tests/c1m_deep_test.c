// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/tests/ - level deep: every way in which a connection without a socket is touched. In a
 * network of the test's own: the counters of /proc/net/snmp are ours alone.
 */
#include "reactors/tests/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reactors/c1m_service.h"
#include "reactors/tests/inject.h"

enum { PATIENCE_NS = 100000000 };

struct snmp {
	unsigned long long retransmitted, resets;
};

/* "Tcp: name name..." and below it "Tcp: value value...". */
static unsigned long long snmp_field(FILE *file, const char *field)
{
	char names[1024], values[1024], *name_rest, *value_rest;

	rewind(file);
	while (fgets(names, sizeof(names), file) && strncmp(names, "Tcp:", 4))
		;
	assert_non_null(fgets(values, sizeof(values), file));
	strtok_r(names, " \n", &name_rest);
	strtok_r(values, " \n", &value_rest);
	for (;;) {
		const char *name = strtok_r(NULL, " \n", &name_rest);
		const char *value = strtok_r(NULL, " \n", &value_rest);

		assert_non_null(name);
		assert_non_null(value);
		if (!strcmp(name, field))
			return strtoull(value, NULL, 10);
	}
}

static struct snmp snmp_read(void)
{
	FILE *file = fopen("/proc/thread-self/net/snmp", "r");
	struct snmp snmp;

	assert_non_null(file);
	snmp.retransmitted = snmp_field(file, "RetransSegs");
	snmp.resets = snmp_field(file, "OutRsts");
	fclose(file);
	return snmp;
}

/* A kernel repeats itself after 200 ms at the earliest. */
static void assert_quiet_since(const struct bed *bed, struct snmp before)
{
	struct snmp now = snmp_read();

	if (bed->longest_pause_ns < PATIENCE_NS)
		assert_int_equal(now.retransmitted, before.retransmitted);
	else if (now.retransmitted != before.retransmitted)
		print_message("# the test stood still for %llu ms: peers repeated themselves\n",
			      (unsigned long long)bed->longest_pause_ns / 1000000);
	assert_int_equal(now.resets, before.resets);
}

static bool is_deep(const struct bed *bed, uint32_t slot)
{
	return bed->loop.slots[slot].fd == REACTOR_FD_DEEP;
}

static void sink(struct bed *bed, uint32_t slot)
{
	assert_int_equal(bed_park(bed, slot), 0);
	bed_until(bed, is_deep(bed, slot));
}

static void echo(struct bed *bed, uint32_t slot, ssize_t n)
{
	if (!bed->loop.slots[slot].active)
		bed_unpark(bed, slot);
	if (n > 0)
		bed_check(bed, bed_send(bed, slot, (size_t)n) >= 0, "the echo was refused");
}

/* ---- quiet cases ---- */

static void cycles(struct bed *bed)
{
	struct snmp before = snmp_read();
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	bed->on_received = echo;
	for (unsigned i = 0; i < 50; i++) {
		size_t len = i % 3 ? (size_t)rand() % 3000 + 1 : (size_t)rand() % 100000 + 1;

		sink(bed, slot);
		peer->to_send += len;
		bed_until(bed, peer->received == peer->to_send && !bed->conns[slot].sending);
	}
	assert_int_equal(bed->loop.counters.deep_parked, 50);
	assert_int_equal(bed->loop.counters.deep_woken, 50);
	assert_int_equal(bed->loop.counters.deep_kept, 0);
	/* The state is read out and set piece by piece, which is no less than that. */
	assert_true(bed->loop.counters.syscalls > 50 * 30);
	assert_quiet_since(bed, before);
}

static void speaks_first(struct bed *bed)
{
	struct snmp before = snmp_read();
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	size_t sent = 0;

	for (unsigned i = 0; i < 20; i++) {
		size_t len = (size_t)rand() % 50000 + 1;

		sink(bed, slot);
		bed_unpark(bed, slot);
		assert_true(bed_send(bed, slot, len) >= 0);
		sent += len;
		bed_until(bed, peer->received == sent && !bed->conns[slot].sending);
	}
	assert_quiet_since(bed, before);
}

static void sink_many(struct bed *bed, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		bed_connect(bed);
	bed_until(bed, bed->accepted == count);
	for (uint32_t slot = 0; slot < count; slot++)
		assert_int_equal(bed_park(bed, slot), 0);
	bed_until(bed, bed->loop.counters.deep_now == count);
}

static void has_no_file(struct bed *bed)
{
	enum { COUNT = 300 };

	sink_many(bed, COUNT);
	for (uint32_t slot = 0; slot < COUNT; slot++)
		assert_int_equal(bed->loop.slots[slot].fd, REACTOR_FD_DEEP);
}

static void park_after_echo(struct bed *bed, uint32_t slot, ssize_t n)
{
	echo(bed, slot, n);
	if (n > 0 && !bed->conns[slot].sending)
		bed_check(bed, bed_park(bed, slot) == 0, "park failed");
}

struct racer {
	uint64_t next_ns;
	unsigned rounds;
};

/* At a time that may be before, in or after its connection's leaving. */
static void race(struct racer *racer, struct bed_peer *peer, unsigned rounds)
{
	if (racer->rounds == rounds || peer->received < peer->to_send ||
	    bed_now_ns() < racer->next_ns)
		return;
	peer->to_send += (size_t)rand() % 2000 + 1;
	bed_peer_write(peer);
	racer->rounds++;
	racer->next_ns = bed_now_ns() + (uint64_t)(rand() % 60000) * 1000;
}

/*
 * Peers write at times of their own, so that some bytes come before the socket leaves, some
 * while it does, some after. Nothing may be lost, refused, or even sent twice.
 */
static void races(struct bed *bed)
{
	enum { COUNT = 200, ROUNDS = 50 };
	static struct racer racers[COUNT];
	struct snmp before = snmp_read();
	unsigned done = 0;

	bed->on_received = park_after_echo;
	for (unsigned i = 0; i < COUNT; i++)
		bed_connect(bed);
	bed_until(bed, bed->accepted == COUNT);
	for (uint32_t slot = 0; slot < COUNT; slot++)
		assert_int_equal(bed_park(bed, slot), 0);
	while (done < COUNT) {
		done = 0;
		for (unsigned i = 0; i < COUNT; i++) {
			race(&racers[i], &bed->peers[i], ROUNDS);
			done += racers[i].rounds == ROUNDS &&
				bed->peers[i].received == bed->peers[i].to_send;
		}
		bed_step(bed);
	}
	assert_true(bed->loop.counters.deep_woken > 0);
	assert_int_equal(bed->loop.counters.deep_dropped, 0);
	assert_quiet_since(bed, before);
}

/* ---- ends ---- */

static void close_at_end(struct bed *bed, uint32_t slot, ssize_t n)
{
	bed_check(bed, n <= 0, "there was nothing to receive");
	bed_close_conn(bed, slot);
}

static void fin(struct bed *bed)
{
	struct snmp before = snmp_read();
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	sink(bed, slot);
	bed->on_received = close_at_end;
	shutdown(peer->fd, SHUT_WR);
	bed_until(bed, bed->closed == 1 && peer->end != END_NONE);
	assert_int_equal(bed->conns[slot].end, 0);
	assert_int_equal(peer->end, 0);
	assert_quiet_since(bed, before);
}

static void rst(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	struct snmp before;

	sink(bed, slot);
	bed->on_received = close_at_end;
	bed_reset(peer);
	before = snmp_read(); /* with the peer's */
	bed_until(bed, bed->closed == 1);
	assert_int_equal(bed->conns[slot].end, -ECONNRESET);
	assert_quiet_since(bed, before);
}

static void own_close(struct bed *bed)
{
	struct snmp before = snmp_read();
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	sink(bed, slot);
	bed_close_conn(bed, slot);
	bed_until(bed, bed->closed == 1 && peer->end != END_NONE);
	assert_int_equal(peer->end, 0);
	assert_int_equal(bed->loop.counters.deep_now, 0);
	assert_quiet_since(bed, before);
}

/* ---- what a live connection must not mind ---- */

static void still_works(struct bed *bed, uint32_t slot, struct bed_peer *peer)
{
	bed->on_received = echo;
	peer->to_send += 1000;
	bed_until(bed, peer->received == peer->to_send && !bed->conns[slot].sending);
}

/* Wakes the socket, which has nothing to say to the core, and leaves again. */
static void touch(struct bed *bed, uint32_t slot, struct bed_peer *peer, uint8_t flags,
		  int32_t distance, size_t len)
{
	uint64_t woken = bed->loop.counters.deep_woken;
	size_t received = bed->conns[slot].received;

	inject_segment(peer->fd, flags, distance, len);
	bed_until(bed, bed->loop.counters.deep_woken == woken + 1 && is_deep(bed, slot));
	assert_int_equal(bed->conns[slot].received, received);
	assert_int_equal(bed->conns[slot].end, END_NONE);
	assert_null(bed->loop.slots[slot].active);
}

static void stray_segments(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	struct snmp before;

	still_works(bed, slot, peer);
	before = snmp_read();
	sink(bed, slot);
	touch(bed, slot, peer, INJECT_ACK, -100, 100);    /* a duplicate */
	touch(bed, slot, peer, INJECT_ACK, -1, 0);        /* a keep-alive probe */
	touch(bed, slot, peer, INJECT_ACK, 1 << 24, 100); /* beyond the window */
	touch(bed, slot, peer, INJECT_RST, 1 << 24, 0);   /* RFC 5961: not to be believed */
	touch(bed, slot, peer, INJECT_RST, 100, 0);
	touch(bed, slot, peer, INJECT_SYN, 12345, 0); /* answered by a challenge */
	still_works(bed, slot, peer);
	assert_quiet_since(bed, before);
}

/* The peer has been told that they are there: the socket that has them stays until they are read.
 */
static void out_of_order(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	sink(bed, slot);
	inject_segment(peer->fd, INJECT_ACK, 2000, 100);
	bed_until(bed, bed->loop.counters.deep_woken == 1);
	bed_steps(bed, 2);
	assert_false(is_deep(bed, slot));
	assert_int_equal(bed->conns[slot].received, 0);
	bed->on_received = park_after_echo;
	peer->to_send = 3000;
	bed_until(bed, peer->received == 3000 && is_deep(bed, slot));
}

static void keep_alive(struct bed *bed)
{
	const int seconds = 1, probes = 2;
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	inject_keep_alive(peer->fd, seconds, probes);
	sink(bed, slot);
	bed_until(bed, bed->loop.counters.deep_woken == 3 && is_deep(bed, slot));
	assert_int_equal(peer->end, END_NONE);
	still_works(bed, slot, peer);
}

/* The peer lost its memory and connects anew from the same port: the challenge to its SYN
 * has it reset the old connection, and the repeated SYN is a new one. */
static void reborn_peer(struct bed *bed)
{
	struct bed_peer *peer, *reborn;
	uint32_t slot = bed_pair(bed, &peer);

	sink(bed, slot);
	bed->on_received = close_at_end;
	reborn = bed_add_peer(bed, inject_rebirth(&peer->fd));
	bed_until(bed, bed->closed == 1);
	assert_int_equal(bed->conns[slot].end, -ECONNRESET);
	bed_until(bed, bed->accepted == 2);
	still_works(bed, bed->last_slot, reborn);
}

/* ---- no file to be had ---- */

static rlim_t limit_files(rlim_t count)
{
	struct rlimit limit;
	rlim_t before;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = count;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

/* More connections than a loop has blank sockets for. */
enum { MANY = 20 };

static unsigned all_received(const struct bed *bed)
{
	unsigned received = 0;

	for (unsigned i = 0; i < bed->peer_count; i++)
		received += (unsigned)bed->peers[i].received;
	return received;
}

static void waits_for_a_file(struct bed *bed)
{
	rlim_t files;

	sink_many(bed, MANY);
	bed->on_received = echo;
	files = limit_files(3);
	for (unsigned i = 0; i < MANY; i++)
		bed->peers[i].to_send = 100;
	bed_until(bed, bed->loop.counters.deep_dropped > 0);
	limit_files(files);
	bed_until(bed, all_received(bed) == MANY * 100);
}

/* Blank sockets are made in turns of the loop: there are none left for the last. */
static void no_file_to_unpark(struct bed *bed)
{
	const uint32_t slot = MANY - 1;
	rlim_t files;

	sink_many(bed, MANY);
	for (uint32_t other = 0; other < slot; other++)
		bed_unpark(bed, other);
	files = limit_files(3);
	bed->loop.slots[slot].active = calloc(1, bed->loop.ops->conn_size);
	assert_int_equal(bed->loop.ops->unpark(&bed->loop, slot), -EMFILE);
	free(bed->loop.slots[slot].active);
	bed->loop.slots[slot].active = NULL;
	limit_files(files);
	bed->on_received = echo;
	bed->peers[slot].to_send = 100;
	bed_until(bed, bed->peers[slot].received == 100);
}

/* Sockets of the first loop may not go while others have still to join: there are no rules. */
static void is_ready_with_its_last_loop(struct bed *bed)
{
	const struct reactor_deep config = {.service = {.sin_family = AF_INET,
							.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
							.sin_port = htons(1)},
					    .loops = 2};
	struct c1m_service *service[2];
	struct c1m_queue queue[2];
	char reason[256];

	(void)bed;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			c1m_service_join(&service[i], &config, &queue[i], reason, sizeof(reason)),
			0);
		assert_int_equal(c1m_service_ready(service[i]), i == 1);
	}
	for (int i = 0; i < 2; i++)
		c1m_service_leave(service[i], &queue[i]);
}

static const struct bed_case cases[] = {
	{"cycles, each woken by the peer", cycles},
	{"cycles, each woken by a send", speaks_first},
	{"parked connections have no file", has_no_file},
	{"bytes that race the socket's leaving", races},
	{"FIN", fin},
	{"RST", rst},
	{"close", own_close},
	{"strays: duplicate, probe, out of window, RST, SYN", stray_segments},
	{"bytes with a hole before them", out_of_order},
	{"the peer's keep-alive", keep_alive},
	{"a new connection from the same port", reborn_peer},
	{"no file for a packet: it is repeated", waits_for_a_file},
	{"no file for unpark", no_file_to_unpark},
	{"a service is ready with its last loop", is_ready_with_its_last_loop},
};

int main(void)
{
	return bed_run_deep_cases("level deep", cases, ARRAY_SIZE(cases));
}
