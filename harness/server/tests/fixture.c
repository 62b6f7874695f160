// SPDX-License-Identifier: Apache-2.0
/* harness/server/tests/ - see the header. Source: tcp(7). */
#include "harness/server/tests/fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "harness/common/body.h"
#include "tls_backends/tests/endpoints.h"

/* A receive buffer and segments so small that the server's send buffer stays small too. */
#define NARROW_RCVBUF 2304
#define NARROW_MAXSEG 1400

/* ---- for each reactor and library ---- */

static const char *const libraries[] = {"openssl", "boringssl"};

#define LIBRARIES (sizeof(libraries) / sizeof(*libraries))

static int run_subject(const char *group, const struct CMUnitTest *tests, size_t count,
		       struct subject *subject)
{
	struct CMUnitTest *own = calloc(count, sizeof(*own));
	char(*names)[96] = calloc(count, sizeof(*names));
	int failed;

	if (!own || !names)
		exit(1);
	for (size_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "%s+%s: %s", subject->reactor, subject->tls,
			 tests[i].name);
		own[i] = tests[i];
		own[i].name = names[i];
		own[i].initial_state = subject;
	}
	failed = _cmocka_run_group_tests(group, own, count, NULL, NULL);
	free(own);
	free(names);
	return failed;
}

int for_each_subject(const char *group, const struct CMUnitTest *tests, size_t count,
		     const char *const *reactors)
{
	int failed = 0;
	char reason[256];

	for (; *reactors; reactors++) {
		const struct reactor_ops *reactor = reactor_find(*reactors);

		for (size_t i = 0; i < LIBRARIES; i++) {
			struct subject subject = {*reactors, libraries[i]};

			if (reactor && !reactor->probe(reason, sizeof(reason)) &&
			    plugin(libraries[i]))
				failed += run_subject(group, tests, count, &subject);
			else
				printf("ok - %s+%s # SKIP not here\n", *reactors, libraries[i]);
		}
	}
	return failed;
}

/* ---- the server ---- */

static void choose_address(struct live *live)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	close(fd);
	memcpy(&live->address, &a, sizeof(a));
	live->address_len = sizeof(a);
}

void live_start(struct live *live, const struct subject *subject)
{
	const struct tls_config client = {.park = PARK_HOLD};
	struct server_config config = {
		.reactor = reactor_find(subject->reactor),
		.tls = plugin(subject->tls),
		.park = PARK_KEYS,
		.sizing = {.model = WORKER_THREADS,
			   .workers = 1,
			   .connections = 1000,
			   .connections_max = 1000},
		.handshake_timeout_s = PATIENCE_S,
	};
	char reason[512] = "";

	if (!config.tls) {
		fail_msg("no TLS backend %s", subject->tls);
		return;
	}
	choose_address(live);
	config.address = live->address;
	config.address_len = live->address_len;
	if (server_start(&live->server, &config, reason, sizeof(reason)))
		fail_msg("%s", reason);
	live->client_tls = plugin(libraries[subject->tls == libraries[0]]);
	if (!live->client_tls)
		live->client_tls = config.tls;
	if (live->client_tls->ctx_new(&live->client_ctx, &client, reason, sizeof(reason)))
		fail_msg("%s", reason);
}

void live_stop(struct live *live)
{
	server_stop(live->server, PATIENCE_S);
	live->client_tls->ctx_free(live->client_ctx);
}

json_int_t live_stat(const struct live *live, const char *name)
{
	json_t *stats = server_stats(live->server);
	json_int_t value = json_integer_value(json_object_get(stats, name));

	json_decref(stats);
	return value;
}

static json_int_t sum(const struct live *live, const char *tally, const char *only)
{
	json_t *stats = server_stats(live->server), *count;
	json_int_t total = 0;
	const char *cause;

	json_object_foreach(json_object_get(stats, tally), cause, count)
	{
		if (!only || !strcmp(only, cause))
			total += json_integer_value(count);
	}
	json_decref(stats);
	return total;
}

json_int_t live_failures(const struct live *live, const char *cause)
{
	return sum(live, "failures", cause);
}

json_int_t live_kept(const struct live *live)
{
	return sum(live, "kept", NULL);
}

void live_wait(const struct live *live, const char *name, json_int_t value)
{
	for (int i = 0; i < PATIENCE_S * 100; i++) {
		if (live_stat(live, name) == value)
			return;
		usleep(10000);
	}
	fail_msg("%s: %lld, not %lld", name, (long long)live_stat(live, name), (long long)value);
}

/* ---- clients ---- */

/* A probe of io_uring leaves work to this thread, which interrupts its calls: an interrupted
 * connect goes on by itself. */
static void connect_to(int fd, const struct live *live)
{
	struct pollfd connecting = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(int);
	int error = 0, rc;

	if (!connect(fd, (const struct sockaddr *)&live->address, live->address_len))
		return;
	if (errno != EINTR)
		fail_msg("connect: %s", strerror(errno));
	do
		rc = poll(&connecting, 1, PATIENCE_S * 1000);
	while (rc < 0 && errno == EINTR);
	assert_int_equal(rc, 1);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len), 0);
	assert_int_equal(error, 0);
}

