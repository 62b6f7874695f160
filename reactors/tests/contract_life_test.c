// SPDX-License-Identifier: Apache-2.0
/* reactors/tests/ - the contract of reactor.h: connecting, ends, close, reuse of slots. */
#include "reactors/tests/fixture.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static void peer_half_closes_first(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	const struct bed_conn *conn = &bed->conns[slot];

	peer->to_send = 1000;
	bed_until(bed, conn->received == 1000);
	shutdown(peer->fd, SHUT_WR);
	bed_until(bed, conn->end != END_NONE);
	assert_int_equal(conn->end, 0);
	assert_true(bed_send(bed, slot, 200000) >= 0);
	bed_until(bed, !conn->sending && peer->received == 200000);
	assert_int_equal(conn->sent_error, 0);
	bed_close_conn(bed, slot);
	bed_until(bed, bed->closed == 1 && peer->end != END_NONE);
	assert_int_equal(peer->end, 0);
}

/* Both are there before the reactor looks for the first time. */
static void bytes_and_fin_at_once(struct bed *bed)
{
	struct bed_peer *peer = bed_connect(bed);

	bed->hold_accepted = true;
	bed_until(bed, bed->accepted == 1);
	peer->to_send = 1000;
	bed_step(bed);
	shutdown(peer->fd, SHUT_WR);
	assert_int_equal(bed_attach(bed, bed->held_fd), 0);
	bed_until(bed, bed->conns[0].end != END_NONE);
	assert_int_equal(bed->conns[0].end, 0);
	assert_int_equal(bed->conns[0].received, 1000);
}

static void reactor_closes_first(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	assert_true(bed_send(bed, slot, MIB) >= 0);
	bed_until(bed, !bed->conns[slot].sending);
	bed_close_conn(bed, slot);
	bed_until(bed, bed->closed == 1 && peer->end != END_NONE);
	assert_int_equal(peer->received, MIB);
	assert_int_equal(peer->end, 0);
}

static void close_it(struct bed *bed, uint32_t slot)
{
	bed_close_conn(bed, slot);
}

static void close_in_received(struct bed *bed, uint32_t slot, ssize_t n)
{
	(void)n;
	bed_close_conn(bed, slot);
}

static void closes_in_received(struct bed *bed)
{
	struct bed_peer *peer;

	bed_pair(bed, &peer);
	bed->on_received = close_in_received;
	peer->to_send = 1;
	bed_until(bed, bed->closed == 1 && peer->end != END_NONE);
	assert_int_equal(peer->end, 0);
}

/* Data in flight: all of it is seen by a peer that reads late, then FIN. */
static void closes_in_sent(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	bed->on_sent = close_it;
	peer->deaf = true;
	assert_int_equal(bed_send(bed, slot, BED_STUCK), REACTOR_PENDING);
	bed_steps(bed, 5);
	assert_int_equal(bed->closed, 0);
	peer->deaf = false;
	bed_until(bed, bed->closed == 1 && peer->end != END_NONE);
	assert_int_equal(peer->received, BED_STUCK);
	assert_int_equal(peer->end, 0);
}

static void close_other(struct bed *bed, uint32_t slot, ssize_t n)
{
	if (n > 0)
		bed_close_conn(bed, slot ^ 1);
}

static void closes_in_other_upcall(struct bed *bed)
{
	struct bed_peer *first, *second;

	bed_pair(bed, &first);
	bed_pair(bed, &second);
	bed->on_received = close_other;
	first->to_send = 1;
	bed_until(bed, bed->closed == 1 && second->end != END_NONE);
	assert_int_equal(second->end, 0);
	assert_int_equal(first->end, END_NONE);
}

static void closes_with_pending_send(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	peer->deaf = true;
	assert_int_equal(bed_send(bed, slot, BED_STUCK), REACTOR_PENDING);
	bed_steps(bed, 5);
	bed_close_conn(bed, slot);
	bed_until(bed, bed->closed == 1);
	peer->deaf = false;
	bed_until(bed, peer->end != END_NONE);
	assert_true(peer->received < BED_STUCK);
}

