// SPDX-License-Identifier: Apache-2.0
/* reactors/tests/ - what is said in a storm. */
#include "reactors/tests/c1m_talk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/common/clock.h"
#include "harness/core/conn.h"
#include "harness/core/keys.h"

enum {
	IN_FLIGHT = 32, /* handshakes of a client's worker */
	ID_BYTES = 4,   /* a stream of requests begins with who sends it */
};

/* ---- what is said ---- */

static uint32_t mix(uint32_t x)
{
	x = (x ^ x >> 16) * 0x85ebca6bu;
	x = (x ^ x >> 13) * 0xc2b2ae35u;
	return x ^ x >> 16;
}

static uint8_t stream_byte(uint32_t id, bool answer, uint32_t at)
{
	if (!answer && at < ID_BYTES)
		return (uint8_t)(id >> 8 * at);
	return (uint8_t)mix(at + mix(2 * id + answer));
}

/* Of a request or an answer: half of them fit a segment easily, some take many. */
static uint32_t size_of(uint32_t id, bool answer, uint32_t round)
{
	static const uint32_t most[] = {100, 100, 3000, 40000};
	uint32_t random = mix(mix(2 * id + answer) + round);
	uint32_t size = 1 + (random >> 2) % most[random % 4];

	return !answer && !round ? size + ID_BYTES : size;
}

/* False: the connection is being closed. */
static bool check(struct end *end, struct conn *conn, struct talk *talk, const uint8_t *bytes,
		  size_t len, bool answer)
{
	end->received += len;
	for (size_t i = 0; i < len; i++, talk->received++) {
		uint8_t byte = stream_byte(talk->id, answer, talk->received);

		if (bytes[i] == byte)
			continue;
		printf("# connection %u, %s, byte %u: %02x is not %02x\n", talk->id,
		       answer ? "answers" : "requests", talk->received, bytes[i], byte);
		conn_close(&end->worker, conn, "a wrong byte");
		return false;
	}
	return true;
}

static size_t on_produce(struct worker *worker, struct conn *conn, uint8_t *buf, size_t size)
{
	struct talk *talk = &end_of(worker)->talks[conn->slot];
	bool answer = worker->config.tls_config.server;
	size_t len = talk->to_send - talk->sent;

	if (len > size)
		len = size;
	for (size_t i = 0; i < len; i++)
		buf[i] = stream_byte(talk->id, answer, talk->sent++);
	return len;
}

/* Half a request is no reason not to be parked. */
static bool on_busy(const struct worker *worker, const struct conn *conn)
{
	const struct talk *talk = &end_of(worker)->talks[conn->slot];

	return talk->sent < talk->to_send;
}

static void on_idle(struct worker *worker, struct conn *conn)
{
	(void)worker, (void)conn;
}

static void on_gone(struct worker *worker, struct conn *conn, const char *cause)
{
	struct end *end = end_of(worker);

	if (!cause && end->talks[conn->slot].round < end->rounds)
		cause = "closed before its time";
	if (cause)
		tally_add(&end->failures, cause, 1);
	else
		end->closed++;
}

/* ---- the server ---- */

static void server_established(struct worker *worker, struct conn *conn)
{
	end_of(worker)->talks[conn->slot] = (struct talk){.to_receive = ID_BYTES};
}

/* Its first bytes say who it is. */
static size_t meet(struct talk *talk, const uint8_t *bytes, size_t len)
{
	size_t n = 0;

	for (; n < len && talk->received < ID_BYTES; n++)
		talk->id |= (uint32_t)bytes[n] << 8 * talk->received++;
	if (n && talk->received == ID_BYTES)
		talk->to_receive = size_of(talk->id, false, 0);
	return n;
}

static void server_data(struct worker *worker, struct conn *conn, const uint8_t *bytes, size_t len)
{
	struct end *end = end_of(worker);
	struct talk *talk = &end->talks[conn->slot];
	size_t met = meet(talk, bytes, len);

	if (!check(end, conn, talk, bytes + met, len - met, false))
		return;
	if (talk->received < talk->to_receive || talk->received < ID_BYTES)
		return;
	talk->to_send += size_of(talk->id, true, talk->round++);
	talk->to_receive += size_of(talk->id, false, talk->round);
}

