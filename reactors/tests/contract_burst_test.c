// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/tests/ - the contract of reactor.h: more at once than an engine's buffers
 * and queues hold, and ends that come while the kernel has news not yet looked at.
 */
#include "reactors/tests/fixture.h"

#include <sys/resource.h>
#include <sys/socket.h>

/* As many as the limit of files allows, at two a connection. */
static unsigned room_for(const struct bed *bed, unsigned wanted)
{
	struct rlimit limit;

	/* A thread each: what they cost is not what is looked for here. */
	if (bed->loop.ops->caps & REACTOR_CAP_THREADS && wanted > 500)
		wanted = 500;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(limit.rlim_cur >= 256);
	return limit.rlim_cur / 2 - 50 < wanted ? (unsigned)limit.rlim_cur / 2 - 50 : wanted;
}

/* In portions, so that the backlog holds them. */
static void open_many(struct bed *bed, unsigned count)
{
	while (bed->accepted < count) {
		unsigned portion = bed->accepted + 500 < count ? bed->accepted + 500 : count;

		while (bed->peer_count < portion)
			bed_connect(bed);
		bed_until(bed, bed->accepted == portion);
	}
	bed_steps(bed, 2);
}

static void all_write(struct bed *bed, size_t more)
{
	for (unsigned i = 0; i < bed->peer_count; i++) {
		bed->peers[i].to_send += more;
		bed_peer_write(&bed->peers[i]);
	}
}

/* To one that stays parked the end may be told again. */
static void unpark_at_end(struct bed *bed, uint32_t slot, ssize_t n)
{
	if (n <= 0 && !bed->loop.slots[slot].active)
		bed_unpark(bed, slot);
}

/* All have more to say at once than the buffers that an engine shares between them
 * hold; half of them are parked. None may be lost, or taken for ended. */
static void starved_of_buffers(struct bed *bed)
{
	enum { EACH = 192 * 1024 };
	unsigned count = room_for(bed, 200);

	open_many(bed, count);
	bed->on_received = unpark_at_end;
	for (uint32_t slot = 0; slot < count; slot += 2)
		assert_int_equal(bed_park(bed, slot), 0);
	all_write(bed, EACH);
	for (uint32_t slot = 0; slot < count; slot++) {
		bed_until(bed, bed->conns[slot].received == EACH);
		assert_int_equal(bed->conns[slot].end, END_NONE);
	}
	for (unsigned i = 0; i < count; i++)
		shutdown(bed->peers[i].fd, SHUT_WR);
	for (uint32_t slot = 0; slot < count; slot++) {
		bed_until(bed, bed->conns[slot].end != END_NONE);
		assert_int_equal(bed->conns[slot].end, 0);
	}
}

/* The same, and in the midst of it each receive gate is closed, and opened again. */
static void close_then_open_other(struct bed *bed, uint32_t slot, ssize_t n)
{
	uint32_t other = slot ^ 1;

	if (n <= 0)
		return;
	bed_check(bed, bed_gate(bed, slot, false) == 0, "recv_gate failed");
	bed_check(bed, bed_gate(bed, other, true) == 0, "recv_gate failed");
}

static void starved_behind_gates(struct bed *bed)
{
	enum { EACH = 128 * 1024 };
	unsigned count = room_for(bed, 100) & ~1u;

	open_many(bed, count);
	bed->on_received = close_then_open_other;
	all_write(bed, EACH);
	for (uint32_t slot = 0; slot < count; slot++) {
		while (bed->conns[slot].received < EACH) {
			assert_int_equal(bed_gate(bed, slot, true), 0);
			bed_step(bed);
		}
		assert_int_equal(bed->conns[slot].end, END_NONE);
	}
}

static void all_answered(struct bed *bed)
{
	for (unsigned i = 0; i < bed->peer_count; i++) {
		const struct bed_conn *conn = &bed->conns[i];

		bed_until(bed, bed->peers[i].received == bed->peers[i].to_send);
		bed_until(bed, conn->received == bed->peers[i].to_send && !conn->sending);
		assert_int_equal(conn->end, END_NONE);
	}
}

