// SPDX-License-Identifier: Apache-2.0
/* reactors/tests/ - the contract of reactor.h, on every engine: bytes both ways, gates. */
#include "reactors/tests/fixture.h"

#include <errno.h>
#include <sys/socket.h>

static void echo(struct bed *bed, uint32_t slot, ssize_t n)
{
	if (n > 0)
		bed_check(bed, bed_send(bed, slot, (size_t)n) >= 0, "the echo was refused");
}

static void dribble(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	bed->on_received = echo;
	for (size_t i = 1; i <= 200; i++) {
		peer->to_send = i;
		bed_until(bed, peer->received == i);
		assert_int_equal(bed->conns[slot].received, i);
	}
}

static void reply_burst(struct bed *bed, uint32_t slot, ssize_t n)
{
	if (n > 0 && bed->conns[slot].queued == 0)
		bed_check(bed, bed_send(bed, slot, MIB) >= 0, "the reply was refused");
}

static void bursts(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	const struct bed_conn *conn = &bed->conns[slot];

	bed->on_received = reply_burst;
	peer->to_send = MIB;
	bed_until(bed, conn->received == MIB && peer->received == MIB && !conn->sending);
	assert_int_equal(conn->end, END_NONE);
}

static void bursts_of_many(struct bed *bed)
{
	enum { PEERS = 8 };

	bed->on_received = reply_burst;
	for (int i = 0; i < PEERS; i++) {
		struct bed_peer *peer;

		bed_pair(bed, &peer);
		peer->to_send = MIB;
	}
	for (int i = 0; i < PEERS; i++) {
		bed_until(bed, bed->peers[i].received == MIB);
		bed_until(bed, bed->conns[i].received == MIB);
	}
}

/* 4 MiB that the peer does not read: much more than the socket buffers take. */
static uint32_t stuck_send(struct bed *bed, struct bed_peer **peer)
{
	uint32_t slot = bed_pair(bed, peer);

	(*peer)->deaf = true;
	assert_int_equal(bed_send(bed, slot, BED_STUCK), REACTOR_PENDING);
	bed_steps(bed, 20);
	assert_int_equal(bed->conns[slot].sents, 0);
	return slot;
}

static void short_writes(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = stuck_send(bed, &peer);

	peer->deaf = false;
	bed_until(bed, bed->conns[slot].sents == 1 && peer->received == BED_STUCK);
	assert_int_equal(bed->conns[slot].sent_error, 0);
}

/* A buffer so small that the send takes hundreds of writes. */
static void many_short_writes(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	int size = 16 * 1024;

	assert_int_equal(
		setsockopt(bed->loop.slots[slot].fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)),
		0);
	assert_int_equal(bed_send(bed, slot, 4 * MIB), REACTOR_PENDING);
	bed_until(bed, bed->conns[slot].sents == 1 && peer->received == 4 * MIB);
	assert_int_equal(bed->conns[slot].sent_error, 0);
}

static void second_send(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = stuck_send(bed, &peer);

	assert_int_equal(bed_send(bed, slot, 1), -EBUSY);
	peer->deaf = false;
	bed_until(bed, bed->conns[slot].sents == 1 && peer->received == BED_STUCK);
	assert_true(bed_send(bed, slot, 1) >= 0);
	bed_until(bed, peer->received == BED_STUCK + 1);
}

/* The input goes on while a send waits for a peer that writes but does not read. */
static void received_while_sending(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = stuck_send(bed, &peer);

	peer->to_send = 100000;
	bed_until(bed, bed->conns[slot].received == 100000);
	assert_int_equal(bed->conns[slot].sents, 0);
	peer->deaf = false;
	bed_until(bed, bed->conns[slot].sents == 1);
}

static void send_chain(struct bed *bed, uint32_t slot)
{
	int status = REACTOR_DONE;

	while (status == REACTOR_DONE && bed->conns[slot].queued < 4 * MIB)
		status = bed_send(bed, slot, 128 * 1024);
	bed_check(bed, status >= 0, "a send of the chain failed");
}

static void sends_from_sent(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	bed->on_sent = send_chain;
	send_chain(bed, slot);
	bed_until(bed, peer->received == 4 * MIB && !bed->conns[slot].sending);
	assert_int_equal(bed->conns[slot].sent_error, 0);
}

