/* SPDX-License-Identifier: Apache-2.0 */
/* tls_backends/ - what the files of the record layer share. Source: RFC 8446 sections 4, 5 and 6.
 */
#ifndef TLS_BACKENDS_RECORD13_PARTS_H
#define TLS_BACKENDS_RECORD13_PARTS_H

#include "tls_backends/record13.h"
#include "tls_backends/record13_keys.h"

#define RECORD_HEADER_BYTES 5u
#define RECORD_CIPHER_MAX (TLS_RECORD_PLAIN_MAX + TLS_RECORD_OVERHEAD_MAX)
/* Header, content type and tag. */
#define RECORD_ADDED_BYTES (RECORD_HEADER_BYTES + 1 + AEAD_TAG_BYTES)

enum content_type {
	CONTENT_ALERT = 21,
	CONTENT_HANDSHAKE = 22,
	CONTENT_APPLICATION_DATA = 23,
};

/* Bits of tls_parked.flags. */
enum parked_flag {
	PARKED_SERVER = 1,       /* which end this is */
	PARKED_READ_CLOSED = 2,  /* the peer's close_notify came */
	PARKED_WRITE_CLOSED = 4, /* ours went out */
	PARKED_FAILED = 8,       /* a fatal alert went one way; the secrets are gone */
	PARKED_ANSWER = 16,      /* the peer asked for our KeyUpdate */
	PARKED_ASKED = 32,       /* we asked for the peer's */
};

struct record13 {
	struct record13_direction read;
	struct record13_direction write;
	uint32_t update_after;
	enum record13_alert alert; /* to be sent; close_notify: none */
	char reason[96];
	uint8_t inner[RECORD_CIPHER_MAX]; /* the record being read, opened */
};

/* The peer broke the protocol: -EPROTO, and this alert is to go out. `reason` is a constant. */
int record13_violation(struct record13 *record13, enum record13_alert alert, const char *reason);
/* One more record that brought nothing: 0, or -EPROTO. */
int record13_quiet(struct record13 *record13, struct tls_parked *parked);

/* record13_messages.c */
/* What a handshake record holds. 0, -EPROTO. */
int record13_messages(struct record13 *record13, struct tls_parked *parked, const uint8_t *data,
		      size_t len);
/* record13_write.c */
/* One record. 0, -ENOBUFS, -EPROTO. len <= TLS_RECORD_PLAIN_MAX. */
int record13_seal(struct record13 *record13, struct tls_parked *parked, struct tls_io *io,
		  enum content_type type, const uint8_t *data, size_t len);
/* Our KeyUpdate, if it is time for one. 0, -ENOBUFS, -EPROTO. */
int record13_update_if_due(struct record13 *record13, struct tls_parked *parked, struct tls_io *io);

#endif
