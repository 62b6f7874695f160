// SPDX-License-Identifier: Apache-2.0
/*
 * harness/load/tests/ - the phases of the load generator: against the real server, with each TLS
 * backend at the levels shed and keys on both sides, and against a peer that answers by hand.
 */
#include "harness/load/tests/pair.h"

#include "harness/common/body.h"

/* ---- against the real server ---- */

static void every_connection_fetches_once(void **state)
{
	struct pair pair;

	start_pair(&pair, *state);
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	load_fetch(pair.load, 65536);
	expect(&pair, CONNECTIONS, 0);
	assert_int_equal(stat_of(&pair, "responses"), CONNECTIONS);
	load_fetch(pair.load, 1048576);
	expect(&pair, CONNECTIONS, 0);
	/* The rounds go on as before. */
	load_round(pair.load);
	expect(&pair, CONNECTIONS, 0);
	assert_int_equal(stat_of(&pair, "responses"), 3 * CONNECTIONS);
	load_close(pair.load);
	expect(&pair, CONNECTIONS, 0);
	end_pair(&pair);
}

static void keys_change_both_ways(void **state)
{
	struct pair pair;

	start_pair(&pair, *state);
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	for (int cycle = 1; cycle <= 3; cycle++) {
		load_key_update(pair.load);
		expect(&pair, CONNECTIONS, 0);
		assert_int_equal(stat_of(&pair, "responses"), cycle * CONNECTIONS);
	}
	load_fetch(pair.load, 65536);
	expect(&pair, CONNECTIONS, 0);
	load_round(pair.load);
	expect(&pair, CONNECTIONS, 0);
	assert_int_equal(stat_of(&pair, "open"), CONNECTIONS);
	load_close(pair.load);
	expect(&pair, CONNECTIONS, 0);
	end_pair(&pair);
}

/* The server does not wait for a byte to know it. */
static void plain_is_established_once_accepted(void **state)
{
	struct pair pair;

	start_pair(&pair, *state);
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	await_stat(&pair, "handshakes", CONNECTIONS);
	load_round(pair.load);
	expect(&pair, CONNECTIONS, 0);
	end_pair(&pair);
}

static void plain_has_no_keys_to_change(void **state)
{
	struct load_result result;
	struct pair pair;

	start_pair(&pair, *state);
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	load_key_update(pair.load);
	assert_true(load_wait(pair.load, WAIT_MS, &result));
	assert_int_equal(result.failed, CONNECTIONS);
	assert_string_equal(result.failures.entries[0].cause, "EOPNOTSUPP");
	end_pair(&pair);
}

/* Half as often again as there are connections: some take a second turn. */
static void connections_wake_one_by_one(void **state)
{
	const uint32_t wakes = CONNECTIONS + CONNECTIONS / 2;
	const struct times *times;
	struct pair pair;

	start_pair(&pair, *state);
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	assert_int_equal(load_wakes(pair.load, wakes), 0);
	expect(&pair, wakes, 0);
	assert_int_equal(stat_of(&pair, "responses"), wakes);
	times = load_wake_times(pair.load);
	assert_int_equal(times->count, wakes);
	assert_true(times->ticks[0] > 0 && times->ticks[0] <= times->ticks[wakes - 1]);
	/* Once more: the former times are gone, and the rounds go on as before. */
	assert_int_equal(load_wakes(pair.load, 3), 0);
	expect(&pair, 3, 0);
	assert_int_equal(load_wake_times(pair.load)->count, 3);
	load_round(pair.load);
	expect(&pair, CONNECTIONS, 0);
	load_close(pair.load);
	expect(&pair, CONNECTIONS, 0);
	end_pair(&pair);
}

/* A server that goes on under its old keys breaks the protocol, but nothing else would show it. */
static bool never_updates(const struct tls_parked *parked)
{
	(void)parked;
	return true;
}

static void a_server_that_keeps_its_keys_fails(void **state)
{
	struct tls_ops ops = *backend("openssl");
	struct load_result result;
	struct pair pair;

	(void)state;
	ops.parked_awaits_key_update = never_updates;
	start_server(&pair, server_of("openssl", PARK_KEYS));
	start_load(&pair, &ops, PARK_KEYS, CONNECTIONS, 8);
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	load_key_update(pair.load);
	assert_true(load_wait(pair.load, WAIT_MS, &result));
	assert_int_equal(result.failed, CONNECTIONS);
	assert_string_equal(result.failures.entries[0].cause, "the server did not update its keys");
	end_pair(&pair);
}

