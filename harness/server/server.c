// SPDX-License-Identifier: Apache-2.0
/* harness/server/ - the server: workers, their listeners, and HTTP as their app. */
#include "harness/server/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/common/clock.h"
#include "harness/common/tally.h"
#include "harness/core/conn.h"
#include "harness/core/listener.h"
#include "harness/server/http.h"
#include "harness/server/prefork.h"

/* What one worker's connections are counted in. */
struct server_worker {
	struct worker worker;
	uint64_t requests;
	uint64_t responses;
	struct tally failures;
};

struct server {
	struct server_config config;
	struct tls_identity *identity;
	bool borrowed_identity;
	struct prefork *prefork; /* workers are processes; else NULL */
	unsigned started;        /* threads */
	struct server_worker workers[];
};

/* ---- the app ---- */

/* The app's bytes of a connection. */
struct server_conn {
	struct http *http; /* while a request is under way; at level hold for good */
};

static struct server_worker *server_worker(const struct worker *worker)
{
	return worker->config.app_data;
}

static void on_established(struct worker *worker, struct conn *conn)
{
	(void)worker;
	(void)conn;
}

static void on_data(struct worker *worker, struct conn *conn, const uint8_t *bytes, size_t len)
{
	struct server_conn *sc = conn_app(conn);
	uint64_t before;

	if (!sc->http)
		sc->http = http_new();
	if (!sc->http) {
		conn_close(worker, conn, "ENOMEM");
		return;
	}
	before = sc->http->requests;
	if (http_input(sc->http, bytes, len))
		conn_close(worker, conn, "ENOMEM");
	else if (sc->http->requests != before)
		conn_progress(conn);
}

static size_t on_produce(struct worker *worker, struct conn *conn, uint8_t *buf, size_t size)
{
	struct server_conn *sc = conn_app(conn);
	size_t len;

	(void)worker;
	if (!sc->http)
		return 0;
	len = http_output(sc->http, buf, size);
	if (http_finished(sc->http))
		conn->last_words = true;
	return len;
}

static bool on_busy(const struct worker *worker, const struct conn *conn)
{
	const struct server_conn *sc = conn_app(conn);

	(void)worker;
	return sc->http && http_busy(sc->http);
}

static void count_http(struct worker *worker, struct http *http)
{
	struct server_worker *sw = server_worker(worker);

	sw->requests += http->requests;
	sw->responses += http->responses;
	http->requests = http->responses = 0;
}

static void on_idle(struct worker *worker, struct conn *conn)
{
	struct server_conn *sc = conn_app(conn);

	if (!sc->http)
		return;
	count_http(worker, sc->http);
	if (worker->config.tls_config.park == PARK_HOLD)
		return;
	http_free(sc->http);
	sc->http = NULL;
}

static void on_gone(struct worker *worker, struct conn *conn, const char *cause)
{
	struct server_conn *sc = conn_app(conn);

	if (sc->http)
		count_http(worker, sc->http);
	http_free(sc->http);
	sc->http = NULL;
	if (cause)
		tally_add(&server_worker(worker)->failures, cause, 1);
}

static const struct app_ops server_app = {
	.conn_size = sizeof(struct server_conn),
	.established = on_established,
	.data = on_data,
	.produce = on_produce,
	.busy = on_busy,
	.idle = on_idle,
	.gone = on_gone,
};

/* ---- start ---- */

static int say(char *reason, size_t size, int rc, const char *what)
{
	snprintf(reason, size, "%s: %s", what, strerror(-rc));
	return rc;
}

static int check_port(const struct server_config *config, char *reason, size_t size)
{
	int rc = listener_port_free((const struct sockaddr *)&config->address, config->address_len);

	if (rc == -EADDRINUSE)
		return say(reason, size, rc,
			   "the address is taken: stop what listens there (ss -ltnp shows it) or "
			   "choose another --listen");
	return rc ? say(reason, size, rc, "can not bind the --listen address") : 0;
}