static void closes_with_unread_input(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	assert_int_equal(bed_gate(bed, slot, false), 0);
	peer->to_send = 100000;
	bed_steps(bed, 5);
	bed_close_conn(bed, slot);
	bed_until(bed, bed->closed == 1 && peer->end != END_NONE);
}

static void resets_before_attach(struct bed *bed)
{
	struct bed_peer *peer = bed_connect(bed);

	bed->hold_accepted = true;
	bed_until(bed, bed->accepted == 1);
	bed_reset(peer);
	assert_int_equal(bed_attach(bed, bed->held_fd), 0);
	bed_until(bed, bed->conns[0].end != END_NONE);
	assert_true(bed->conns[0].end < 0);
	bed_steps(bed, 5);
}

static void resets_while_idle(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	peer->to_send = 10;
	bed_until(bed, bed->conns[slot].received == 10);
	bed_reset(peer);
	bed_until(bed, bed->conns[slot].end != END_NONE);
	assert_int_equal(bed->conns[slot].end, -ECONNRESET);
	bed_steps(bed, 5);
	bed_close_conn(bed, slot);
	bed_until(bed, bed->closed == 1);
}

static void resets_after_fin(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	shutdown(peer->fd, SHUT_WR);
	bed_until(bed, bed->conns[slot].end == 0);
	bed_reset(peer);
	bed_steps(bed, 10);
	assert_int_equal(bed->conns[slot].end, 0);
}

static void resets_while_sending(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	const struct bed_conn *conn = &bed->conns[slot];

	peer->deaf = true;
	assert_int_equal(bed_send(bed, slot, BED_STUCK), REACTOR_PENDING);
	bed_steps(bed, 5);
	bed_reset(peer);
	bed_until(bed, conn->end != END_NONE && !conn->sending);
	assert_true(conn->sent_error < 0);
	bed_close_conn(bed, slot);
	bed_until(bed, bed->closed == 1);
}

/*
 * Connects for as long as the kernel lets it: a listener whose backlog is full
 * drops SYNs, so that the last socket stays connecting until there is room.
 */
static int stuck_connect(struct bed *bed, int *listen_fd)
{
	uint16_t port;

	*listen_fd = bed_listener(&port, 0);
	for (int i = 0; i < 16; i++) {
		int fd = bed_start_connect(port);
		struct pollfd connected = {.fd = fd, .events = POLLOUT};

		if (poll(&connected, 1, 0) == 0)
			return fd;
		bed_add_peer(bed, fd)->deaf = true;
	}
	fail_msg("the backlog never filled");
	return -1;
}

static void send_waits_for_connect(struct bed *bed)
{
	int listen_fd, fd = stuck_connect(bed, &listen_fd);
	unsigned queued = bed->peer_count;
	struct bed_peer *peer = NULL;

	assert_int_equal(bed_attach(bed, fd), 0);
	assert_int_equal(bed_send(bed, 0, 1000), REACTOR_PENDING);
	bed_steps(bed, 5);
	assert_int_equal(bed->conns[0].sents, 0);
	for (unsigned i = 0; i <= queued; i++)
		peer = bed_add_peer(bed, accept(listen_fd, NULL, NULL));
	bed_until(bed, bed->conns[0].sents == 1 && peer->received == 1000);
	assert_int_equal(bed->conns[0].sent_error, 0);
	peer->to_send = 1000;
	bed_until(bed, bed->conns[0].received == 1000);
	close(listen_fd);
}

static void connect_refused(struct bed *bed)
{
	int listen_fd, fd = stuck_connect(bed, &listen_fd);

	assert_int_equal(bed_attach(bed, fd), 0);
	bed_steps(bed, 5);
	assert_int_equal(bed->conns[0].end, END_NONE);
	close(listen_fd);
	bed_until(bed, bed->conns[0].end != END_NONE);
	assert_int_equal(bed->conns[0].end, -ECONNREFUSED);
	bed_close_conn(bed, 0);
	bed_until(bed, bed->closed == 1);
}