static void dial(struct client *client, bool narrow)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	const int buffer = NARROW_RCVBUF, segment = NARROW_MAXSEG, one = 1;
	const struct live *live = client->live;

	client->fd = socket(live->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(client->fd >= 0);
	setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (narrow) {
		setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
		setsockopt(client->fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment));
	}
	connect_to(client->fd, live);
}

/* More ciphertext behind what is there: 0, -ENODATA, or how the socket failed. */
static int receive(struct client *client)
{
	ssize_t n;

	do
		n = recv(client->fd, client->in + client->in_len,
			 sizeof(client->in) - client->in_len, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	client->in_len += (size_t)n;
	return n ? 0 : -ENODATA;
}

static void keep_rest(struct client *client, const struct tls_io *io)
{
	memmove(client->in, io->in, io->in_len);
	client->in_len = io->in_len;
}

static void shake_hands(struct client *client)
{
	const struct tls_ops *tls = client->live->client_tls;
	int rc;

	for (;;) {
		uint8_t out[4096];
		struct tls_io io = {.in = client->in,
				    .in_len = client->in_len,
				    .out = out,
				    .out_size = sizeof(out)};

		rc = tls->handshake(client->session, &io);
		keep_rest(client, &io);
		client_put(client, out, io.out_len);
		if (rc != -EINPROGRESS)
			break;
		assert_int_equal(receive(client), 0);
	}
	if (rc)
		fail_msg("handshake: %s", tls->strerror(client->live->client_ctx));
}

void client_open(struct client *client, const struct live *live, bool narrow)
{
	client->live = live;
	client->in_len = 0;
	dial(client, narrow);
	assert_int_equal(live->client_tls->open(live->client_ctx, &client->session), 0);
	shake_hands(client);
}

void client_widen(const struct client *client)
{
	const int buffer = 1 << 20, window = 60000;

	setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	setsockopt(client->fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &window, sizeof(window));
}

void client_close(struct client *client)
{
	client->live->client_tls->close(client->session);
	close(client->fd);
}

size_t client_seal(const struct client *client, const void *plain, size_t len, uint8_t *record,
		   size_t size)
{
	struct tls_io io = {.out = record, .out_size = size};
	size_t used;

	assert_int_equal(client->live->client_tls->encrypt(client->session, &io, plain, len, &used),
			 0);
	assert_int_equal(used, len);
	return io.out_len;
}

size_t client_seal_close_notify(const struct client *client, uint8_t *record, size_t size)
{
	struct tls_io io = {.out = record, .out_size = size};

	assert_int_equal(client->live->client_tls->close_notify(client->session, &io), 0);
	return io.out_len;
}

void client_put(const struct client *client, const uint8_t *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(client->fd, bytes, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			fail_msg("send: %s", strerror(errno));
		bytes += n;
		len -= (size_t)n;
	}
}

void client_ask(const struct client *client, const char *path)
{
	char request[128];
	uint8_t record[1024];
	int len = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);

	client_put(client, record,
		   client_seal(client, request, (size_t)len, record, sizeof(record)));
}

int client_read(struct client *client, uint8_t *plain, size_t size, size_t *len)
{
	const struct tls_ops *tls = client->live->client_tls;
	int rc = 0;

	while (!rc) {
		uint8_t out[TLS_OUT_MIN];
		struct tls_io io = {.in = client->in,
				    .in_len = client->in_len,
				    .out = out,
				    .out_size = sizeof(out)};

		rc = tls->decrypt(client->session, &io, plain, size, len);
		keep_rest(client, &io);
		if (rc != -EINPROGRESS)
			return rc;
		rc = receive(client);
	}
	return rc;
}

static void expect_header(const char *header, size_t body_len)
{
	char length[64];

	snprintf(length, sizeof(length), "\r\nContent-Length: %zu\r\n", body_len);
	assert_memory_equal(header, "HTTP/1.1 200 ", 13);
	assert_non_null(strstr(header, length));
}

/* The header is in the first record, as the server writes it. */
void client_expect(struct client *client, size_t body_len)
{
	static uint8_t plain[TLS_RECORD_PLAIN_MAX + 1];
	size_t got = 0, len, header_len = 0;

	do {
		int rc = client_read(client, plain, TLS_RECORD_PLAIN_MAX, &len);
		uint8_t *body = plain;

		if (rc)
			fail_msg("after %zu of %zu bytes: %s", got, body_len, strerror(-rc));
		plain[len] = '\0';
		if (!header_len) {
			body = (uint8_t *)strstr((char *)plain, "\r\n\r\n");
			assert_non_null(body);
			body += 4;
			header_len = (size_t)(body - plain);
			expect_header((char *)plain, body_len);
		}
		len -= (size_t)(body - plain);
		assert_int_equal(body_differs(body, got, len), 0);
		got += len;
	} while (got < body_len);
	assert_int_equal(got, body_len);
}

void client_get(struct client *client, size_t body_len)
{
	char path[32];

	snprintf(path, sizeof(path), "/%zu", body_len);
	client_ask(client, path);
	client_expect(client, body_len);
}
