/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/core/ - level keys: an idle connection is its slot (16 bytes), its record in the
 * worker's array (112 bytes) and the kernel's socket. The session goes when the connection
 * first falls idle, the object each time it does; bytes that arrive bring an object back.
 *
 * While an active connection has no session (conn->tls is NULL), the record at its slot is
 * what it encrypts and decrypts with. There is one copy of a record, always in the array.
 */
#ifndef HARNESS_CORE_KEYS_H
#define HARNESS_CORE_KEYS_H

#include "harness/core/conn.h"

/* The array of records, left out of core dumps and, if so configured, locked in memory;
 * nothing at other levels. 0, or a negative errno with a reason where it is not ENOMEM. */
int keys_init(struct worker *worker, char *reason, size_t reason_size);
void keys_fini(struct worker *worker);
/* Gives the pages of records that no connection uses back to the kernel, which are all zeros
 * by then. Before slots_give_back. O(slots.top). */
void keys_give_back(struct worker *worker);

/* The session becomes a record, and what it still had to say is appended to io. False: it
 * is kept, and counted in worker->kept by cause. */
bool keys_dissolve(struct worker *worker, struct conn *conn, struct tls_io *io);
/* Frees the object of an idle connection without a session, unless the reactor is not done
 * with it yet. `conn` is gone then. */
void keys_sleep(struct worker *worker, struct conn *conn);
/* The connection of a slot, with a new object if it had none. NULL: there was no memory for
 * one, and the connection is being closed. */
struct conn *keys_wake(struct worker *worker, uint32_t slot);
/* Zeroes the record of a connection that ends. */
void keys_forget(struct worker *worker, uint32_t slot);

/* decrypt, encrypt, ... of tls_backend.h, with whatever the connection has. */
int keys_decrypt(struct worker *worker, struct conn *conn, struct tls_io *io, uint8_t *plain,
		 size_t size, size_t *len);
int keys_encrypt(struct worker *worker, struct conn *conn, struct tls_io *io, const uint8_t *plain,
		 size_t len, size_t *used);
int keys_close_notify(struct worker *worker, struct conn *conn, struct tls_io *io);
int keys_update(struct worker *worker, struct conn *conn, struct tls_io *io);
bool keys_await_update(const struct worker *worker, const struct conn *conn);

#endif
