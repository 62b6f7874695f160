// SPDX-License-Identifier: Apache-2.0
/* reactors/tests/ - the contract of reactor.h: parked connections, and many idle ones. */
#include "reactors/tests/fixture.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>

static void unpark_and_echo(struct bed *bed, uint32_t slot, ssize_t n)
{
	if (!bed->loop.slots[slot].active)
		bed_unpark(bed, slot);
	if (n > 0)
		bed_check(bed, bed_send(bed, slot, (size_t)n) >= 0, "the echo was refused");
}

static void wakes_and_parks(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);
	const struct bed_conn *conn = &bed->conns[slot];

	bed->on_received = unpark_and_echo;
	for (unsigned i = 1; i <= 10; i++) {
		assert_int_equal(bed_park(bed, slot), 0);
		bed_steps(bed, 2);
		peer->to_send = 100 * i;
		bed_until(bed, peer->received == 100 * i && !conn->sending);
		assert_int_equal(conn->parked_upcalls, i);
	}
}

static void stays_parked(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	assert_int_equal(bed_park(bed, slot), 0);
	for (unsigned i = 1; i <= 3; i++) {
		peer->to_send = 100 * i;
		bed_until(bed, bed->conns[slot].received == 100 * i);
		assert_null(bed->loop.slots[slot].active);
	}
	bed_unpark(bed, slot);
	assert_true(bed_send(bed, slot, 1000) >= 0);
	bed_until(bed, peer->received == 1000);
}

static void park_or_unpark(struct bed *bed, uint32_t slot, ssize_t n)
{
	int error;

	(void)n;
	if (!bed->loop.slots[slot].active) {
		bed_unpark(bed, slot);
		return;
	}
	error = bed_park(bed, slot);
	bed_check(bed, error == 0 || error == -EBUSY, "park failed");
}

static void parks_in_received(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	bed->on_received = park_or_unpark;
	peer->to_send = 4 * MIB;
	bed_until(bed, bed->conns[slot].received == 4 * MIB);
	for (unsigned i = 1; i <= 10; i++) {
		peer->to_send++;
		bed_until(bed, bed->conns[slot].received == 4 * MIB + i);
	}
	assert_true(bed->conns[slot].parked_upcalls > 0);
}

static void refuses_to_park(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	peer->deaf = true;
	assert_int_equal(bed_send(bed, slot, BED_STUCK), REACTOR_PENDING);
	assert_int_equal(bed_park(bed, slot), -EBUSY);
	peer->deaf = false;
	bed_until(bed, !bed->conns[slot].sending);
	assert_int_equal(bed_gate(bed, slot, false), 0);
	assert_int_equal(bed_park(bed, slot), -EBUSY);
	assert_int_equal(bed_gate(bed, slot, true), 0);
	bed_until(bed, bed_park(bed, slot) == 0);
}

static void unpark_and_close(struct bed *bed, uint32_t slot, ssize_t n)
{
	bed_check(bed, n <= 0, "there was nothing to receive");
	bed_close_conn(bed, slot);
}

static void parked_end(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	assert_int_equal(bed_park(bed, slot), 0);
	bed->on_received = unpark_and_close;
	shutdown(peer->fd, SHUT_WR);
	bed_until(bed, bed->closed == 1 && peer->end != END_NONE);
	assert_int_equal(bed->conns[slot].end, 0);
	assert_int_equal(bed->conns[slot].parked_upcalls, 1);
	assert_int_equal(peer->end, 0);
}

static void parked_reset(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	assert_int_equal(bed_park(bed, slot), 0);
	bed->on_received = unpark_and_close;
	bed_reset(peer);
	bed_until(bed, bed->closed == 1);
	assert_int_equal(bed->conns[slot].end, -ECONNRESET);
}

static void parked_close(struct bed *bed)
{
	struct bed_peer *peer;
	uint32_t slot = bed_pair(bed, &peer);

	assert_int_equal(bed_park(bed, slot), 0);
	bed_steps(bed, 2);
	bed_close_conn(bed, slot);
	bed_until(bed, bed->closed == 1 && peer->end != END_NONE);
	assert_int_equal(peer->end, 0);
}

/* As many as the limit of files allows, at two a connection; 1,000 is enough. */
static unsigned many(void)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur >= 2100)
		return 1000;
	assert_true(limit.rlim_cur >= 256);
	return (unsigned)limit.rlim_cur / 2 - 50;
}

static unsigned open_idle(struct bed *bed)
{
	unsigned count = many();

	for (unsigned i = 0; i < count; i++)
		bed_connect(bed);
	bed_until(bed, bed->accepted == count);
	bed_steps(bed, 5);
	return count;
}

static void wake_all(struct bed *bed, unsigned count)
{
	bed->on_received = unpark_and_echo;
	for (unsigned i = 0; i < count; i++)
		bed->peers[i].to_send += 100;
	for (unsigned i = 0; i < count; i++)
		bed_until(bed, bed->peers[i].received == bed->peers[i].to_send &&
				       !bed->conns[i].sending);
}

static void many_awake_at_once(struct bed *bed)
{
	unsigned count = open_idle(bed);

	wake_all(bed, count);
	wake_all(bed, count);
}

static void many_parked(struct bed *bed)
{
	unsigned count = open_idle(bed);

	for (int round = 0; round < 2; round++) {
		for (uint32_t slot = 0; slot < count; slot++)
			assert_int_equal(bed_park(bed, slot), 0);
		wake_all(bed, count);
	}
	for (uint32_t slot = 0; slot < count; slot++)
		assert_int_equal(bed->conns[slot].parked_upcalls, 2);
}

static const struct bed_case cases[] = {
	{"parked, woken by bytes, parked again", wakes_and_parks},
	{"receives while parked", stays_parked},
	{"parks and unparks in received", parks_in_received},
	{"refuses to park what is pending", refuses_to_park},
	{"FIN while parked", parked_end},
	{"RST while parked", parked_reset},
	{"close of a parked connection", parked_close},
	{"1,000 idle, then all awake at once", many_awake_at_once},
	{"1,000 parked, then all awake at once", many_parked},
};

int main(void)
{
	return bed_run_cases("reactor contract: parking", cases, ARRAY_SIZE(cases));
}
