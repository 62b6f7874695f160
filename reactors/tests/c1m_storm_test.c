// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/tests/ - level deep in a storm: the core with TLS at both ends of a pair of veth, each
 * in a network namespace of its own, on a line that loses, delays and reorders segments. Pauses
 * end while the server's socket is still there, on its way out, or gone; two thirds of the clients
 * are parked deep themselves. c1m_talk.h says what is asked and answered.
 *
 * CONNECTIONS, ROUNDS, TLS, LOSS (a part of 1), DELAY_US in the environment: other than what a test
 * has the time for.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/bench/netns.h"
#include "harness/common/clock.h"
#include "harness/common/limits.h"
#include "harness/measure/net_counters.h"
#include "reactors/tests/c1m_line.h"
#include "reactors/tests/c1m_talk.h"

#define SERVER_ADDRESS "10.0.0.1"
#define CLIENT_ADDRESS "10.0.0.2"

enum {
	PORT = 8443,
	CONNECTIONS_MAX = 50000,
	CLIENTS = 3, /* workers: two at level deep */
	SERVERS_MAX = 4,
	TICK_MS = 5,
	PATIENCE_S = 120, /* without a byte that arrives */
	GRACE_S = 100,
};

struct storm {
	const struct tls_ops *tls;
	struct tls_identity *identity;
	uint32_t connections, rounds;
	unsigned servers;
	bool own_files; /* of clients: one table is too small for both ends of all */
	int server_net, client_net;
	struct line *server_line, *client_line;
	struct sockaddr_in address;
	struct end ends[CLIENTS + SERVERS_MAX]; /* clients first */
};

/* ---- two networks ---- */

static void run_or_fail(const char *command)
{
	if (system(command))
		fail_msg("failed: %s", command);
}

static int this_net(void)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void enter(int net)
{
	assert_int_equal(setns(net, CLONE_NEWNET), 0);
}

/* One segment a packet, as on a line: else many are lost, or late, as one. */
static void make_networks(struct storm *storm)
{
	static char reason[512];
	char command[256];

	if (netns_enter(0, reason, sizeof(reason)))
		fail_msg("%s", reason);
	storm->server_net = this_net();
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	storm->client_net = this_net();
	run_or_fail("ip link add wire type veth peer name far && "
		    "ip addr add " CLIENT_ADDRESS "/24 dev wire && "
		    "ip link set wire gso_max_segs 1 up");
	enter(storm->server_net);
	snprintf(command, sizeof(command),
		 "nsenter --net=/proc/$PPID/fd/%d ip link set far netns $PPID && "
		 "ip addr add " SERVER_ADDRESS "/24 dev far && ip link set far gso_max_segs 1 up",
		 storm->client_net);
	run_or_fail(command);
}

static const char *setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value ? value : otherwise;
}

static struct line *start_line(void)
{
	struct line *line;
	char reason[256];

	if (line_start(&line, strtod(setting("LOSS", "0.005"), NULL),
		       (unsigned)atoi(setting("DELAY_US", "15000")), reason, sizeof(reason)))
		fail_msg("%s", reason);
	return line;
}

/* ---- the storm ---- */

static const struct tls_ops *backend(const char *name)
{
	const struct tls_ops *ops;
	char path[512], reason[512];
	void *plugin;

	snprintf(path, sizeof(path), "%s/%s.so", setting("PARKBENCH_TLS_DIR", "build/tls"), name);
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* for as long as the program runs */
	if (!plugin)
		fail_msg("%s", dlerror());
	ops = dlsym(plugin, TLS_PLUGIN_SYMBOL);
	assert_non_null(ops);
	assert_int_equal(ops->check(reason, sizeof(reason)), 0);
	return ops;
}

static void start_end(struct storm *storm, struct end *end, struct worker_config config)
{
	char reason[512] = "";

	*end = (struct end){.seed = (unsigned)(end - storm->ends),
			    .rounds = storm->rounds,
			    .talks = calloc(storm->connections, sizeof(struct talk))};
	assert_non_null(end->talks);
	config.tls = storm->tls;
	config.app_data = end;
	config.connections_max = storm->connections;
	config.handshake_timeout_s = PATIENCE_S;
	config.deep.service = storm->address;
	config.deep.idle_ns = WORKER_DEEP_IDLE_MS * NS_PER_MS;
	if (worker_start(&end->worker, &config, reason, sizeof(reason)))
		fail_msg("%s", reason);
}

