// SPDX-License-Identifier: Apache-2.0
/*
 * harness/server/tests/ - the cap of handshakes under way, with every reactor: no more than so many
 * at a time, peers that stall keep others out only for a while, and who is in is served meanwhile.
 */
#include "harness/load/tests/pair.h"

#define CAP 4
#define SILENT 12

static struct server_config capped(const char *reactor, unsigned timeout_s)
{
	struct server_config config = server_of("openssl", PARK_KEYS);

	config.reactor = reactor_find(reactor);
	config.handshakes_max = CAP;
	config.handshake_timeout_s = timeout_s;
	return config;
}

/* io_uring has accepted what it tells of later, so that a few more may come. */
static bool is_exact(const char *reactor)
{
	return strncmp(reactor, "io_uring", 8) != 0;
}

static void stall(const struct pair *pair, int *silent)
{
	for (int i = 0; i < SILENT; i++) {
		silent[i] = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(silent[i], (const struct sockaddr *)&pair->address,
					 sizeof(pair->address)),
				 0);
	}
}

static void more_connect_than_may_shake_hands(void **state)
{
	const char *reactor = *state;
	struct pair pair;

	start_server(&pair, capped(reactor, 0));
	start_load(&pair, backend("openssl"), PARK_KEYS, CONNECTIONS, 4 * CAP);
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	assert_true(stat_of(&pair, "handshakes_peak") >= 1);
	if (is_exact(reactor))
		assert_true(stat_of(&pair, "handshakes_peak") <= CAP);
	load_round(pair.load);
	expect(&pair, CONNECTIONS, 0);
	end_pair(&pair);
}

/* In a wave there are as many under way at the server as the client has; without the cap. */
static void waves_are_in_flight_at_the_server(void **state)
{
	struct server_config config = capped(*state, 0);
	struct pair pair;

	config.handshakes_max = 0;
	start_server(&pair, config);
	start_load_with(&pair, &(struct load_config){.tls = backend("openssl"),
						     .park = PARK_KEYS,
						     .sizing.connections = CONNECTIONS,
						     .in_flight = CONNECTIONS - 8,
						     .waves = true});
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	assert_int_equal(stat_of(&pair, "handshakes_peak"), CONNECTIONS - 8);
	end_pair(&pair);
}

/* The server answers no more than it may, and the wave goes on without the others. */
static void a_wave_ends_at_the_cap(void **state)
{
	struct pair pair;

	start_server(&pair, capped(*state, 0));
	start_load_with(&pair, &(struct load_config){.tls = backend("openssl"),
						     .park = PARK_KEYS,
						     .sizing.connections = CONNECTIONS,
						     .in_flight = CONNECTIONS,
						     .waves = true});
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	assert_int_equal(stat_of(&pair, "handshakes_peak"), CAP);
	end_pair(&pair);
}

/* Without a time-out, so that the stall lasts for as long as the test wants. */
static void who_is_in_is_served_while_others_stall(void **state)
{
	const char *reactor = *state;
	int silent[SILENT];
	struct pair pair;

	start_server(&pair, capped(reactor, 0));
	start_load(&pair, backend("openssl"), PARK_KEYS, CONNECTIONS, 8);
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	stall(&pair, silent);
	await_stat(&pair, "open", CONNECTIONS + CAP);
	load_round(pair.load);
	expect(&pair, CONNECTIONS, 0);
	if (is_exact(reactor))
		assert_int_equal(stat_of(&pair, "open"), CONNECTIONS + CAP);
	/* They give up, and the next ones come in. */
	for (int i = 0; i < SILENT; i++)
		close(silent[i]);
	load_free(pair.load);
	await_empty(&pair);
	start_load(&pair, backend("openssl"), PARK_KEYS, CONNECTIONS, 8);
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	end_pair(&pair);
}

/* The time-out frees their places, a few at a time. */
static void who_stalls_is_timed_out(void **state)
{
	int silent[SILENT];
	struct pair pair;

	start_server(&pair, capped(*state, 1));
	stall(&pair, silent);
	start_load(&pair, backend("openssl"), PARK_KEYS, CONNECTIONS, 8);
	load_ramp(pair.load);
	expect(&pair, CONNECTIONS, 0);
	assert_int_equal(stat_of(&pair, "accepted"), SILENT + CONNECTIONS);
	for (int i = 0; i < SILENT; i++)
		close(silent[i]);
	end_pair(&pair);
}

#define CASES 2

int main(void)
{
	static const struct {
		const char *name;
		CMUnitTestFunction run;
	} cases[CASES] = {
		{"more connect than may shake hands", more_connect_than_may_shake_hands},
		{"who is in is served while others stall", who_is_in_is_served_while_others_stall},
	};
	static struct CMUnitTest tests[REACTOR_MAX * CASES + 3];
	static char names[REACTOR_MAX * CASES][80];
	const struct reactor_ops *const *reactors;
	char reason[256];
	size_t count, n = 0;

	reactors = reactor_all(&count);
	for (size_t r = 0; r < count; r++) {
		if (reactors[r]->probe(reason, sizeof(reason)))
			continue;
		for (size_t c = 0; c < CASES; c++, n++) {
			snprintf(names[n], sizeof(names[n]), "%s: %s", reactors[r]->name,
				 cases[c].name);
			tests[n] = (struct CMUnitTest){names[n], cases[c].run, NULL, NULL,
						       (void *)reactors[r]->name};
		}
	}
	tests[n++] = (struct CMUnitTest){"who stalls is timed out", who_stalls_is_timed_out, NULL,
					 NULL, (void *)"epoll"};
	tests[n++] =
		(struct CMUnitTest){"waves are in flight at the server",
				    waves_are_in_flight_at_the_server, NULL, NULL, (void *)"epoll"};
	tests[n++] = (struct CMUnitTest){"a wave ends at the cap", a_wave_ends_at_the_cap, NULL,
					 NULL, (void *)"epoll"};
	return _cmocka_run_group_tests("handshakes", tests, n, NULL, NULL);
}
