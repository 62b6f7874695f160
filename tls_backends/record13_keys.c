// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - from a traffic secret to a key that is ready for use. Source: see the header. */
/* The low-level hashes live on the stack and cost a few hundred nanoseconds; OpenSSL 3 deprecates
 * them for EVP, which allocates for every HMAC. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "tls_backends/record13_keys.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/sha.h>

#ifdef OPENSSL_IS_BORINGSSL
#include <openssl/mem.h>
#endif

#define LABEL_PREFIX "tls13 "
#define LABEL_MAX 32u
#define BLOCK_MAX 128u /* SHA-384's */

static const struct record13_suite suites[] = {
	{.id = 0x01, .hash_bytes = 32, .key_bytes = 16, .aead = AEAD_AES_128_GCM},
	{.id = 0x02, .hash_bytes = 48, .key_bytes = 32, .aead = AEAD_AES_256_GCM},
	{.id = 0x03, .hash_bytes = 32, .key_bytes = 32, .aead = AEAD_CHACHA20_POLY1305},
};

const struct record13_suite *record13_suite_find(uint16_t iana)
{
	for (size_t i = 0; i < sizeof(suites) / sizeof(*suites); i++)
		if (iana == suites[i].id || iana == (0x1300 | suites[i].id))
			return &suites[i];
	return NULL;
}

/* ---- HMAC with the key's two blocks hashed once, for any number of messages ---- */

union hash {
	SHA256_CTX sha256;
	SHA512_CTX sha384;
};

struct hmac {
	bool is_sha384;
	union hash inner;
	union hash outer;
};

static void hash_begin(bool is_sha384, union hash *hash, const uint8_t *block)
{
	if (is_sha384) {
		SHA384_Init(&hash->sha384);
		SHA384_Update(&hash->sha384, block, SHA512_CBLOCK);
	} else {
		SHA256_Init(&hash->sha256);
		SHA256_Update(&hash->sha256, block, SHA256_CBLOCK);
	}
}

static void hash_finish(bool is_sha384, const union hash *begun, const uint8_t *data, size_t len,
			uint8_t digest[TLS_SECRET_MAX])
{
	union hash hash = *begun;

	if (is_sha384) {
		SHA384_Update(&hash.sha384, data, len);
		SHA384_Final(digest, &hash.sha384);
	} else {
		SHA256_Update(&hash.sha256, data, len);
		SHA256_Final(digest, &hash.sha256);
	}
	OPENSSL_cleanse(&hash, sizeof(hash));
}

static void hmac_begin(struct hmac *hmac, const uint8_t *key, size_t key_len)
{
	uint8_t block[BLOCK_MAX] = {0};

	hmac->is_sha384 = key_len == SHA384_DIGEST_LENGTH;
	memcpy(block, key, key_len);
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= 0x36;
	hash_begin(hmac->is_sha384, &hmac->inner, block);
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= 0x36 ^ 0x5c;
	hash_begin(hmac->is_sha384, &hmac->outer, block);
	OPENSSL_cleanse(block, sizeof(block));
}

static void hmac_finish(const struct hmac *hmac, const uint8_t *data, size_t len,
			uint8_t digest[TLS_SECRET_MAX])
{
	size_t digest_len = hmac->is_sha384 ? SHA384_DIGEST_LENGTH : SHA256_DIGEST_LENGTH;

	hash_finish(hmac->is_sha384, &hmac->inner, data, len, digest);
	hash_finish(hmac->is_sha384, &hmac->outer, digest, digest_len, digest);
}

/* ---- HKDF: a length of at most the hash's takes one round ---- */

static void expand(const struct hmac *hmac, const char *label, uint8_t *out, size_t len)
{
	size_t label_len = strlen(label);
	uint8_t info[4 + sizeof(LABEL_PREFIX) + LABEL_MAX] = {0, (uint8_t)len};
	uint8_t digest[TLS_SECRET_MAX];
	size_t n = 2;

	info[n++] = (uint8_t)(sizeof(LABEL_PREFIX) - 1 + label_len);
	memcpy(info + n, LABEL_PREFIX, sizeof(LABEL_PREFIX) - 1);
	n += sizeof(LABEL_PREFIX) - 1;
	memcpy(info + n, label, label_len);
	n += label_len;
	info[n++] = 0; /* the context is empty */
	info[n++] = 1; /* the round */
	hmac_finish(hmac, info, n, digest);
	memcpy(out, digest, len);
	OPENSSL_cleanse(digest, sizeof(digest));
}

void record13_expand_label(const struct record13_suite *suite, const uint8_t *secret,
			   const char *label, uint8_t *out, size_t len)
{
	struct hmac hmac;

	hmac_begin(&hmac, secret, suite->hash_bytes);
	expand(&hmac, label, out, len);
	OPENSSL_cleanse(&hmac, sizeof(hmac));
}

void record13_next_secret(const struct record13_suite *suite, uint8_t secret[TLS_SECRET_MAX])
{
	record13_expand_label(suite, secret, "traffic upd", secret, suite->hash_bytes);
}

/* ---- directions ---- */

bool record13_direction_init(struct record13_direction *direction, bool seals)
{
	*direction = (struct record13_direction){.aead = aead_new(seals)};
	return direction->aead;
}

void record13_direction_fini(struct record13_direction *direction)
{
	aead_free(direction->aead);
	OPENSSL_cleanse(direction, sizeof(*direction));
}

bool record13_direction_key(struct record13_direction *direction,
			    const struct record13_suite *suite,
			    const uint8_t secret[TLS_SECRET_MAX])
{
	uint8_t key[AEAD_KEY_MAX];
	struct hmac hmac;
	bool done;

	if (direction->suite == suite && !CRYPTO_memcmp(direction->secret, secret, TLS_SECRET_MAX))
		return true;
	hmac_begin(&hmac, secret, suite->hash_bytes);
	expand(&hmac, "key", key, suite->key_bytes);
	expand(&hmac, "iv", direction->iv, sizeof(direction->iv));
	done = aead_set_key(direction->aead, suite->aead, key);
	direction->suite = done ? suite : NULL;
	memcpy(direction->secret, secret, TLS_SECRET_MAX);
	OPENSSL_cleanse(&hmac, sizeof(hmac));
	OPENSSL_cleanse(key, sizeof(key));
	return done;
}

void record13_direction_forget(struct record13_direction *direction,
			       const uint8_t secret[TLS_SECRET_MAX])
{
	if (!direction->suite || CRYPTO_memcmp(direction->secret, secret, TLS_SECRET_MAX))
		return;
	aead_wipe(direction->aead);
	OPENSSL_cleanse(direction->secret, sizeof(direction->secret));
	OPENSSL_cleanse(direction->iv, sizeof(direction->iv));
	direction->suite = NULL;
}

void record13_nonce(const struct record13_direction *direction, uint64_t seq,
		    uint8_t nonce[AEAD_NONCE_BYTES])
{
	memcpy(nonce, direction->iv, AEAD_NONCE_BYTES);
	for (size_t i = 0; i < sizeof(seq); i++)
		nonce[AEAD_NONCE_BYTES - 1 - i] ^= (uint8_t)(seq >> (8 * i));
}