/* Between two runs everybody's input comes and everybody's output is sent: more
 * events than any queue of them is made for. */
static void thousands_at_once(struct bed *bed)
{
	unsigned count = room_for(bed, 5000);

	open_many(bed, count);
	for (int round = 0; round < 2; round++) {
		all_write(bed, 100);
		for (uint32_t slot = 0; slot < count; slot++)
			assert_true(bed_send(bed, slot, 100) >= 0);
		all_answered(bed);
	}
}

static void unpark_and_echo(struct bed *bed, uint32_t slot, ssize_t n)
{
	if (!bed->loop.slots[slot].active)
		bed_unpark(bed, slot);
	if (n > 0)
		bed_check(bed, bed_send(bed, slot, (size_t)n) >= 0, "the echo was refused");
}

static void thousands_parked(struct bed *bed)
{
	unsigned count = room_for(bed, 5000);

	open_many(bed, count);
	bed->on_received = unpark_and_echo;
	for (uint32_t slot = 0; slot < count; slot++)
		assert_int_equal(bed_park(bed, slot), 0);
	all_write(bed, 100);
	all_answered(bed);
}

static void thousands_end_at_once(struct bed *bed)
{
	unsigned count = room_for(bed, 5000);

	open_many(bed, count);
	for (unsigned i = 0; i < count; i++)
		shutdown(bed->peers[i].fd, SHUT_WR);
	for (uint32_t slot = 0; slot < count; slot++) {
		bed_until(bed, bed->conns[slot].end != END_NONE);
		assert_int_equal(bed->conns[slot].end, 0);
	}
	for (uint32_t slot = 0; slot < count; slot++)
		bed_close_conn(bed, slot);
	bed_until(bed, bed->closed == count);
}

/* What a connection is in the midst of when it is closed. */
enum stage {
	STAGE_FRESH,     /* attached a moment ago */
	STAGE_INPUT,     /* bytes came that nobody looked at */
	STAGE_OUTPUT,    /* a short send was asked for */
	STAGE_STUCK,     /* a send fills the socket */
	STAGE_BOTH,      /* input and a send */
	STAGE_GATE,      /* its gate was closed, opened and closed */
	STAGE_GATE_OPEN, /* the same, then opened; input has come */
	STAGE_UNPARKED,  /* parked, and unparked with input there */
	STAGE_FIN,       /* the peer's end came that nobody looked at */
	STAGE_RST,
	STAGES,
};

static void bring_to_stage(struct bed *bed, uint32_t slot, struct bed_peer *peer, enum stage stage)
{
	bool gate = stage == STAGE_GATE || stage == STAGE_GATE_OPEN;

	if (gate) {
		assert_int_equal(bed_gate(bed, slot, false), 0);
		assert_int_equal(bed_gate(bed, slot, true), 0);
		assert_int_equal(bed_gate(bed, slot, false), 0);
	}
	if (stage == STAGE_UNPARKED)
		assert_int_equal(bed_park(bed, slot), 0);
	if (stage == STAGE_INPUT || stage == STAGE_BOTH || gate || stage == STAGE_UNPARKED) {
		peer->to_send = 1000;
		bed_peer_write(peer);
	}
	if (stage == STAGE_GATE_OPEN)
		assert_int_equal(bed_gate(bed, slot, true), 0);
	if (stage == STAGE_UNPARKED)
		bed_unpark(bed, slot);
	if (stage == STAGE_STUCK)
		peer->deaf = true;
	if (stage == STAGE_OUTPUT || stage == STAGE_BOTH || stage == STAGE_STUCK)
		assert_true(bed_send(bed, slot, stage == STAGE_STUCK ? BED_STUCK : 1000) >= 0);
	if (stage == STAGE_FIN)
		shutdown(peer->fd, SHUT_WR);
	if (stage == STAGE_RST)
		bed_reset(peer);
}

