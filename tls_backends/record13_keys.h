/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_backends/ - from a traffic secret to a key that is ready for use. Source:
 * RFC 8446 sections 7.1 to 7.3 and 5.3, RFC 5869, RFC 2104.
 *
 * A direction belongs to a worker, not to a connection. It remembers for which
 * secret it is keyed, so that only the first record of a wake pays for that.
 */
#ifndef TLS_BACKENDS_RECORD13_KEYS_H
#define TLS_BACKENDS_RECORD13_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tls_backends/record13_aead.h"
#include "tls_backends/tls_backend.h"

struct record13_suite {
	uint8_t id; /* low byte of the IANA number, 0x13XX */
	uint8_t hash_bytes;
	uint8_t key_bytes;
	enum aead_kind aead;
};

/* The suite of this IANA number (0x13XX) or of its low byte, or NULL. */
const struct record13_suite *record13_suite_find(uint16_t iana);

/* HKDF-Expand-Label with an empty context; len <= suite->hash_bytes. */
void record13_expand_label(const struct record13_suite *suite, const uint8_t *secret,
			   const char *label, uint8_t *out, size_t len);
/* The next generation of a traffic secret, in place (KeyUpdate). */
void record13_next_secret(const struct record13_suite *suite, uint8_t secret[TLS_SECRET_MAX]);

struct record13_direction {
	const struct record13_suite *suite; /* NULL: not keyed */
	uint8_t secret[TLS_SECRET_MAX];     /* keyed for this one */
	uint8_t iv[AEAD_NONCE_BYTES];
	struct aead *aead; /* owned */
};

/* False: out of memory. */
bool record13_direction_init(struct record13_direction *direction, bool seals);
void record13_direction_fini(struct record13_direction *direction);
/* False: the library refused. */
bool record13_direction_key(struct record13_direction *direction,
			    const struct record13_suite *suite,
			    const uint8_t secret[TLS_SECRET_MAX]);
/* Forgets the key, if it is that of this secret. */
void record13_direction_forget(struct record13_direction *direction,
			       const uint8_t secret[TLS_SECRET_MAX]);
void record13_nonce(const struct record13_direction *direction, uint64_t seq,
		    uint8_t nonce[AEAD_NONCE_BYTES]);

#endif
