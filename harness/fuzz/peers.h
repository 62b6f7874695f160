/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/fuzz/ - a parked connection under test and its peer, who holds the right keys and may
 * say anything. Every call on the connection goes through here and is held against what RFC 8446
 * and tls_backends/record13.h promise:
 * - data comes out as it was sealed, once, in order, and only if its record arrived unharmed;
 * - what the connection says the peer can open: data, a KeyUpdate where one was due, one alert;
 * - sequence numbers only grow, and start again only with a new secret;
 * - after an error there is neither data nor a word, and the secrets are gone;
 * - a peer that did nothing wrong is never refused.
 */
#ifndef HARNESS_FUZZ_PEERS_H
#define HARNESS_FUZZ_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tls_backends/record13_parts.h"

/* The longest inner plaintext that peers_seal takes: longer than a record may hold. */
#define PEERS_INNER_MAX 17000u
/* Records of one input; more of them find nothing more. */
#define PEERS_RECORDS_MAX 96u

/* Bytes that grow. */
struct peers_bytes {
	uint8_t *data; /* owned */
	size_t len;
	size_t size;
};

/* One direction as the peer knows it. */
struct peers_way {
	struct record13_direction *direction; /* of all inputs */
	uint8_t secret[TLS_SECRET_MAX];
	uint64_t seq;
};

struct peers {
	const struct record13_suite *suite;
	struct record13 *record13; /* of the connection under test */
	struct tls_parked parked;  /* the connection under test */
	struct peers_way to;       /* from the peer to the connection */
	struct peers_way from;     /* back */
	struct peers_bytes flight; /* sealed, not yet taken */
	struct peers_bytes data;   /* what the records sealed so far hold of application data */
	size_t data_got;           /* of it came out */
	size_t last_record;        /* offset in flight of the record sealed last */
	size_t last_len;           /* of that record; 0: it has been taken */
	size_t last_data;          /* data.len before it */
	unsigned records;          /* sealed */
	uint32_t message;          /* the handshake message that the peer is in: as of tls_parked */
	unsigned message_have;
	unsigned quiet;   /* records in a row without data */
	unsigned asks;    /* for a KeyUpdate, sealed so far */
	unsigned answers; /* KeyUpdates that came */
	bool raw;         /* the flight was not sealed here: what it holds is not known */
	bool honest;      /* so far the peer did nothing wrong */
	bool closed;      /* the peer said close_notify */
	bool said_bye;    /* the connection said close_notify */
	bool failed;      /* it reported -EPROTO */
};

/* How a connection begins. */
struct peers_start {
	uint16_t suite;
	bool server;           /* which end is under test */
	uint32_t update_after; /* as record13_set_update_after */
	uint32_t read_seq, write_seq;
	const uint8_t *read_secret, *write_secret; /* both NULL: any */
};

/* The suite, role, limit and numbers that one byte of an input chooses. */
struct peers_start peers_choose(uint8_t choice);
void peers_open(struct peers *peers, const struct peers_start *start);
/* Forgets the connection, which must leave nothing. */
void peers_close(struct peers *peers);

/* Appends a record with this inner plaintext to the flight. */
void peers_seal(struct peers *peers, const uint8_t *inner, size_t len);
/* Appends bytes that no key has touched. */
void peers_put(struct peers *peers, const uint8_t *bytes, size_t len);
/* Flips a bit of the record sealed last, if it is still in the flight. */
void peers_flip(struct peers *peers, size_t bit);
/* Appends the record sealed last once more, if it is still in the flight. */
void peers_repeat(struct peers *peers);

/* The flight arrives in pieces of 1 + cuts[i] bytes over and over (count 0: whole), with a window
 * of so many bytes for output, or of as many as are needed once that is full. */
void peers_deliver(struct peers *peers, const uint8_t *cuts, size_t count, size_t window);
/* The connection sends that much data in windows of that size. */
void peers_send(struct peers *peers, size_t len, size_t window);
/* The connection says close_notify. */
void peers_say_bye(struct peers *peers);

#endif