static int start_worker(struct server *server, char *reason, size_t size)
{
	const struct server_config *c = &server->config;
	struct server_worker *sw = &server->workers[server->started];
	struct worker_config config = {
		.reactor = c->reactor,
		.tls = c->tls,
		.tls_config = {.server = true,
			       .park = c->park,
			       .tickets = c->tickets,
			       .identity = server->identity},
		.app = &server_app,
		.app_data = sw,
		.listen_on = (const struct sockaddr *)&c->address,
		.listen_on_len = c->address_len,
		.own_files = c->sizing.model == WORKER_TABLES,
		.connections_max = c->sizing.connections_max,
		.handshake_timeout_s = c->handshake_timeout_s,
		.idle_timeout_s = c->idle_timeout_s,
		.lock_records = c->lock_records,
		.handshakes_max = c->handshakes_max,
		.no_trim = c->no_trim,
		.deep = {.loops = c->sizing.workers, .idle_ns = WORKER_DEEP_IDLE_MS * NS_PER_MS},
	};
	int rc;

	memcpy(&config.deep.service, &c->address, sizeof(config.deep.service));
	rc = worker_start(&sw->worker, &config, reason, size);
	if (!rc)
		server->started++;
	return rc;
}

static int server_new(struct server **server, const struct server_config *config, char *reason,
		      size_t size)
{
	size_t workers = config->sizing.workers;

	*server = calloc(1, sizeof(**server) + workers * sizeof((*server)->workers[0]));
	if (!*server)
		return say(reason, size, -ENOMEM, "no memory for the workers");
	(*server)->config = *config;
	return 0;
}

static int start_all(struct server *server, char *reason, size_t size)
{
	int rc = 0;

	if (server->config.sizing.model == WORKER_PROCESSES)
		return prefork_start(&server->prefork, &server->config, server->identity, reason,
				     size);
	http_init();
	while (!rc && server->started < server->config.sizing.workers)
		rc = start_worker(server, reason, size);
	return rc;
}

/* Queues and rules are of a process: a second one would take the first one's packets. */
static int check_deep(const struct server_config *config, char *reason, size_t size)
{
	if (config->park != PARK_DEEP)
		return 0;
	if (config->address.ss_family != AF_INET)
		return say(reason, size, EAFNOSUPPORT, "level deep is for IPv4");
	if (config->sizing.model != WORKER_THREADS)
		return say(reason, size, EINVAL,
			   "level deep is for workers that share their files: --worker-model "
			   "threads");
	return 0;
}

int server_start(struct server **out, const struct server_config *config, char *reason,
		 size_t reason_size)
{
	struct server *server;
	int rc = check_port(config, reason, reason_size);

	if (!rc)
		rc = check_deep(config, reason, reason_size);
	if (!rc)
		rc = server_new(&server, config, reason, reason_size);
	if (rc)
		return rc;
	rc = config->tls->identity_new(&server->identity, config->cert_file, config->key_file,
				       reason, reason_size);
	if (!rc)
		rc = start_all(server, reason, reason_size);
	if (rc)
		server_stop(server, 0);
	else
		*out = server;
	return rc;
}

int server_start_child(struct server **out, const struct server_config *config,
		       struct tls_identity *identity, char *reason, size_t reason_size)
{
	struct server *server;
	int rc = server_new(&server, config, reason, reason_size);

	if (rc)
		return rc;
	server->identity = identity;
	server->borrowed_identity = true;
	rc = start_all(server, reason, reason_size);
	if (rc)
		server_stop(server, 0);
	else
		*out = server;
	return rc;
}

/* ---- while it runs ---- */

struct server_sum {
	uint64_t open, accepted, turned_away, shed_listeners, handshakes, dissolved;
	uint64_t requests, responses;
	uint64_t syscalls, stale_events, accept_errors;
	uint64_t handshakes_peak;
	struct reactor_counters deep;
	struct tally failures, kept;
};

static void add_deep(struct reactor_counters *sum, const struct reactor_counters *deep)
{
	sum->deep_now += deep->deep_now;
	sum->deep_parked += deep->deep_parked;
	sum->deep_parked_ns += deep->deep_parked_ns;
	sum->deep_woken += deep->deep_woken;
	sum->deep_woken_ns += deep->deep_woken_ns;
	sum->deep_kept += deep->deep_kept;
	sum->deep_dropped += deep->deep_dropped;
}

/* Those that should have been dissolved by now, had they been idle for long enough. */
static uint64_t sockets_kept(const struct worker *worker)
{
	if (worker->config.tls_config.park != PARK_DEEP)
		return 0;
	return worker->slots.in_use - worker->handshaking - worker->loop.counters.deep_now;
}

