/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/core/ - the life of one connection, in either role: handshake, input
 * to the app, output of the app, idle, close. Thread: the worker's upcalls.
 */
#ifndef HARNESS_CORE_CONN_H
#define HARNESS_CORE_CONN_H

#include "harness/core/worker.h"

enum conn_state {
	CONN_HANDSHAKE,
	CONN_OPEN,
	CONN_ENDING, /* our last bytes are on their way */
	CONN_LINGER, /* all is sent and shut; waits for the peer's end, so that
			unread input does not turn our last words into a reset */
	CONN_CLOSED, /* the reactor was asked to close; `closed` will follow */
};

/* Level keys: what became of the wish to dissolve the session. */
enum conn_kept {
	CONN_NOT_KEPT,
	CONN_KEPT, /* so far; it is tried again at the next idle spell */
	CONN_KEPT_FOR_GOOD,
};

/* What a deadline is for; each is set once when the wait begins. */
enum conn_wait {
	WAIT_NONE,
	WAIT_HANDSHAKE,
	WAIT_REQUEST, /* busy: the rest of a request, or the answer to ours */
	WAIT_SEND,    /* the peer does not read */
	WAIT_IDLE,
	WAIT_LINGER,
};

/* Input that could not be processed yet: output was pending, or, where the session is
 * dissolved, only a part of the record is there. */
struct conn_spill {
	size_t len;
	uint8_t bytes[];
};

/* An active connection. The reactor's private bytes lie before it, the app's
 * behind it: one allocation, owned by the slot. */
struct conn {
	struct tls_session *tls;  /* NULL: dissolved, its record is at the slot */
	struct outbuf *out;       /* in use by the reactor: a send is outstanding */
	struct conn_spill *spill; /* NULL: none */
	uint8_t *read_buf;        /* level hold: the 16 KiB read buffer; else NULL */
	uint32_t slot;
	uint8_t state;    /* enum conn_state */
	uint8_t wait;     /* enum conn_wait */
	bool told;        /* the app knows that it is gone */
	uint8_t kept;     /* enum conn_kept */
	bool peer_done;   /* the peer will send no more */
	bool gate_closed; /* the reactor was told to hold input back */
	bool new_keys;    /* our KeyUpdate goes out before what the app says next */
	bool last_words;  /* ends when the app has no more output */
};

/* The app's bytes of a connection. */
static inline void *conn_app(const struct conn *conn)
{
	return (void *)(conn + 1);
}

/* The connection in a slot that is active. */
struct conn *conn_at(const struct worker *worker, uint32_t slot);
/* True for a slot whose connection is open, active or parked. */
bool conn_is_open(const struct worker *worker, uint32_t slot);
/* Bytes of an active connection: the reactor's, ours and the app's. */
size_t conn_object_bytes(const struct worker *worker);

/* A connected socket becomes a connection; in the client's role conn_output
 * then starts the handshake. Takes `fd` over, also on failure: NULL, and *error
 * says why. */
struct conn *conn_open(struct worker *worker, int fd, int *error);
/* The app has output: sends it as far as it goes. */
void conn_output(struct worker *worker, struct conn *conn);
/* The next output begins with a KeyUpdate that asks for the peer's. */
void conn_update_keys(struct conn *conn);
/* A request or response is complete: the next one has its full time. */
void conn_progress(struct conn *conn);
/* Ends properly once the app's output is sent: close_notify, then close. */
void conn_end(struct worker *worker, struct conn *conn);
/* Ends at once. cause: as in app_ops.gone. */
void conn_close(struct worker *worker, struct conn *conn, const char *cause);
/* The deadline of a slot has passed. */
void conn_expired(struct worker *worker, uint32_t slot);

extern const struct reactor_upcalls conn_upcalls;

/* Between conn.c and pump.c. */
/* The connection waits for that, `seconds` at most from when it began to; 0: for ever. */
void conn_wait(struct worker *worker, struct conn *conn, enum conn_wait wait, unsigned seconds);
/* Gives up a buffer that nobody sends from any more; NULL is none. */
void conn_put_buffer(struct worker *worker, struct outbuf *buf);
void conn_enter(struct worker *worker, struct conn *conn, enum conn_state state);
void conn_tell_gone(struct worker *worker, struct conn *conn, const char *cause);
/* Our last words have left: closes, or lingers until the peer has closed too. */
void conn_sent_all(struct worker *worker, struct conn *conn);

#endif
