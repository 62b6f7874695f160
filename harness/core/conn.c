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

/* How long a peer may leave our output unread, or its own end open, before it is cut off. */
#define STALL_TIMEOUT_S 30
#define LINGER_TIMEOUT_S 2
/* More than any engine delivers after its gate was closed. */
#define SPILL_MAX_BYTES (1u << 20)

static size_t conn_offset(const struct worker *worker)
{
	return (worker->config.reactor->conn_size + 15) & ~(size_t)15;
}

struct conn *conn_at(const struct worker *worker, uint32_t slot)
{
	return (void *)((char *)worker->slots.table[slot].active + conn_offset(worker));
}

static const struct reactor_ops *reactor(const struct worker *worker)
{
	return worker->config.reactor;
}

/* ---- the end ---- */

static void wait_for(struct worker *worker, struct conn *conn, enum conn_wait wait,
		     unsigned seconds)
{
	if (conn->wait == wait)
		return;
	conn->wait = wait;
	worker_deadline(worker, conn->slot, seconds);
}

static void enter_state(struct worker *worker, struct conn *conn, enum conn_state state)
{
	if (conn->state == CONN_HANDSHAKE)
		worker->handshaking--;
	conn->state = state;
	conn->wait = WAIT_NONE;
	worker_deadline(worker, conn->slot, 0);
}

static void tell_gone(struct worker *worker, struct conn *conn, const char *cause)
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
	tell_gone(worker, conn, cause);
	drop_session(worker, conn);
	enter_state(worker, conn, CONN_CLOSED);
	reactor(worker)->close(&worker->loop, conn->slot);
}

static void free_slot(struct worker *worker, uint32_t slot)
{
	free(worker->slots.table[slot].active);
	slots_free(&worker->slots, slot);
}

static void on_closed(struct reactor_loop *loop, uint32_t slot)
{
	struct worker *worker = loop->core;

	worker->activity++;
	outbuf_put(&worker->outbufs, conn_at(worker, slot)->out);
	free_slot(worker, slot);
	if (worker->gate_closed && !worker->stopping) {
		worker->gate_closed = false;
		reactor(worker)->accept_gate(loop, true);
	}
}

/* ---- output ---- */

/* A window on input and on a fresh output buffer, for the length of one upcall. */
struct pump {
	struct worker *worker;
	struct conn *conn;
	struct tls_io io;
	struct outbuf *buf; /* what io.out lies in; NULL: none was needed yet */
};

static bool pump_buffer(struct pump *p)
{
	if (p->buf)
		return true;
	p->buf = outbuf_get(&p->worker->outbufs);
	if (!p->buf) {
		conn_close(p->worker, p->conn, "ENOMEM");
		return false;
	}
	p->io.out = p->buf->data;
	p->io.out_len = 0;
	p->io.out_size = OUTBUF_BYTES;
	return true;
}

/* Hands the output to the reactor. False when the connection has to wait or is gone. */
static bool pump_send(struct pump *p)
{
	struct conn *conn = p->conn;
	int rc;

	if (!p->buf || !p->io.out_len || conn->state == CONN_CLOSED)
		return conn->state != CONN_CLOSED;
	rc = reactor(p->worker)->send(&p->worker->loop, conn->slot, p->buf->data, p->io.out_len);
	p->io.out_len = 0;
	if (rc == REACTOR_DONE)
		return true;
	if (rc < 0) {
		conn_close(p->worker, conn, errno_name(rc));
		return false;
	}
	conn->out = p->buf;
	p->buf = NULL;
	p->io.out = NULL;
	p->io.out_size = 0;
	return false;
}

static void linger_or_close(struct worker *worker, struct conn *conn)
{
	if (conn->peer_done) {
		conn_close(worker, conn, NULL);
		return;
	}
	enter_state(worker, conn, CONN_LINGER);
	shutdown(worker->slots.table[conn->slot].fd, SHUT_WR);
	wait_for(worker, conn, WAIT_LINGER, LINGER_TIMEOUT_S);
	if (conn->gate_closed) {
		conn->gate_closed = false;
		reactor(worker)->recv_gate(&worker->loop, conn->slot, true);
	}
}

/* Sends what is in the output as the last there will be. */
static void last_send(struct pump *p)
{
	enter_state(p->worker, p->conn, CONN_ENDING);
	wait_for(p->worker, p->conn, WAIT_SEND, STALL_TIMEOUT_S);
	free(p->conn->spill);
	p->conn->spill = NULL;
	p->io.in_len = 0;
	if (pump_send(p))
		linger_or_close(p->worker, p->conn);
}

/* ---- handshake, input, output of the app: one step each; false: nothing more to do ---- */