static void add_worker(struct worker *worker, void *arg)
{
	const struct server_worker *sw = server_worker(worker);
	struct server_sum *sum = arg;

	sum->open += worker->slots.in_use;
	sum->accepted += worker->counters.accepted;
	sum->turned_away += worker->counters.turned_away;
	sum->shed_listeners += worker->counters.shed_listeners;
	sum->handshakes += worker->counters.handshakes;
	sum->dissolved += worker->counters.dissolved;
	sum->handshakes_peak += worker->counters.handshakes_peak;
	sum->requests += sw->requests;
	sum->responses += sw->responses;
	sum->syscalls += worker->loop.counters.syscalls;
	sum->stale_events += worker->loop.counters.stale_events;
	sum->accept_errors += worker->loop.counters.accept_errors;
	add_deep(&sum->deep, &worker->loop.counters);
	tally_merge(&sum->failures, &sw->failures);
	tally_merge(&sum->kept, &worker->kept);
	if (sockets_kept(worker))
		tally_add(&sum->kept, "socket", sockets_kept(worker));
}

static double average_us(uint64_t ns, uint64_t times)
{
	return times ? (double)ns / (double)times / NS_PER_US : 0;
}

static json_t *deep_json(const struct reactor_counters *deep)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:f,s:f}", "now", (json_int_t)deep->deep_now,
			 "parked", (json_int_t)deep->deep_parked, "woken",
			 (json_int_t)deep->deep_woken, "kept", (json_int_t)deep->deep_kept,
			 "dropped", (json_int_t)deep->deep_dropped, "park_us",
			 average_us(deep->deep_parked_ns, deep->deep_parked), "wake_us",
			 average_us(deep->deep_woken_ns, deep->deep_woken));
}

json_t *server_stats(struct server *server)
{
	struct server_sum sum = {0};

	if (server->prefork)
		return prefork_stats(server->prefork);
	for (unsigned i = 0; i < server->started; i++)
		worker_call(&server->workers[i].worker, add_worker, &sum);
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o*}", "open",
			 (json_int_t)sum.open, "accepted", (json_int_t)sum.accepted, "turned_away",
			 (json_int_t)sum.turned_away, "shed_listeners",
			 (json_int_t)sum.shed_listeners, "handshakes", (json_int_t)sum.handshakes,
			 "dissolved", (json_int_t)sum.dissolved, "handshakes_peak",
			 (json_int_t)sum.handshakes_peak, "requests", (json_int_t)sum.requests,
			 "responses", (json_int_t)sum.responses, "syscalls",
			 (json_int_t)sum.syscalls, "stale_events", (json_int_t)sum.stale_events,
			 "accept_errors", (json_int_t)sum.accept_errors, "failures",
			 tally_json(&sum.failures), "kept", tally_json(&sum.kept), "deep",
			 server->config.park == PARK_DEEP ? deep_json(&sum.deep) : NULL);
}

bool server_failed(struct server *server, char *reason, size_t reason_size)
{
	if (server->prefork)
		return prefork_failed(server->prefork, reason, reason_size);
	for (unsigned i = 0; i < server->started; i++) {
		int error = worker_error(&server->workers[i].worker);

		if (!error)
			continue;
		snprintf(reason, reason_size, "worker %u: the loop of reactor %s failed: %s", i,
			 server->config.reactor->name, strerror(-error));
		return true;
	}
	return false;
}

static void stop_worker(struct worker *worker, void *arg)
{
	worker_stop(worker, *(const unsigned *)arg);
}

static void stop_threads(struct server *server, unsigned grace_s)
{
	struct worker_call *calls = calloc(server->started + 1, sizeof(*calls));

	for (unsigned i = 0; calls && i < server->started; i++) {
		calls[i] = (struct worker_call){.run = stop_worker, .arg = &grace_s};
		worker_post(&server->workers[i].worker, &calls[i]);
	}
	for (unsigned i = 0; i < server->started; i++) {
		if (calls)
			worker_wait(&server->workers[i].worker, &calls[i]);
		worker_join(&server->workers[i].worker);
	}
	free(calls);
}

void server_stop(struct server *server, unsigned grace_s)
{
	if (server->prefork)
		prefork_stop(server->prefork, grace_s);
	stop_threads(server, grace_s);
	if (server->identity && !server->borrowed_identity)
		server->config.tls->identity_free(server->identity);
	free(server);
}