/* As a timer does it: from outside of any upcall. */
static void sends_from_outside(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	for (size_t i = 1; i <= 50; i++) {
		assert_true(bed_send(bed, slot, 1000) >= 0);
		bed_until(bed, !bed->conns[slot].sending);
		peer->to_send = i;
	}
	bed_until(bed, peer->received == 50 * 1000 && bed->conns[slot].received == 50);
}

static void send_to_other(struct bed *bed, uint32_t slot, ssize_t n)
{
	uint32_t other = slot ^ 1;

	if (n > 0 && !bed->conns[other].sending)
		bed_check(bed, bed_send(bed, other, 1000) >= 0, "the send was refused");
}

static void sends_from_other_upcall(struct bed *bed)
{
	struct bed_peer *first, *second;

	bed_pair(bed, &first);
	bed_pair(bed, &second);
	bed->on_received = send_to_other;
	first->to_send = 1;
	bed_until(bed, second->received == 1000);
	second->to_send = 1;
	bed_until(bed, first->received == 1000);
}

static void set_gate(struct bed *bed, uint32_t slot, bool open)
{
	bed_check(bed, bed_gate(bed, slot, open) == 0, "recv_gate failed");
	bed_check(bed, bed_gate(bed, slot, open) == 0, "recv_gate failed again");
}

/* Until nothing comes any more: bytes taken before the gate closed may. */
static void settle(struct bed *bed, uint32_t slot)
{
	size_t before;

	do {
		before = bed->conns[slot].received;
		bed_steps(bed, 10);
	} while (bed->conns[slot].received != before);
}

static void gate_before_bytes(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	const struct bed_conn *conn = &bed->conns[slot];

	set_gate(bed, slot, false);
	bed_steps(bed, 5);
	peer->to_send = 1000;
	bed_steps(bed, 10);
	shutdown(peer->fd, SHUT_WR);
	bed_steps(bed, 10);
	assert_int_equal(conn->received, 0);
	assert_int_equal(conn->end, END_NONE);
	set_gate(bed, slot, true);
	bed_until(bed, conn->end != END_NONE);
	assert_int_equal(conn->received, 1000);
	assert_int_equal(conn->end, 0);
}

static void close_gate(struct bed *bed, uint32_t slot, ssize_t n)
{
	if (n > 0)
		set_gate(bed, slot, false);
}

/* The gate closes in every `received`, and is opened time and again. */
static void gate_in_upcall(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	const struct bed_conn *conn = &bed->conns[slot];

	bed->on_received = close_gate;
	peer->to_send = 4 * MIB;
	bed_until(bed, conn->received > 0);
	settle(bed, slot);
	assert_true(conn->received < 4 * MIB);
	while (conn->received < 4 * MIB) {
		size_t before = conn->received;

		set_gate(bed, slot, true);
		bed_until(bed, conn->received > before);
	}
	assert_int_equal(conn->end, END_NONE);
}

static void gate_makes_peer_wait(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	const struct bed_conn *conn = &bed->conns[slot];

	set_gate(bed, slot, false);
	peer->to_send = 8 * MIB;
	settle(bed, slot);
	assert_true(peer->sent < 8 * MIB);
	assert_true(bed_send(bed, slot, 1000) >= 0);
	bed_until(bed, peer->received == 1000);
	set_gate(bed, slot, true);
	bed_until(bed, conn->received == 8 * MIB);
}

static const struct bed_case cases[] = {
	{"bytes dribbled one at a time", dribble},
	{"1 MiB bursts both ways", bursts},
	{"1 MiB bursts both ways on 8 connections", bursts_of_many},
	{"a send into a full socket buffer ends when the peer reads", short_writes},
	{"a send of many short writes", many_short_writes},
	{"a second send is refused, the first goes on", second_send},
	{"sends from sent", sends_from_sent},
	{"sends from outside of upcalls", sends_from_outside},
	{"sends from another connection's upcall", sends_from_other_upcall},
	{"input comes while a send is pending", received_while_sending},
	{"recv gate closed before bytes and FIN", gate_before_bytes},
	{"recv gate closed in received loses nothing", gate_in_upcall},
	{"recv gate closed makes the peer wait", gate_makes_peer_wait},
};

int main(void)
{
	return bed_run_cases("reactor contract: bytes", cases, ARRAY_SIZE(cases));
}