/* ---- against a peer that answers by hand ---- */

#define PEERS 10
#define AT_ONCE 4

/* Which of the peers have been asked and not answered; how many. */
static unsigned asked_now(const int *peers, bool *has_asked)
{
	unsigned count = 0;

	for (int i = 0; i < PEERS; i++) {
		struct pollfd fd = {.fd = peers[i], .events = POLLIN};

		has_asked[i] = poll(&fd, 1, 0) == 1;
		count += has_asked[i];
	}
	return count;
}

/* The same once none is added any more. */
static unsigned asked(const int *peers, bool *has_asked)
{
	unsigned count = 0, before;

	do {
		before = count;
		poll(NULL, 0, 100);
		count = asked_now(peers, has_asked);
	} while (!count || count != before);
	return count;
}

static void answer(int peer, const char *path, const char *body)
{
	char text[256], wanted[64];
	ssize_t got = recv(peer, text, sizeof(text) - 1, 0);

	assert_true(got > 0);
	text[got] = '\0';
	snprintf(wanted, sizeof(wanted), "GET %s HTTP/1.1\r\n", path);
	assert_non_null(strstr(text, wanted));
	snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
		 strlen(body), body);
	assert_int_equal(send(peer, text, strlen(text), 0), strlen(text));
}

static void start_by_hand(struct pair *pair, int *peers, unsigned workers)
{
	*pair = (struct pair){0};
	pair->listener = bind_listener(&pair->address);
	assert_int_equal(listen(pair->listener, PEERS), 0);
	start_load_with(pair, &(struct load_config){.tls = backend("plain"),
						    .park = PARK_KEYS,
						    .sizing.workers = workers,
						    .sizing.connections = PEERS,
						    .in_flight = AT_ONCE});
	load_ramp(pair->load);
	expect(pair, PEERS, 0);
	for (int i = 0; i < PEERS; i++) {
		peers[i] = accept(pair->listener, NULL, NULL);
		assert_true(peers[i] >= 0);
	}
}

static void only_so_many_fetch_at_a_time(void **state)
{
	unsigned done = 0, count;
	bool has_asked[PEERS];
	struct pair pair;
	int peers[PEERS];

	(void)state;
	start_by_hand(&pair, peers, 1);
	load_fetch(pair.load, 3);
	for (; done < PEERS; done += count) {
		count = asked(peers, has_asked);
		assert_int_equal(count, PEERS - done < AT_ONCE ? PEERS - done : AT_ONCE);
		for (int i = 0; i < PEERS; i++)
			if (has_asked[i])
				answer(peers[i], "/3", "abc");
	}
	expect(&pair, PEERS, 0);
	for (int i = 0; i < PEERS; i++)
		close(peers[i]);
	end_pair(&pair);
}

/* Failures are told by cause, and the others go on. */
static void a_fetch_can_fail(void **state)
{
	static const char *const bodies[] = {"abd", "abcd", "ab", "abc"};
	struct load_result result;
	bool has_asked[PEERS];
	struct pair pair;
	int peers[PEERS];
	unsigned done = 0;

	(void)state;
	start_by_hand(&pair, peers, 1);
	load_fetch(pair.load, 3);
	while (done < PEERS) {
		asked(peers, has_asked);
		for (int i = 0; i < PEERS; i++) {
			if (!has_asked[i])
				continue;
			answer(peers[i], "/3", bodies[done < 3 ? done : 3]);
			/* Its end would be readable as well. */
			if (done++ < 3)
				peers[i] = -1;
		}
	}
	assert_true(load_wait(pair.load, WAIT_MS, &result));
	assert_int_equal(result.ok, PEERS - 3);
	assert_int_equal(result.failed, 3);
	assert_int_equal(result.open, PEERS - 3);
	assert_int_equal(result.failures.used, 3);
	for (int i = 0; i < 3; i++)
		assert_non_null(strstr("wrong body, body too long, body too short",
				       result.failures.entries[i].cause));
	end_pair(&pair);
}

