// SPDX-License-Identifier: Apache-2.0
/* harness/server/ - the server: workers, their listeners, and HTTP as their app. */
#include "harness/server/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/common/clock.h"
#include "harness/common/limits.h"
#include "harness/common/tally.h"
#include "harness/core/conn.h"
#include "harness/server/http.h"

/* As large as somaxconn may let it be: the kernel cuts it down. */
#define LISTEN_BACKLOG 65535
/* Files that a worker needs beside its connections: listener, loop, wake, ring. */
#define FILES_PER_WORKER 8

/* Where the limit on open files is none: as many slots as one worker may have. */
#define CONNECTIONS_MAX (1u << 24)

/* What one worker's connections are counted in. */
struct server_worker {
	struct worker worker;
	int listen_fd;
	uint64_t requests;
	uint64_t responses;
	struct tally failures;
};

struct server {
	struct server_config config;
	struct tls_identity *identity;
	unsigned started;
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

/* ---- listeners ---- */

static int say(char *reason, size_t size, int error, const char *what)
{
	snprintf(reason, size, "%s: %s", what, strerror(error));
	return -error;
}

/* SO_REUSEPORT would let a second server of ours share the port in silence, so the port is
 * first bound without it. */
static int port_free(const struct server_config *config, char *reason, size_t size)
{
	int fd = socket(config->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1, rc = 0;

	if (fd < 0)
		return say(reason, size, errno, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)&config->address, config->address_len)) {
		int error = errno;

		rc = say(reason, size, error,
			 error == EADDRINUSE
				 ? "the address is taken: stop what listens there (ss -ltnp "
				   "shows it) or choose another --listen"
				 : "can not bind the --listen address");
	}
	close(fd);
	return rc;
}

static int open_listener(const struct server_config *config, int *out)
{
	int fd = socket(config->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1, error;

	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)) &&
	    !bind(fd, (const struct sockaddr *)&config->address, config->address_len) &&
	    !listen(fd, LISTEN_BACKLOG)) {
		*out = fd;
		return 0;
	}
	error = errno;
	close(fd);
	return -error;
}

/* ---- start and stop ---- */

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
		/* SO_REUSEPORT spreads unevenly: any worker may get nearly all. */
		.connections_max = c->connections,
		.handshake_timeout_s = c->handshake_timeout_s,
		.idle_timeout_s = c->idle_timeout_s,
		.deep = {.loops = c->workers, .idle_ns = WORKER_DEEP_IDLE_MS * NS_PER_MS},
	};
	int rc = open_listener(c, &sw->listen_fd);

	if (rc)
		return say(reason, size, -rc, "can not listen");
	config.listen_fd = sw->listen_fd;
	memcpy(&config.deep.service, &c->address, sizeof(config.deep.service));
	rc = worker_start(&sw->worker, &config, reason, size);
	if (rc)
		close(sw->listen_fd);
	else
		server->started++;
	return rc;
}

uint32_t server_connections_max(unsigned workers)
{
	uint64_t files = limits_hard_files();
	uint64_t own = LIMITS_SPARE_FILES + (uint64_t)workers * FILES_PER_WORKER;

	if (files <= own)
		return 1;
	return files - own > CONNECTIONS_MAX ? CONNECTIONS_MAX : (uint32_t)(files - own);
}

int server_start(struct server **out, const struct server_config *config, char *reason,
		 size_t reason_size)
{
	struct server *server;
	int rc;

	rc = limits_need_files(config->connections + config->workers * FILES_PER_WORKER, reason,
			       reason_size);
	if (rc)
		return rc;
	rc = port_free(config, reason, reason_size);
	if (rc)
		return rc;
	if (config->park == PARK_DEEP && config->address.ss_family != AF_INET)
		return say(reason, reason_size, EAFNOSUPPORT, "level deep is for IPv4");
	server = calloc(1, sizeof(*server) + config->workers * sizeof(server->workers[0]));
	if (!server)
		return say(reason, reason_size, ENOMEM, "no memory for the workers");
	server->config = *config;
	http_init();
	rc = config->tls->identity_new(&server->identity, config->cert_file, config->key_file,
				       reason, reason_size);
	while (!rc && server->started < config->workers)
		rc = start_worker(server, reason, reason_size);
	if (rc)
		server_stop(server, 0);
	else
		*out = server;
	return rc;
}

struct server_sum {
	uint64_t open, accepted, turned_away, handshakes, requests, responses;
	uint64_t syscalls, stale_events, accept_errors;
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
	sum->handshakes += worker->counters.handshakes;
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

	for (unsigned i = 0; i < server->started; i++)
		worker_call(&server->workers[i].worker, add_worker, &sum);
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o*}", "open",
			 (json_int_t)sum.open, "accepted", (json_int_t)sum.accepted, "turned_away",
			 (json_int_t)sum.turned_away, "handshakes", (json_int_t)sum.handshakes,
			 "requests", (json_int_t)sum.requests, "responses",
			 (json_int_t)sum.responses, "syscalls", (json_int_t)sum.syscalls,
			 "stale_events", (json_int_t)sum.stale_events, "accept_errors",
			 (json_int_t)sum.accept_errors, "failures", tally_json(&sum.failures),
			 "kept", tally_json(&sum.kept), "deep",
			 server->config.park == PARK_DEEP ? deep_json(&sum.deep) : NULL);
}

bool server_failed(struct server *server, char *reason, size_t reason_size)
{
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

void server_stop(struct server *server, unsigned grace_s)
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
		close(server->workers[i].listen_fd);
	}
	free(calls);
	server->config.tls->identity_free(server->identity);
	free(server);
}
