/* SPDX-License-Identifier: Apache-2.0 */
/* harness/load/tests/ - a server of the tests' own, in this process, and a load on it. */
#ifndef HARNESS_LOAD_TESTS_PAIR_H
#define HARNESS_LOAD_TESTS_PAIR_H

#include <arpa/inet.h>
#include <dlfcn.h>
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
static inline const struct tls_ops *backend(const char *name)
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

static inline int bind_listener(struct sockaddr_in *address)
{
	socklen_t len = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){.sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(fd, (struct sockaddr *)address, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)address, &len), 0);
	return fd;
}

/* On the server of the pair, with what these leave out. */
static inline void start_load_with(struct pair *pair, const struct load_config *given)
{
	struct load_config config = *given;
	char reason[512];

	config.server = pair->address;
	config.sizing.model = WORKER_THREADS;
	config.sizing.workers = given->sizing.workers ? given->sizing.workers : 1;
	config.sizing.connections_max = config.sizing.connections;
	config.ramping_max = 1;
	config.path = "/";
	config.timeout_s = 20;
	assert_int_equal(load_start(&pair->load, &config, reason, sizeof(reason)), 0);
}

static inline void start_load(struct pair *pair, const struct tls_ops *tls, enum park_level park,
			      uint32_t connections, uint32_t in_flight)
{
	start_load_with(pair, &(struct load_config){.tls = tls,
						    .park = park,
						    .sizing.connections = connections,
						    .in_flight = in_flight});
}

static inline struct server_config server_of(const char *tls, enum park_level park)
{
	return (struct server_config){
		.reactor = reactor_find("epoll"),
		.tls = backend(tls),
		.park = park,
		.address_len = sizeof(struct sockaddr_in),
		.sizing = {WORKER_THREADS, 1, 4 * CONNECTIONS, 4 * CONNECTIONS},
		.handshake_timeout_s = 20,
	};
}

/* On a free port; the load is the caller's to start. */
static inline void start_server(struct pair *pair, struct server_config config)
{
	char reason[512];

	*pair = (struct pair){.listener = -1};
	close(bind_listener(&pair->address));
	memcpy(&config.address, &pair->address, sizeof(pair->address));
	if (server_start(&pair->server, &config, reason, sizeof(reason)))
		fail_msg("%s", reason);
}

static inline void start_pair(struct pair *pair, const struct subject *subject)
{
	start_server(pair, server_of(subject->tls, subject->park));
	start_load(pair, backend(subject->tls), subject->park, CONNECTIONS, 8);
}

static inline void end_pair(struct pair *pair)
{
	if (pair->load)
		load_free(pair->load);
	if (pair->server)
		server_stop(pair->server, 1);
	if (pair->listener >= 0)
		close(pair->listener);
}

static inline void expect(struct pair *pair, uint64_t ok, uint64_t failed)
{
	struct load_result result;

	assert_true(load_wait(pair->load, WAIT_MS, &result));
	if (result.ok != ok || result.failed != failed)
		fail_msg("%lu ok and %lu failed (%s), not %lu and %lu", result.ok, result.failed,
			 result.failures.used ? result.failures.entries[0].cause : "", ok, failed);
}

static inline json_int_t stat_of(struct pair *pair, const char *name)
{
	json_t *stats = server_stats(pair->server);
	json_int_t value = json_integer_value(json_object_get(stats, name));

	json_decref(stats);
	return value;
}

/* Waits until the server holds nothing: only then can the same addresses be used again. */
static inline void await_empty(struct pair *pair)
{
	for (int waited_ms = 0; stat_of(pair, "open"); waited_ms += 10) {
		assert_true(waited_ms < WAIT_MS);
		poll(NULL, 0, 10);
	}
}

/* Waits until the server's figure is at least that. */
static inline void await_stat(struct pair *pair, const char *name, json_int_t least)
{
	for (int waited_ms = 0; stat_of(pair, name) < least; waited_ms += 10) {
		if (waited_ms >= WAIT_MS)
			fail_msg("%s does not become %lld", name, (long long)least);
		poll(NULL, 0, 10);
	}
}

#endif