static void start_server(struct storm *storm, struct end *end)
{
	start_end(storm, end,
		  (struct worker_config){
			  .reactor = reactor_find("c1m"),
			  .tls_config = {.server = true,
					 .park = PARK_DEEP,
					 .identity = storm->identity},
			  .app = &storm_server,
			  .listen_on = (const struct sockaddr *)&storm->address,
			  .listen_on_len = sizeof(storm->address),
			  .deep = {.loops = storm->servers},
		  });
}

static void start_client(struct storm *storm, unsigned i)
{
	struct end *end = &storm->ends[i];
	bool deep = i > 0;

	start_end(storm, end,
		  (struct worker_config){
			  .reactor = reactor_find(deep ? "c1m" : "epoll"),
			  .tls_config = {.park = deep ? PARK_DEEP : PARK_KEYS},
			  .app = &storm_client,
			  .own_files = storm->own_files,
			  .deep = {.client = true, .loops = CLIENTS - 1},
		  });
	end->source.sin_family = AF_INET;
	inet_pton(AF_INET, CLIENT_ADDRESS, &end->source.sin_addr);
	end->server = storm->address;
	end->first = storm->connections * i / CLIENTS;
	end->quota = storm->connections * (i + 1) / CLIENTS - end->first;
}

static void start(struct storm *storm)
{
	char reason[512];

	if (storm->tls->identity_new(&storm->identity, NULL, NULL, reason, sizeof(reason)))
		fail_msg("%s", reason);
	enter(storm->server_net);
	storm->server_line = start_line();
	for (unsigned i = 0; i < storm->servers; i++)
		start_server(storm, &storm->ends[CLIENTS + i]);
	enter(storm->client_net);
	storm->client_line = start_line();
	for (unsigned i = 0; i < CLIENTS; i++)
		start_client(storm, i);
}

struct sum {
	uint64_t received, failed, done, open;
};

static void add_end(struct worker *worker, void *arg)
{
	const struct end *end = end_of(worker);
	struct sum *sum = arg;

	sum->received += end->received;
	sum->failed += end->failures.total;
	sum->done += end->done;
	sum->open += worker->slots.in_use;
}

static struct sum sum_up(struct storm *storm, unsigned from, unsigned to)
{
	struct sum sum = {0};

	for (unsigned i = from; i < to; i++)
		worker_call(&storm->ends[i].worker, add_end, &sum);
	return sum;
}

/* Until every connection had all its rounds, or one of them failed, or none gets on. */
static void blow(struct storm *storm)
{
	uint64_t received = 0, since_ns = clock_now_ns();
	struct sum sum;

	do {
		poll(NULL, 0, TICK_MS);
		for (unsigned i = 0; i < CLIENTS; i++)
			worker_call(&storm->ends[i].worker, storm_tick, NULL);
		sum = sum_up(storm, 0, CLIENTS + storm->servers);
		if (sum.received != received)
			since_ns = clock_now_ns();
		received = sum.received;
	} while (sum.done < storm->connections && !sum.failed &&
		 clock_now_ns() - since_ns < PATIENCE_S * NS_PER_S);
	print_message("# %llu of %u connections had %u rounds; %llu bytes\n",
		      (unsigned long long)sum.done, storm->connections, storm->rounds,
		      (unsigned long long)sum.received);
}

static void begin_stop(struct worker *worker, void *arg)
{
	(void)arg;
	worker_stop(worker, GRACE_S);
}

static void await_empty(struct storm *storm, unsigned from, unsigned to)
{
	uint64_t limit_ns = clock_now_ns() + GRACE_S * NS_PER_S;

	while (sum_up(storm, from, to).open && clock_now_ns() < limit_ns)
		poll(NULL, 0, TICK_MS);
}

