/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_backends/ - the TLS 1.3 record layer of parked connections (level keys).
 * Source: RFC 8446 sections 4.6, 5 and 6.
 *
 * A connection is a struct tls_parked and nothing else. What it takes to use
 * one, two AEADs and a buffer for one record, is a struct record13 of its
 * worker's. The tls_*.c files of both libraries call this as their parked_* ops:
 * windows, answers and threads are those of tls_backend.h.
 *
 * Handshake messages may come in pieces, over any number of records, and are
 * read without a buffer: a KeyUpdate has one byte of body, and a
 * NewSessionTicket is counted off, not kept. All others are refused at their
 * first byte. So the pieces cost the five bytes `message` and `message_have` of
 * the parked record. While a message is under way only more of it or an alert
 * may come, and a KeyUpdate must be the last of its record (section 5.1).
 *
 * A KeyUpdate that asks for ours is answered when the input has run out, or
 * before the next application data: once, however many came. Before a key has
 * sealed RECORD13_UPDATE_AFTER records it is replaced, and the peer is asked to
 * replace its own when it has used one as long (section 5.5).
 */
#ifndef TLS_BACKENDS_RECORD13_H
#define TLS_BACKENDS_RECORD13_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tls_backends/tls_backend.h"

/* AES-GCM may seal 2^24.5 full records under one key. */
#define RECORD13_UPDATE_AFTER (1u << 24)
/* Records in a row without application data, tickets aside: empty ones, KeyUpdates, warnings. As
 * many as BoringSSL and OpenSSL bear. */
#define RECORD13_QUIET_MAX 32u

/* RFC 8446 section 6. */
enum record13_alert {
	ALERT_CLOSE_NOTIFY = 0,
	ALERT_UNEXPECTED_MESSAGE = 10,
	ALERT_BAD_RECORD_MAC = 20,
	ALERT_RECORD_OVERFLOW = 22,
	ALERT_ILLEGAL_PARAMETER = 47,
	ALERT_DECODE_ERROR = 50,
	ALERT_INTERNAL_ERROR = 80,
	ALERT_USER_CANCELED = 90,
};

struct record13; /* one worker's */

/* NULL: out of memory. */
struct record13 *record13_new(void);
void record13_free(struct record13 *record13);
/* Why the last call failed; "" when it did not. */
const char *record13_reason(const struct record13 *record13);
/* For tests: another limit than RECORD13_UPDATE_AFTER. */
void record13_set_update_after(struct record13 *record13, uint32_t records);

/* What an established connection is reduced to. */
struct record13_start {
	uint16_t suite; /* IANA number */
	bool server;    /* which end this is */
	const uint8_t *read_secret;
	size_t read_secret_len;
	const uint8_t *write_secret;
	size_t write_secret_len;
	uint32_t read_seq;
	uint32_t write_seq;
};

/* 0, -EOPNOTSUPP: no such suite here, -EINVAL: a secret is not as long as the suite's hash. */
int record13_park(struct tls_parked *parked, const struct record13_start *start);
int record13_decrypt(struct record13 *record13, struct tls_parked *parked, struct tls_io *io,
		     uint8_t *plain, size_t size, size_t *len);
int record13_encrypt(struct record13 *record13, struct tls_parked *parked, struct tls_io *io,
		     const uint8_t *plain, size_t len, size_t *used);
int record13_close_notify(struct record13 *record13, struct tls_parked *parked, struct tls_io *io);
/* Our KeyUpdate, which asks for the peer's. 0, -ENOBUFS, -EPROTO. */
int record13_key_update(struct record13 *record13, struct tls_parked *parked, struct tls_io *io);
/* The KeyUpdate we asked for has not come yet. */
bool record13_awaits_key_update(const struct tls_parked *parked);
void record13_forget(struct record13 *record13, struct tls_parked *parked);

#endif