const struct app_ops storm_server = {
	.established = server_established,
	.data = server_data,
	.produce = on_produce,
	.busy = on_busy,
	.idle = on_idle,
	.gone = on_gone,
};

/* ---- clients ---- */

/* Ends while the server's socket is there, about when it goes, or after that. */
static uint64_t pause_ns(struct end *end)
{
	static const struct {
		unsigned least_ms, most_ms;
	} pauses[] = {
		{0, 20},
		{WORKER_DEEP_IDLE_MS - 20, WORKER_DEEP_IDLE_MS + 60},
		{WORKER_DEEP_IDLE_MS + 60, 3 * WORKER_DEEP_IDLE_MS},
	};
	unsigned kind = (unsigned)rand_r(&end->seed) % 3;
	unsigned range_us = (pauses[kind].most_ms - pauses[kind].least_ms) * 1000;

	return pauses[kind].least_ms * NS_PER_MS + rand_r(&end->seed) % range_us * NS_PER_US;
}

static void client_established(struct worker *worker, struct conn *conn)
{
	struct end *end = end_of(worker);

	end->in_flight--;
	end->talks[conn->slot].due_ns = clock_now_ns() + pause_ns(end);
}

static void client_data(struct worker *worker, struct conn *conn, const uint8_t *bytes, size_t len)
{
	struct end *end = end_of(worker);
	struct talk *talk = &end->talks[conn->slot];

	if (!check(end, conn, talk, bytes, len, true) || talk->received != talk->to_receive)
		return;
	if (++talk->round == end->rounds)
		end->done++;
	else
		talk->due_ns = clock_now_ns() + pause_ns(end);
}

const struct app_ops storm_client = {
	.established = client_established,
	.data = client_data,
	.produce = on_produce,
	.busy = on_busy,
	.idle = on_idle,
	.gone = on_gone,
};

static void start_one(struct end *end)
{
	uint32_t id = end->first + end->started++;
	struct sockaddr_in source = end->source;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 0;
	struct conn *conn = NULL;

	source.sin_port = htons((uint16_t)(STORM_FIRST_PORT + id));
	if (fd < 0 || bind(fd, (const struct sockaddr *)&source, sizeof(source)) ||
	    (connect(fd, (const struct sockaddr *)&end->server, sizeof(end->server)) &&
	     errno != EINPROGRESS))
		error = errno;
	else
		conn = conn_open(&end->worker, fd, &error);
	if (!conn) {
		tally_add_errno(&end->failures, error);
		return;
	}
	end->in_flight++;
	end->talks[conn->slot] = (struct talk){.id = id};
	conn_output(&end->worker, conn);
}

/* All of a request, or the first of two parts, or the second. */
static void speak(struct end *end, struct talk *talk)
{
	uint32_t part = talk->unasked;

	if (!part) {
		part = size_of(talk->id, false, talk->round);
		talk->to_receive += size_of(talk->id, true, talk->round);
		if (part > 1 && rand_r(&end->seed) % 4 == 0)
			talk->unasked = 1 + (uint32_t)rand_r(&end->seed) % (part - 1);
		part -= talk->unasked;
	} else {
		talk->unasked = 0;
	}
	talk->to_send += part;
	talk->due_ns = talk->unasked ? clock_now_ns() + pause_ns(end) : 0;
}

void storm_tick(struct worker *worker, void *unused)
{
	struct end *end = end_of(worker);
	uint64_t now = clock_now_ns();

	(void)unused;
	for (int i = 0; i < IN_FLIGHT && end->in_flight < IN_FLIGHT && end->started < end->quota;
	     i++)
		start_one(end);
	for (uint32_t slot = 0; slot < worker->slots.top; slot++) {
		struct talk *talk = &end->talks[slot];
		struct conn *conn;

		if (!talk->due_ns || talk->due_ns > now || !conn_is_open(worker, slot))
			continue;
		speak(end, talk);
		conn = keys_wake(worker, slot);
		if (conn)
			conn_output(worker, conn);
	}
}
