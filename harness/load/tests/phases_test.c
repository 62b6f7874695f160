// SPDX-License-Identifier: Apache-2.0
/*
 * harness/load/tests/ - the phases of the load generator: against the real server, with each TLS
 * backend at the levels shed and keys on both sides, and against a peer that answers by hand.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/load/load.h"
#include "harness/server/server.h"

#define CONNECTIONS 40
#define WAIT_MS 30000

struct subject {
	const char *tls;
	enum park_level park;
};

/* A server and the load on it; or, with no server, a listener of the test's own. */
struct pair {
	struct server *server;
	struct load *load;
	int listener;
	struct sockaddr_in address;
};

/* Stays open for as long as the program runs. */
static const struct tls_ops *backend(const char *name)
{
	const char *dir = getenv("PARKBENCH_TLS_DIR");
	const struct tls_ops *ops;
	char path[512], reason[512];
	void *plugin;

	snprintf(path, sizeof(path), "%s/%s.so", dir ? dir : "build/tls", name);
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin)
		fail_msg("%s", dlerror());
	ops = dlsym(plugin, TLS_PLUGIN_SYMBOL);
	assert_non_null(ops);
	assert_int_equal(ops->check(reason, sizeof(reason)), 0);
	return ops;
}

static int bind_listener(struct sockaddr_in *address)
{
	socklen_t len = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){.sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(fd, (struct sockaddr *)address, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)address, &len), 0);
	return fd;
}

static void start_load(struct pair *pair, const struct tls_ops *tls, enum park_level park,
		       uint32_t connections, uint32_t in_flight)
{
	struct load_config config = {
		.tls = tls,
		.park = park,
		.server = pair->address,
		.sizing = {WORKER_THREADS, 1, connections, connections},
		.in_flight = in_flight,
		.ramping_max = 1,
		.path = "/",
		.timeout_s = 20,
	};
	char reason[512];

	assert_int_equal(load_start(&pair->load, &config, reason, sizeof(reason)), 0);
}

/* The client has a backend of its own. */
static void start_pair_with(struct pair *pair, const struct subject *subject,
			    const struct tls_ops *client)
{
	struct server_config config = {
		.reactor = reactor_find("epoll"),
		.tls = backend(subject->tls),
		.park = subject->park,
		.address_len = sizeof(struct sockaddr_in),
		.sizing = {WORKER_THREADS, 1, 2 * CONNECTIONS, 2 * CONNECTIONS},
		.handshake_timeout_s = 20,
	};
	char reason[512];

	*pair = (struct pair){.listener = -1};
	close(bind_listener(&pair->address));
	memcpy(&config.address, &pair->address, sizeof(pair->address));
	if (server_start(&pair->server, &config, reason, sizeof(reason)))
		fail_msg("%s", reason);
	start_load(pair, client, subject->park, CONNECTIONS, 8);
}

static void start_pair(struct pair *pair, const struct subject *subject)
{
	start_pair_with(pair, subject, backend(subject->tls));
}

static void end_pair(struct pair *pair)
{
	load_free(pair->load);
	if (pair->server)
		server_stop(pair->server, 1);
	if (pair->listener >= 0)
		close(pair->listener);
}

static void expect(struct pair *pair, uint64_t ok, uint64_t failed)
{
	struct load_result result;

	assert_true(load_wait(pair->load, WAIT_MS, &result));
	if (result.ok != ok || result.failed != failed)
		fail_msg("%lu ok and %lu failed (%s), not %lu and %lu", result.ok, result.failed,
			 result.failures.used ? result.failures.entries[0].cause : "", ok, failed);
}

static json_int_t stat_of(struct pair *pair, const char *name)
{
	json_t *stats = server_stats(pair->server);
	json_int_t value = json_integer_value(json_object_get(stats, name));

	json_decref(stats);
	return value;
}

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
	for (int waited_ms = 0; stat_of(&pair, "handshakes") < CONNECTIONS; waited_ms += 10) {
		assert_true(waited_ms < WAIT_MS);
		poll(NULL, 0, 10);
	}
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

/* A server that goes on under its old keys breaks the protocol, but nothing else would show it. */
static bool never_updates(const struct tls_parked *parked)
{
	(void)parked;
	return true;
}

static void a_server_that_keeps_its_keys_fails(void **state)
{
	struct tls_ops ops = *backend("openssl");
	const struct subject subject = {"openssl", PARK_KEYS};
	struct load_result result;
	struct pair pair;

	(void)state;
	ops.parked_awaits_key_update = never_updates;
	start_pair_with(&pair, &subject, &ops);
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

/* Which of the peers have been asked and not answered; how many, once none is added any more. */
static unsigned asked(const int *peers, bool *has_asked)
{
	unsigned count = 0, before;

	do {
		before = count;
		count = 0;
		poll(NULL, 0, 100);
		for (int i = 0; i < PEERS; i++) {
			struct pollfd fd = {.fd = peers[i], .events = POLLIN};

			has_asked[i] = poll(&fd, 1, 0) == 1;
			count += has_asked[i];
		}
	} while (!count || count != before);
	return count;
}

static void answer(int peer, const char *body)
{
	char text[256];
	ssize_t got = recv(peer, text, sizeof(text) - 1, 0);

	assert_true(got > 0);
	text[got] = '\0';
	assert_non_null(strstr(text, "GET /3 HTTP/1.1\r\n"));
	snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
		 strlen(body), body);
	assert_int_equal(send(peer, text, strlen(text), 0), strlen(text));
}

static void start_by_hand(struct pair *pair, int *peers)
{
	*pair = (struct pair){0};
	pair->listener = bind_listener(&pair->address);
	assert_int_equal(listen(pair->listener, PEERS), 0);
	start_load(pair, backend("plain"), PARK_KEYS, PEERS, AT_ONCE);
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
	start_by_hand(&pair, peers);
	load_fetch(pair.load, 3);
	for (; done < PEERS; done += count) {
		count = asked(peers, has_asked);
		assert_int_equal(count, PEERS - done < AT_ONCE ? PEERS - done : AT_ONCE);
		for (int i = 0; i < PEERS; i++)
			if (has_asked[i])
				answer(peers[i], "abc");
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
	start_by_hand(&pair, peers);
	load_fetch(pair.load, 3);
	while (done < PEERS) {
		asked(peers, has_asked);
		for (int i = 0; i < PEERS; i++) {
			if (!has_asked[i])
				continue;
			answer(peers[i], bodies[done < 3 ? done : 3]);
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
	};

	return cmocka_run_group_tests_name("phases", tests, NULL, NULL);
}