/* The session failed; where the protocol has an alert for it, that is the last word. */
static void fail_tls(struct pump *p, int rc)
{
	struct worker *worker = p->worker;

	if (rc != -EPROTO) {
		conn_close(worker, p->conn, errno_name(rc));
		return;
	}
	tell_gone(worker, p->conn, worker->config.tls->strerror(worker->tls_ctx));
	last_send(p);
}

static void handshake_done(struct worker *worker, struct conn *conn)
{
	enter_state(worker, conn, CONN_OPEN);
	worker->counters.handshakes++;
	worker->trim_due = true;
	worker->config.app->established(worker, conn);
}

static bool step_handshake(struct pump *p)
{
	int rc = p->worker->config.tls->handshake(p->conn->tls, &p->io);

	switch (rc) {
	case 0:
		handshake_done(p->worker, p->conn);
		return true;
	case -EINPROGRESS:
		return false;
	case -ENOBUFS:
		return pump_send(p);
	default:
		fail_tls(p, rc);
		return false;
	}
}

static bool step_input(struct pump *p)
{
	struct worker *worker = p->worker;
	struct conn *conn = p->conn;
	uint8_t *plain = conn->read_buf ? conn->read_buf : worker->plain;
	size_t len = 0;
	int rc = worker->config.tls->decrypt(conn->tls, &p->io, plain, TLS_RECORD_PLAIN_MAX, &len);

	switch (rc) {
	case 0:
		/* A peer that was told the end is not listened to any more. */
		if (conn->state == CONN_OPEN && !conn->last_words)
			worker->config.app->data(worker, conn, plain, len);
		return conn->state != CONN_CLOSED;
	case -EINPROGRESS:
		return false;
	case -ENOBUFS:
		return pump_send(p);
	case -EPIPE:
		conn->peer_done = true;
		p->io.in_len = 0;
		return false;
	default:
		fail_tls(p, rc);
		return false;
	}
}

/* Plaintext that fits what is left of the output buffer as one record. */
static size_t plain_room(const struct tls_io *io)
{
	size_t room = io->out_size - io->out_len;

	if (room <= TLS_RECORD_OVERHEAD_MAX)
		return 0;
	room -= TLS_RECORD_OVERHEAD_MAX;
	return room < TLS_RECORD_PLAIN_MAX ? room : TLS_RECORD_PLAIN_MAX;
}

static bool step_output(struct pump *p)
{
	struct worker *worker = p->worker;
	size_t len, used = 0;
	int rc;

	len = worker->config.app->produce(worker, p->conn, worker->plain, plain_room(&p->io));
	if (!len)
		return false;
	rc = worker->config.tls->encrypt(p->conn->tls, &p->io, worker->plain, len, &used);
	if (rc || used != len) {
		conn_close(worker, p->conn, rc ? errno_name(rc) : "a record did not fit");
		return false;
	}
	return true;
}

/* Output before input: answers leave in order and nothing piles up behind them. */
static bool pump_step(struct pump *p)
{
	if (p->conn->state == CONN_HANDSHAKE)
		return step_handshake(p);
	if (p->conn->state == CONN_OPEN && step_output(p))
		return true;
	return p->conn->state == CONN_OPEN && p->io.in_len && step_input(p);
}

/* ---- between upcalls ---- */

/* Keeps input[0..len) behind what is kept already and stops the reactor bringing more. */
static void spill(struct worker *worker, struct conn *conn, const uint8_t *input, size_t len)
{
	size_t have = conn->spill ? conn->spill->len : 0;
	struct conn_spill *grown;

	if (have + len > SPILL_MAX_BYTES) {
		conn_close(worker, conn, "input overflow");
		return;
	}
	grown = realloc(conn->spill, sizeof(*grown) + have + len);
	if (!grown) {
		conn_close(worker, conn, "ENOMEM");
		return;
	}
	memcpy(grown->bytes + have, input, len);
	grown->len = have + len;
	conn->spill = grown;
	if (!conn->gate_closed) {
		conn->gate_closed = true;
		reactor(worker)->recv_gate(&worker->loop, conn->slot, false);
	}
}

/* The app has nothing more to say: close_notify, and the end once it is sent. */
static void say_goodbye(struct pump *p)
{
	if (!pump_buffer(p))
		return;
	p->worker->config.tls->close_notify(p->conn->tls, &p->io);
	last_send(p);
}

static void fall_idle(struct worker *worker, struct conn *conn)
{
	worker->config.app->idle(worker, conn);
	if (worker->config.tls_config.park != PARK_HOLD)
		worker->config.tls->shed(conn->tls);
	wait_for(worker, conn, WAIT_IDLE, worker->config.idle_timeout_s);
}