/* Evenly spread over the table of one worker, or of each of two, which take turns. */
static void wakes_are_spread(unsigned workers)
{
	static const int woken[] = {2, 4, 7, 9};
	const unsigned wakes = sizeof(woken) / sizeof(*woken);
	struct load_result result;
	bool has_asked[PEERS];
	struct pair pair;
	int peers[PEERS];

	start_by_hand(&pair, peers, workers);
	assert_int_equal(load_wakes(pair.load, wakes), 0);
	for (unsigned i = 0; i < wakes; i++) {
		/* The next worker begins only while somebody waits for the end. */
		while (!asked_now(peers, has_asked))
			load_wait(pair.load, 10, &result);
		assert_int_equal(asked(peers, has_asked), 1);
		assert_true(has_asked[woken[i]]);
		answer(peers[woken[i]], "/", i == 1 ? "nonsense" : BODY_GREETING);
		if (i == 1)
			peers[woken[i]] = -1;
	}
	assert_true(load_wait(pair.load, WAIT_MS, &result));
	assert_int_equal(result.ok, wakes - 1);
	assert_int_equal(result.failed, 1);
	assert_string_equal(result.failures.entries[0].cause, "wrong body");
	assert_int_equal(load_wake_times(pair.load)->count, wakes - 1);
	for (int i = 0; i < PEERS; i++)
		close(peers[i]);
	end_pair(&pair);
}

static void wakes_are_spread_over_a_worker(void **state)
{
	(void)state;
	wakes_are_spread(1);
}

static void wakes_are_spread_over_workers(void **state)
{
	(void)state;
	wakes_are_spread(2);
}

/* Those that were to be woken and are not there any more are failures. */
static void nobody_is_left_to_wake(void **state)
{
	struct load_result result;
	struct pair pair;
	int peers[PEERS];

	(void)state;
	start_by_hand(&pair, peers, 1);
	for (int i = 0; i < PEERS; i++)
		close(peers[i]);
	do
		load_dropped(pair.load, &result);
	while (result.open);
	assert_int_equal(load_wakes(pair.load, 7), 0);
	assert_true(load_wait(pair.load, WAIT_MS, &result));
	assert_int_equal(result.ok, 0);
	assert_int_equal(result.failed, 7);
	assert_string_equal(result.failures.entries[0].cause, "no connection to wake");
	end_pair(&pair);
}

#define WITH(tls, park)                                                                            \
	&(struct subject)                                                                          \
	{                                                                                          \
		tls, park                                                                          \
	}
#define AGAINST(test, tls, park)                                                                   \
	{                                                                                          \
#test ": " tls " " #park, test, NULL, NULL, WITH(tls, park)                        \
	}
#define AGAINST_ALL(test)                                                                          \
	AGAINST(test, "openssl", PARK_SHED), AGAINST(test, "openssl", PARK_KEYS),                  \
		AGAINST(test, "boringssl", PARK_SHED), AGAINST(test, "boringssl", PARK_KEYS)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AGAINST_ALL(every_connection_fetches_once),
		AGAINST(every_connection_fetches_once, "plain", PARK_KEYS),
		AGAINST_ALL(keys_change_both_ways),
		AGAINST(keys_change_both_ways, "openssl", PARK_HOLD),
		AGAINST(keys_change_both_ways, "boringssl", PARK_HOLD),
		AGAINST(plain_is_established_once_accepted, "plain", PARK_SHED),
		AGAINST(plain_is_established_once_accepted, "plain", PARK_KEYS),
		AGAINST(plain_has_no_keys_to_change, "plain", PARK_KEYS),
		cmocka_unit_test(a_server_that_keeps_its_keys_fails),
		cmocka_unit_test(only_so_many_fetch_at_a_time),
		cmocka_unit_test(a_fetch_can_fail),
		AGAINST(connections_wake_one_by_one, "plain", PARK_KEYS),
		AGAINST(connections_wake_one_by_one, "openssl", PARK_SHED),
		AGAINST(connections_wake_one_by_one, "boringssl", PARK_KEYS),
		cmocka_unit_test(wakes_are_spread_over_a_worker),
		cmocka_unit_test(wakes_are_spread_over_workers),
		cmocka_unit_test(nobody_is_left_to_wake),
	};

	return cmocka_run_group_tests_name("phases", tests, NULL, NULL);
}
