// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - the life of one connection. */
#include "harness/core/conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/common/tally.h"
#include "harness/core/keys.h"
#include "harness/core/pump.h"

/* How long a peer may leave its own end open once we have said all. */
#define LINGER_TIMEOUT_S 2

static size_t conn_offset(const struct worker *worker)
{
	return (worker->config.reactor->conn_size + 15) & ~(size_t)15;
}

struct conn *conn_at(const struct worker *worker, uint32_t slot)
{
	return (void *)((char *)worker->slots.table[slot].active + conn_offset(worker));
}

size_t conn_object_bytes(const struct worker *worker)
{
	return conn_offset(worker) + sizeof(struct conn) + worker->config.app->conn_size;
}

bool conn_is_open(const struct worker *worker, uint32_t slot)
{
	const struct reactor_slot *s = &worker->slots.table[slot];

	return s->fd != REACTOR_FD_FREE &&
	       (!s->active || conn_at(worker, slot)->state == CONN_OPEN);
}

static const struct reactor_ops *reactor(const struct worker *worker)
{
	return worker->config.reactor;
}

/* ---- the end ---- */

void conn_wait(struct worker *worker, struct conn *conn, enum conn_wait wait, unsigned seconds)
{
	if (conn->wait == wait)
		return;
	conn->wait = wait;
	worker_deadline(worker, conn->slot, seconds);
}

/*
 * A connection needs most memory in its handshake, so where so many are under way at once, others
 * wait in the kernel's backlog, where they cost the worker nothing. A peer that stalls keeps its
 * place until the handshake time-out takes it: none can close the gate for ever.
 */
static void gate_handshakes(struct worker *worker)
{
	uint32_t max = worker->config.handshakes_max;
	bool full = max && worker->handshaking >= max;

	if (worker->handshaking > worker->counters.handshakes_peak)
		worker->counters.handshakes_peak = worker->handshaking;
	if (full == worker->gate_full || worker->stopping)
		return;
	worker->gate_full = full;
	if (!worker->gate_closed && worker->listener.open && !worker->listener.leave_due)
		reactor(worker)->accept_gate(&worker->loop, !full);
}

void conn_enter(struct worker *worker, struct conn *conn, enum conn_state state)
{
	if (conn->state == CONN_HANDSHAKE) {
		worker->handshaking--;
		gate_handshakes(worker);
	}
	conn->state = state;
	conn->wait = WAIT_NONE;
	worker_deadline(worker, conn->slot, 0);
}

/* A burst of sends that the peers kept waiting has taken many. */
void conn_put_buffer(struct worker *worker, struct outbuf *buf)
{
	if (outbuf_put(&worker->outbufs, buf))
		worker->trim_due = true;
}

void conn_tell_gone(struct worker *worker, struct conn *conn, const char *cause)
{
	if (!conn->told)
		worker->config.app->gone(worker, conn, cause);
	conn->told = true;
}

static void drop_session(struct worker *worker, struct conn *conn)
{
	if (conn->tls)
		worker->config.tls->close(conn->tls);
	conn->tls = NULL;
	keys_forget(worker, conn->slot);
	free(conn->spill);
	conn->spill = NULL;
	free(conn->read_buf);
	conn->read_buf = NULL;
	worker->trim_due = true;
}

void conn_close(struct worker *worker, struct conn *conn, const char *cause)
{
	if (conn->state == CONN_CLOSED)
		return;
	/* First: the cause may be a text that lives in the session's context. */
	conn_tell_gone(worker, conn, cause);
	drop_session(worker, conn);
	conn_enter(worker, conn, CONN_CLOSED);
	reactor(worker)->close(&worker->loop, conn->slot);
}

void conn_sent_all(struct worker *worker, struct conn *conn)
{
	if (conn->peer_shut) {
		conn_close(worker, conn, NULL);
		return;
	}
	conn_enter(worker, conn, CONN_LINGER);
	shutdown(worker->slots.table[conn->slot].fd, SHUT_WR);
	conn_wait(worker, conn, WAIT_LINGER, LINGER_TIMEOUT_S);
	if (conn->gate_closed) {
		conn->gate_closed = false;
		reactor(worker)->recv_gate(&worker->loop, conn->slot, true);
	}
}

static void free_slot(struct worker *worker, uint32_t slot)
{
	free(worker->slots.table[slot].active);
	slots_free(&worker->slots, slot);
	worker->trim_due = true;
}

static void on_closed(struct reactor_loop *loop, uint32_t slot)
{
	struct worker *worker = loop->core;

	worker->activity++;
	conn_put_buffer(worker, conn_at(worker, slot)->out);
	free_slot(worker, slot);
	if (worker->gate_closed && !worker->stopping) {
		worker->gate_closed = false;
		if (!worker->gate_full)
			reactor(worker)->accept_gate(loop, true);
	}
}

/* ---- upcalls ---- */

static void resume(struct worker *worker, struct conn *conn)
{
	struct conn_spill *kept = conn->spill;

	conn->spill = NULL;
	pump(worker, conn, kept ? kept->bytes : NULL, kept ? kept->len : 0);
	free(kept);
}

static void received_end(struct worker *worker, struct conn *conn, ssize_t n)
{
	if (n < 0 && conn->state != CONN_LINGER) {
		conn_close(worker, conn, errno_name((int)n));
		return;
	}
	conn->peer_done = conn->peer_shut = true;
	if (conn->state == CONN_LINGER)
		conn_close(worker, conn, NULL);
	else if (!conn->out)
		resume(worker, conn);
}