/* One side says goodbye, and the other has to notice. */
static void stop(struct storm *storm, bool clients_first)
{
	unsigned ends = CLIENTS + storm->servers;

	for (unsigned i = 0; i < ends; i++)
		if ((i < CLIENTS) == clients_first)
			worker_call(&storm->ends[i].worker, begin_stop, NULL);
	if (clients_first)
		await_empty(storm, CLIENTS, ends);
	else
		await_empty(storm, 0, CLIENTS);
	for (unsigned i = 0; i < ends; i++) {
		if ((i < CLIENTS) != clients_first)
			worker_call(&storm->ends[i].worker, begin_stop, NULL);
	}
	for (unsigned i = 0; i < ends; i++)
		worker_join(&storm->ends[i].worker);
	enter(storm->client_net);
	line_end(storm->client_line);
	enter(storm->server_net);
	line_end(storm->server_line);
}

/* ---- what came of it ---- */

static void report_net(const char *side)
{
	struct net_counters net;

	assert_int_equal(net_counters_read("/proc/thread-self/net", &net), 0);
	print_message("# %s: %llu segments repeated, %llu RST\n", side,
		      (unsigned long long)net.retrans_segs, (unsigned long long)net.out_rsts);
}

static uint32_t report_ends(struct storm *storm, const char *side, unsigned from, unsigned to)
{
	struct reactor_counters all = {0};
	struct tally failures = {0};
	uint32_t closed = 0;

	for (unsigned i = from; i < to; i++) {
		const struct reactor_counters *one = &storm->ends[i].worker.loop.counters;

		all.deep_parked += one->deep_parked;
		all.deep_woken += one->deep_woken;
		all.deep_kept += one->deep_kept;
		all.deep_dropped += one->deep_dropped;
		closed += storm->ends[i].closed;
		tally_merge(&failures, &storm->ends[i].failures);
		free(storm->ends[i].talks);
	}
	print_message("# %s: %llu parked, %llu woken, %llu kept, %llu dropped; %u ended well\n",
		      side, (unsigned long long)all.deep_parked, (unsigned long long)all.deep_woken,
		      (unsigned long long)all.deep_kept, (unsigned long long)all.deep_dropped,
		      closed);
	for (size_t i = 0; i < failures.used; i++)
		print_message("# %s: %llu: %s\n", side,
			      (unsigned long long)failures.entries[i].count,
			      failures.entries[i].cause);
	return closed;
}

static void report(struct storm *storm)
{
	uint32_t at_server = report_ends(storm, "server", CLIENTS, CLIENTS + storm->servers);
	uint32_t at_clients = report_ends(storm, "clients", 0, CLIENTS);

	enter(storm->client_net);
	report_net("clients");
	enter(storm->server_net);
	report_net("server");
	storm->tls->identity_free(storm->identity);
	assert_int_equal(at_server, storm->connections);
	assert_int_equal(at_clients, storm->connections);
}

static void run(unsigned servers, bool clients_first)
{
	static struct storm storm;
	char reason[512];

	storm = (struct storm){
		.tls = backend(setting("TLS", "openssl")),
		.connections = (uint32_t)atoi(setting("CONNECTIONS", "300")),
		.rounds = (uint32_t)atoi(setting("ROUNDS", "6")),
		.servers = servers,
		.address = {.sin_family = AF_INET, .sin_port = htons(PORT)},
	};
	assert_in_range(storm.connections, 1, CONNECTIONS_MAX);
	storm.own_files = limits_raise_files() < 3 * storm.connections;
	inet_pton(AF_INET, SERVER_ADDRESS, &storm.address.sin_addr);
	if (netns_probe(reason, sizeof(reason))) {
		print_message("# %s\n", reason);
		skip();
	}
	make_networks(&storm);
	start(&storm);
	blow(&storm);
	stop(&storm, clients_first);
	report(&storm);
}

static void one_worker(void **state)
{
	(void)state;
	run(1, true);
}

static void several_workers(void **state)
{
	(void)state;
	run(SERVERS_MAX - 1, false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_worker),
		cmocka_unit_test(several_workers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("level deep in a storm", tests, NULL, NULL);
}
