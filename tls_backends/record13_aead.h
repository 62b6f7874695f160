/* SPDX-License-Identifier: Apache-2.0 */
/* tls_backends/ - one direction's AEAD, to be keyed again and again without allocating: the only
 * part of the record layer that the two libraries spell differently. Source: RFC 5116,
 * EVP_EncryptInit(3) of OpenSSL 3.0, BoringSSL include/openssl/aead.h. */
#ifndef TLS_BACKENDS_RECORD13_AEAD_H
#define TLS_BACKENDS_RECORD13_AEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AEAD_TAG_BYTES 16u
#define AEAD_NONCE_BYTES 12u
#define AEAD_KEY_MAX 32u

enum aead_kind {
	AEAD_AES_128_GCM,
	AEAD_AES_256_GCM,
	AEAD_CHACHA20_POLY1305,
	AEAD_KINDS,
};

struct aead; /* one direction: it seals or it opens */

/* NULL: out of memory, or the library lacks one of the kinds. */
struct aead *aead_new(bool seals);
void aead_free(struct aead *aead);

/* False: the library refused. The kind stays chosen for the calls that follow. */
bool aead_set_key(struct aead *aead, enum aead_kind kind, const uint8_t *key);
/* Overwrites the key. */
void aead_wipe(struct aead *aead);

/* data[0..len) in place; the tag follows it. */
bool aead_seal(struct aead *aead, const uint8_t nonce[AEAD_NONCE_BYTES], const uint8_t *header,
	       size_t header_len, uint8_t *data, size_t len);
/* sealed[0..len), tag included, into plain[0..len - tag). False: not authentic; plain is then not
 * to be looked at. len >= AEAD_TAG_BYTES. */
bool aead_open(struct aead *aead, const uint8_t nonce[AEAD_NONCE_BYTES], const uint8_t *header,
	       size_t header_len, const uint8_t *sealed, size_t len, uint8_t *plain);

#endif
