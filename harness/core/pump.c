// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - the pump: what one upcall moves. */
#include "harness/core/pump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/common/tally.h"
#include "harness/core/keys.h"

/* How long a peer may leave our output unread before it is cut off. */
#define STALL_TIMEOUT_S 30
/* More than any engine delivers after its gate was closed. */
#define SPILL_MAX_BYTES (1u << 20)

static const struct reactor_ops *reactor(const struct worker *worker)
{
	return worker->config.reactor;
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

/* Sends what is in the output as the last there will be. */
static void last_send(struct pump *p)
{
	conn_enter(p->worker, p->conn, CONN_ENDING);
	conn_wait(p->worker, p->conn, WAIT_SEND, STALL_TIMEOUT_S);
	free(p->conn->spill);
	p->conn->spill = NULL;
	p->io.in_len = 0;
	if (pump_send(p))
		conn_sent_all(p->worker, p->conn);
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
	conn_tell_gone(worker, p->conn, worker->config.tls->strerror(worker->tls_ctx));
	last_send(p);
}

static void handshake_done(struct worker *worker, struct conn *conn)
{
	conn_enter(worker, conn, CONN_OPEN);
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
	int rc = keys_decrypt(worker, conn, &p->io, plain, TLS_RECORD_PLAIN_MAX, &len);

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

static bool step_keys(struct pump *p)
{
	int rc = keys_update(p->worker, p->conn, &p->io);

	if (rc == -ENOBUFS)
		return pump_send(p);
	p->conn->new_keys = false;
	if (!rc)
		return true;
	conn_close(p->worker, p->conn, errno_name(rc));
	return false;
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
	rc = keys_encrypt(worker, p->conn, &p->io, worker->plain, len, &used);
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
	if (p->conn->state == CONN_OPEN && p->conn->new_keys)
		return step_keys(p);
	if (p->conn->state == CONN_OPEN && step_output(p))
		return true;
	return p->conn->state == CONN_OPEN && p->io.in_len && step_input(p);
}

/* ---- between upcalls ---- */

void pump_spill(struct worker *worker, struct conn *conn, const uint8_t *input, size_t len)
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
	if (conn->out && !conn->gate_closed) {
		conn->gate_closed = true;
		reactor(worker)->recv_gate(&worker->loop, conn->slot, false);
	}
}

/* The app has nothing more to say: close_notify, and the end once it is sent. */
static void say_goodbye(struct pump *p)
{
	if (!pump_buffer(p))
		return;
	keys_close_notify(p->worker, p->conn, &p->io);
	last_send(p);
}

/* Level keys: no session, and where nothing is under way no object either. */
static void dissolve(struct pump *p)
{
	struct worker *worker = p->worker;
	struct conn *conn = p->conn;

	if (conn->tls && !pump_buffer(p))
		return;
	if (conn->tls && !keys_dissolve(worker, conn, &p->io)) {
		worker->config.tls->shed(conn->tls);
		return;
	}
	if (pump_send(p))
		keys_sleep(worker, conn);
}

static void fall_idle(struct pump *p)
{
	struct worker *worker = p->worker;

	worker->config.app->idle(worker, p->conn);
	conn_wait(worker, p->conn, WAIT_IDLE, worker->config.idle_timeout_s);
	if (worker->config.tls_config.park >= PARK_KEYS)
		dissolve(p);
	else if (worker->config.tls_config.park == PARK_SHED)
		worker->config.tls->shed(p->conn->tls);
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
		conn_wait(worker, conn, WAIT_SEND, STALL_TIMEOUT_S);
		return;
	}
	if (conn->gate_closed) {
		conn->gate_closed = false;
		reactor(worker)->recv_gate(&worker->loop, conn->slot, true);
	}
	if (conn->last_words || conn->peer_done)
		say_goodbye(p);
	else if (conn->spill || worker->config.app->busy(worker, conn))
		conn_wait(worker, conn, WAIT_REQUEST, worker->config.handshake_timeout_s);
	else
		fall_idle(p);
}

/* Takes the connection as far as input and the peer's reading allow. */
void pump(struct worker *worker, struct conn *conn, const uint8_t *input, size_t len)
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
		pump_spill(worker, conn, p.io.in, p.io.in_len);
	settle(&p);
	conn_put_buffer(worker, p.buf);
}