/* Behind a pending send, or to the first part of its record. */
static void append(struct worker *worker, struct conn *conn, const uint8_t *bytes, size_t len)
{
	pump_spill(worker, conn, bytes, len);
	if (conn->state <= CONN_OPEN && !conn->out)
		resume(worker, conn);
}

static void on_received(struct reactor_loop *loop, uint32_t slot, const uint8_t *bytes, ssize_t n)
{
	struct worker *worker = loop->core;
	struct conn *conn = keys_wake(worker, slot);

	worker->activity++;
	if (!conn)
		return;
	if (conn->wait == WAIT_IDLE)
		conn->wait = WAIT_NONE;
	if (n <= 0)
		received_end(worker, conn, n);
	else if (conn->state > CONN_OPEN)
		return; /* discarded: we have said our last words */
	else if (conn->out || conn->spill)
		append(worker, conn, bytes, (size_t)n);
	else
		pump(worker, conn, bytes, (size_t)n);
}

static void on_sent(struct reactor_loop *loop, uint32_t slot, int error)
{
	struct worker *worker = loop->core;
	struct conn *conn = conn_at(worker, slot);

	worker->activity++;
	conn_put_buffer(worker, conn->out);
	conn->out = NULL;
	if (conn->wait == WAIT_SEND)
		conn->wait = WAIT_NONE;
	if (error)
		conn_close(worker, conn, errno_name(error));
	else if (conn->state == CONN_ENDING)
		conn_sent_all(worker, conn);
	else
		resume(worker, conn);
}

static void on_accepted(struct reactor_loop *loop, int fd)
{
	struct worker *worker = loop->core;
	struct conn *conn;
	int error;

	worker->activity++;
	if (fd == -EMFILE) {
		listener_full(worker);
		return;
	}
	if (fd < 0) {
		worker->gate_closed = true;
		return;
	}
	worker->counters.accepted++;
	conn = conn_open(worker, fd, &error);
	if (!conn)
		worker->counters.turned_away++;
	else if (worker->config.tls->no_handshake)
		conn_output(worker, conn);
	if (worker->slots.in_use == worker->slots.max)
		listener_full(worker);
}

const struct reactor_upcalls conn_upcalls = {
	.accepted = on_accepted,
	.received = on_received,
	.sent = on_sent,
	.closed = on_closed,
};

/* ---- from the app and the worker ---- */

static struct conn *conn_make(struct worker *worker, int fd, int *error)
{
	uint32_t slot = slots_take(&worker->slots, fd);
	struct conn *conn;

	*error = -ENFILE;
	if (slot == SLOT_NONE)
		return NULL;
	*error = -ENOMEM;
	worker->slots.table[slot].active = calloc(1, conn_object_bytes(worker));
	if (!worker->slots.table[slot].active)
		goto no_object;
	conn = conn_at(worker, slot);
	conn->slot = slot;
	if (worker->config.tls_config.park == PARK_HOLD)
		conn->read_buf = malloc(TLS_RECORD_PLAIN_MAX);
	if (worker->config.tls_config.park == PARK_HOLD && !conn->read_buf)
		goto no_session;
	if (worker->config.tls->open(worker->tls_ctx, &conn->tls))
		goto no_session;
	*error = reactor(worker)->attach(&worker->loop, slot);
	if (*error)
		goto no_attach;
	return conn;

no_attach:
	worker->config.tls->close(conn->tls);
no_session:
	free(conn->read_buf);
	free(worker->slots.table[slot].active);
no_object:
	slots_free(&worker->slots, slot);
	return NULL;
}

struct conn *conn_open(struct worker *worker, int fd, int *error)
{
	int one = 1;
	struct conn *conn;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	conn = conn_make(worker, fd, error);
	if (!conn) {
		close(fd);
		return NULL;
	}
	worker->handshaking++;
	gate_handshakes(worker);
	conn_wait(worker, conn, WAIT_HANDSHAKE, worker->config.handshake_timeout_s);
	return conn;
}

void conn_output(struct worker *worker, struct conn *conn)
{
	if (!conn->out)
		resume(worker, conn);
}

void conn_update_keys(struct conn *conn)
{
	conn->new_keys = true;
}

void conn_end(struct worker *worker, struct conn *conn)
{
	conn->last_words = true;
	if (conn->state == CONN_HANDSHAKE)
		conn_close(worker, conn, NULL);
	else if (!conn->out)
		resume(worker, conn);
}

void conn_progress(struct conn *conn)
{
	if (conn->wait == WAIT_REQUEST)
		conn->wait = WAIT_NONE;
}

static const char *const expiry_causes[] = {
	[WAIT_HANDSHAKE] = "handshake timeout",
	[WAIT_REQUEST] = "request timeout",
	[WAIT_SEND] = "send timeout",
	[WAIT_LINGER] = NULL, /* it had its time */
};

void conn_expired(struct worker *worker, uint32_t slot)
{
	struct conn *conn = keys_wake(worker, slot);

	if (!conn)
		return;
	if (conn->wait == WAIT_IDLE)
		conn_end(worker, conn);
	else
		conn_close(worker, conn, expiry_causes[conn->wait]);
}