/*
 * A connection at every stage is closed at once, before or after one look; upcalls
 * after that are the fixture's to find. Then newcomers take the slots, to whom
 * nothing of it may be told.
 */
static void close_at_stages(struct bed *bed, bool look)
{
	for (unsigned round = 0; round < 10; round++) {
		unsigned accepted = bed->accepted, first = bed->peer_count;

		for (unsigned stage = 0; stage < STAGES; stage++)
			bed_connect(bed);
		bed_until(bed, bed->accepted == accepted + STAGES);
		bed_steps(bed, round % 3);
		for (uint32_t slot = 0; slot < STAGES; slot++)
			assert_int_equal(bed->conns[slot].received, 0);
		/* Accepted in order, into the slots from 0 on. */
		for (uint32_t slot = 0; slot < STAGES; slot++)
			bring_to_stage(bed, slot, &bed->peers[first + slot], slot);
		if (look) {
			bed->in_run = true;
			assert_int_equal(bed->loop.ops->run(&bed->loop, 0), 0);
			bed->in_run = false;
		}
		for (uint32_t slot = 0; slot < STAGES; slot++)
			bed_close_conn(bed, slot);
		bed_until(bed, bed->closed == (round + 1) * STAGES);
		for (unsigned i = first; i < bed->peer_count; i++) {
			bed->peers[i].deaf = false;
			bed_until(bed, bed->peers[i].fd < 0 || bed->peers[i].end != END_NONE);
		}
	}
	assert_int_equal(bed->loop.slots[0].generation, 10);
}

static void closes_before_a_look(struct bed *bed)
{
	close_at_stages(bed, false);
}

static void closes_after_a_look(struct bed *bed)
{
	close_at_stages(bed, true);
}

static void close_others(struct bed *bed, uint32_t slot, ssize_t n)
{
	(void)n;
	for (uint32_t other = slot % 2; other < 100; other += 2)
		if (bed->loop.slots[other].fd != REACTOR_FD_FREE && !bed->conns[other].closing)
			bed_close_conn(bed, other);
}

/* All have input and a send under way; the first that is told of anything closes
 * half of them, itself too. Newcomers come into the slots in the same turn. */
static void reused_with_news_in_flight(struct bed *bed)
{
	for (unsigned round = 0; round < 10; round++) {
		unsigned accepted = bed->accepted, first = bed->peer_count;

		bed->on_received = NULL;
		for (unsigned i = 0; i < 100; i++)
			bed_connect(bed);
		bed_until(bed, bed->accepted == accepted + 100);
		bed_steps(bed, 2);
		for (uint32_t slot = 0; slot < 100; slot++) {
			assert_int_equal(bed->conns[slot].received, 0);
			assert_int_equal(bed->conns[slot].sents, 0);
			assert_int_equal(bed->conns[slot].end, END_NONE);
			assert_true(bed_send(bed, slot, 100) >= 0);
		}
		for (unsigned i = first; i < bed->peer_count; i++) {
			bed->peers[i].to_send = 100;
			bed_peer_write(&bed->peers[i]);
		}
		bed->on_received = close_others;
		bed_until(bed, bed->closed == (round + 1) * 100);
	}
}

static const struct bed_case cases[] = {
	{"more input at once than shared buffers hold", starved_of_buffers},
	{"more input at once than buffers hold, gates closed in between", starved_behind_gates},
	{"5,000 with input and output between two runs", thousands_at_once},
	{"5,000 parked, all awake between two runs", thousands_parked},
	{"5,000 ends at once, then 5,000 closes", thousands_end_at_once},
	{"closed at every stage before the loop has looked", closes_before_a_look},
	{"closed at every stage after one look", closes_after_a_look},
	{"slots reused while news of their past is in flight", reused_with_news_in_flight},
};

int main(void)
{
	return bed_run_cases("reactor contract: bursts", cases, ARRAY_SIZE(cases));
}