static void connect_refused_with_send(struct bed *bed)
{
	int listen_fd, fd = stuck_connect(bed, &listen_fd);

	assert_int_equal(bed_attach(bed, fd), 0);
	assert_int_equal(bed_send(bed, 0, 1000), REACTOR_PENDING);
	bed_steps(bed, 5);
	close(listen_fd);
	bed_until(bed, bed->conns[0].end != END_NONE);
	assert_int_equal(bed->conns[0].end, -ECONNREFUSED);
}

static void closes_while_connecting(struct bed *bed)
{
	int listen_fd, fd = stuck_connect(bed, &listen_fd);

	assert_int_equal(bed_attach(bed, fd), 0);
	assert_int_equal(bed_send(bed, 0, 1000), REACTOR_PENDING);
	bed_steps(bed, 5);
	bed_close_conn(bed, 0);
	bed_until(bed, bed->closed == 1);
	close(listen_fd);
}

enum { BATCH = 8 };

static void close_all(struct bed *bed, uint32_t slot, ssize_t n)
{
	(void)slot, (void)n;
	for (uint32_t i = 0; i < BATCH; i++)
		if (!bed->conns[i].closing)
			bed_close_conn(bed, i);
}

/*
 * BATCH connections have input at once, and the first to be told closes all:
 * what the others had is stale, and must not reach those that come after them
 * in the same slots.
 */
static void reused_slots(struct bed *bed)
{
	for (unsigned round = 0; round < 20; round++) {
		unsigned first = bed->peer_count, closed = bed->closed;

		for (unsigned i = 0; i < BATCH; i++)
			bed_connect(bed);
		bed_until(bed, bed->accepted == closed + BATCH);
		bed_steps(bed, 2);
		for (uint32_t slot = 0; slot < BATCH; slot++) {
			assert_int_equal(bed->conns[slot].received, 0);
			assert_int_equal(bed->conns[slot].end, END_NONE);
		}
		for (unsigned i = first; i < bed->peer_count; i++)
			bed->peers[i].to_send = 100;
		bed->on_received = close_all;
		bed_until(bed, bed->closed == closed + BATCH);
		bed->on_received = NULL;
	}
	assert_int_equal(bed->loop.slots[0].generation, 20);
}

/*
 * The connection's file lives on in a copy of its descriptor (a forked child has
 * them), and with it what the kernel watches: its events have an old tag.
 */
static void stale_events(struct bed *bed)
{
	struct bed_peer *old, *new;
	uint32_t slot = bed_pair(bed, &old);
	int copy = dup(bed->loop.slots[slot].fd);

	assert_true(copy >= 0);
	bed_close_conn(bed, slot);
	bed_until(bed, bed->closed == 1);
	assert_int_equal(bed_pair(bed, &new), slot);
	old->to_send = 100;
	bed_steps(bed, 10);
	assert_int_equal(bed->conns[slot].received, 0);
	assert_int_equal(bed->conns[slot].end, END_NONE);
	if (bed->loop.ops == reactor_find("epoll")) /* which goes on to watch the copy */
		assert_true(bed->loop.counters.stale_events > 0);
	new->to_send = 10;
	bed_until(bed, bed->conns[slot].received == 10);
	close(copy);
}

static const struct bed_case cases[] = {
	{"the peer half-closes first", peer_half_closes_first},
	{"bytes and FIN at once", bytes_and_fin_at_once},
	{"the reactor closes first", reactor_closes_first},
	{"close in received", closes_in_received},
	{"close in sent with data in flight", closes_in_sent},
	{"close in another connection's upcall", closes_in_other_upcall},
	{"close with a send pending", closes_with_pending_send},
	{"close with input unread", closes_with_unread_input},
	{"RST before attach", resets_before_attach},
	{"RST while idle", resets_while_idle},
	{"RST after FIN", resets_after_fin},
	{"RST while a send is pending", resets_while_sending},
	{"a send waits for the connect", send_waits_for_connect},
	{"a refused connect", connect_refused},
	{"a refused connect with a send pending", connect_refused_with_send},
	{"close while connecting", closes_while_connecting},
	{"closed with input due, slots reused", reused_slots},
	{"stale events do not reach a reused slot", stale_events},
};

int main(void)
{
	return bed_run_cases("reactor contract: life of a connection", cases, ARRAY_SIZE(cases));
}