/* What the connection waits for next, now that the pump stands still. */
static void settle(struct pump *p)
{
	struct worker *worker = p->worker;
	struct conn *conn = p->conn;

	if (conn->state == CONN_HANDSHAKE && conn->peer_done)
		conn_close(worker, conn, "closed during the handshake");
	if (conn->state != CONN_OPEN)
		return;
	if (conn->out) {
		wait_for(worker, conn, WAIT_SEND, STALL_TIMEOUT_S);
		return;
	}
	if (conn->gate_closed) {
		conn->gate_closed = false;
		reactor(worker)->recv_gate(&worker->loop, conn->slot, true);
	}
	if (conn->last_words || conn->peer_done)
		say_goodbye(p);
	else if (worker->config.app->busy(worker, conn))
		wait_for(worker, conn, WAIT_REQUEST, worker->config.handshake_timeout_s);
	else
		fall_idle(worker, conn);
}

/* Takes the connection as far as input and the peer's reading allow. */
static void pump(struct worker *worker, struct conn *conn, const uint8_t *input, size_t len)
{
	struct pump p = {.worker = worker, .conn = conn, .io = {.in = input, .in_len = len}};

	while (conn->state <= CONN_OPEN && pump_buffer(&p)) {
		if (p.io.out_size - p.io.out_len < TLS_OUT_MIN && !pump_send(&p))
			break;
		if (!pump_step(&p)) {
			pump_send(&p);
			break;
		}
	}
	if (conn->state <= CONN_OPEN && p.io.in_len)
		spill(worker, conn, p.io.in, p.io.in_len);
	settle(&p);
	outbuf_put(&worker->outbufs, p.buf);
}

/* ---- upcalls ---- */

static void received_end(struct worker *worker, struct conn *conn, ssize_t n)
{
	if (n < 0 && conn->state != CONN_LINGER) {
		conn_close(worker, conn, errno_name((int)n));
		return;
	}
	conn->peer_done = true;
	if (conn->state == CONN_LINGER)
		conn_close(worker, conn, NULL);
	else if (!conn->out && !conn->spill)
		pump(worker, conn, NULL, 0);
}

static void on_received(struct reactor_loop *loop, uint32_t slot, const uint8_t *bytes, ssize_t n)
{
	struct worker *worker = loop->core;
	struct conn *conn = conn_at(worker, slot);

	worker->activity++;
	if (conn->wait == WAIT_IDLE)
		conn->wait = WAIT_NONE;
	if (n <= 0)
		received_end(worker, conn, n);
	else if (conn->state > CONN_OPEN)
		return; /* discarded: we have said our last words */
	else if (conn->out || conn->spill)
		spill(worker, conn, bytes, (size_t)n);
	else
		pump(worker, conn, bytes, (size_t)n);
}

static void resume(struct worker *worker, struct conn *conn)
{
	struct conn_spill *kept = conn->spill;

	conn->spill = NULL;
	pump(worker, conn, kept ? kept->bytes : NULL, kept ? kept->len : 0);
	free(kept);
}

static void on_sent(struct reactor_loop *loop, uint32_t slot, int error)
{
	struct worker *worker = loop->core;
	struct conn *conn = conn_at(worker, slot);

	worker->activity++;
	outbuf_put(&worker->outbufs, conn->out);
	conn->out = NULL;
	if (conn->wait == WAIT_SEND)
		conn->wait = WAIT_NONE;
	if (error)
		conn_close(worker, conn, errno_name(error));
	else if (conn->state == CONN_ENDING)
		linger_or_close(worker, conn);
	else
		resume(worker, conn);
}

static void on_accepted(struct reactor_loop *loop, int fd)
{
	struct worker *worker = loop->core;
	int error;

	worker->activity++;
	if (fd < 0) {
		worker->gate_closed = true;
		return;
	}
	worker->counters.accepted++;
	if (!conn_open(worker, fd, &error))
		worker->counters.turned_away++;
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
	size_t size = conn_offset(worker) + sizeof(struct conn) + worker->config.app->conn_size;
	uint32_t slot = slots_take(&worker->slots, fd);
	struct conn *conn;

	*error = -ENFILE;
	if (slot == SLOT_NONE)
		return NULL;
	*error = -ENOMEM;
	worker->slots.table[slot].active = calloc(1, size);
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
	wait_for(worker, conn, WAIT_HANDSHAKE, worker->config.handshake_timeout_s);
	return conn;
}

void conn_output(struct worker *worker, struct conn *conn)
{
	if (!conn->out && !conn->spill)
		pump(worker, conn, NULL, 0);
}

void conn_end(struct worker *worker, struct conn *conn)
{
	conn->last_words = true;
	if (conn->state == CONN_HANDSHAKE)
		conn_close(worker, conn, NULL);
	else if (!conn->out && !conn->spill)
		pump(worker, conn, NULL, 0);
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
	struct conn *conn = conn_at(worker, slot);

	if (conn->wait == WAIT_IDLE)
		conn_end(worker, conn);
	else
		conn_close(worker, conn, expiry_causes[conn->wait]);
}
