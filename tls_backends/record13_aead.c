// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - one direction's AEAD, for either library. Source: see the header. */
#include "tls_backends/record13_aead.h"

#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#ifdef OPENSSL_IS_BORINGSSL
#include <openssl/aead.h>
#include <openssl/mem.h>

struct aead {
	EVP_AEAD_CTX ctx; /* holds the key schedule itself; zero: no key */
};

static const EVP_AEAD *aead_of(enum aead_kind kind)
{
	switch (kind) {
	case AEAD_AES_128_GCM:
		return EVP_aead_aes_128_gcm();
	case AEAD_AES_256_GCM:
		return EVP_aead_aes_256_gcm();
	default:
		return EVP_aead_chacha20_poly1305();
	}
}

struct aead *aead_new(bool seals)
{
	struct aead *aead = malloc(sizeof(*aead));

	(void)seals;
	if (aead)
		EVP_AEAD_CTX_zero(&aead->ctx);
	return aead;
}

void aead_free(struct aead *aead)
{
	if (aead)
		aead_wipe(aead);
	free(aead);
}

bool aead_set_key(struct aead *aead, enum aead_kind kind, const uint8_t *key)
{
	const EVP_AEAD *algorithm = aead_of(kind);

	EVP_AEAD_CTX_cleanup(&aead->ctx);
	return EVP_AEAD_CTX_init(&aead->ctx, algorithm, key, EVP_AEAD_key_length(algorithm),
				 AEAD_TAG_BYTES, NULL);
}

void aead_wipe(struct aead *aead)
{
	EVP_AEAD_CTX_cleanup(&aead->ctx);
	OPENSSL_cleanse(&aead->ctx, sizeof(aead->ctx));
	EVP_AEAD_CTX_zero(&aead->ctx);
}

bool aead_seal(struct aead *aead, const uint8_t nonce[AEAD_NONCE_BYTES], const uint8_t *header,
	       size_t header_len, uint8_t *data, size_t len)
{
	size_t sealed;

	return EVP_AEAD_CTX_seal(&aead->ctx, data, &sealed, len + AEAD_TAG_BYTES, nonce,
				 AEAD_NONCE_BYTES, data, len, header, header_len);
}

bool aead_open(struct aead *aead, const uint8_t nonce[AEAD_NONCE_BYTES], const uint8_t *header,
	       size_t header_len, const uint8_t *sealed, size_t len, uint8_t *plain)
{
	size_t opened;

	if (EVP_AEAD_CTX_open(&aead->ctx, plain, &opened, len, nonce, AEAD_NONCE_BYTES, sealed, len,
			      header, header_len))
		return true;
	ERR_clear_error();
	return false;
}

#else

struct aead {
	EVP_CIPHER_CTX *ctx[AEAD_KINDS]; /* changing a context's cipher would allocate */
	enum aead_kind kind;             /* of the key set last */
};

static const EVP_CIPHER *cipher_of(enum aead_kind kind)
{
	switch (kind) {
	case AEAD_AES_128_GCM:
		return EVP_aes_128_gcm();
	case AEAD_AES_256_GCM:
		return EVP_aes_256_gcm();
	default:
		return EVP_chacha20_poly1305();
	}
}

struct aead *aead_new(bool seals)
{
	struct aead *aead = calloc(1, sizeof(*aead));

	for (int kind = 0; aead && kind < AEAD_KINDS; kind++) {
		aead->ctx[kind] = EVP_CIPHER_CTX_new();
		if (!aead->ctx[kind] ||
		    !EVP_CipherInit_ex(aead->ctx[kind], cipher_of((enum aead_kind)kind), NULL, NULL,
				       NULL, seals)) {
			aead_free(aead);
			return NULL;
		}
	}
	return aead;
}

void aead_free(struct aead *aead)
{
	if (!aead)
		return;
	for (int kind = 0; kind < AEAD_KINDS; kind++)
		EVP_CIPHER_CTX_free(aead->ctx[kind]);
	free(aead);
}

bool aead_set_key(struct aead *aead, enum aead_kind kind, const uint8_t *key)
{
	aead->kind = kind;
	return EVP_CipherInit_ex(aead->ctx[kind], NULL, NULL, key, NULL, -1);
}

/* There is no call for it but to set another key. */
void aead_wipe(struct aead *aead)
{
	static const uint8_t zeros[AEAD_KEY_MAX];

	aead_set_key(aead, aead->kind, zeros);
}

bool aead_seal(struct aead *aead, const uint8_t nonce[AEAD_NONCE_BYTES], const uint8_t *header,
	       size_t header_len, uint8_t *data, size_t len)
{
	EVP_CIPHER_CTX *ctx = aead->ctx[aead->kind];
	int n;

	return EVP_EncryptInit_ex(ctx, NULL, NULL, NULL, nonce) &&
	       EVP_EncryptUpdate(ctx, NULL, &n, header, (int)header_len) &&
	       EVP_EncryptUpdate(ctx, data, &n, data, (int)len) &&
	       EVP_EncryptFinal_ex(ctx, data + len, &n) &&
	       EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, AEAD_TAG_BYTES, data + len);
}

bool aead_open(struct aead *aead, const uint8_t nonce[AEAD_NONCE_BYTES], const uint8_t *header,
	       size_t header_len, const uint8_t *sealed, size_t len, uint8_t *plain)
{
	EVP_CIPHER_CTX *ctx = aead->ctx[aead->kind];
	size_t plain_len = len - AEAD_TAG_BYTES;
	uint8_t tag[AEAD_TAG_BYTES];
	int n;

	for (size_t i = 0; i < sizeof(tag); i++)
		tag[i] = sealed[plain_len + i];
	if (EVP_DecryptInit_ex(ctx, NULL, NULL, NULL, nonce) &&
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, sizeof(tag), tag) &&
	    EVP_DecryptUpdate(ctx, NULL, &n, header, (int)header_len) &&
	    EVP_DecryptUpdate(ctx, plain, &n, sealed, (int)plain_len) &&
	    EVP_DecryptFinal_ex(ctx, plain + plain_len, &n) > 0)
		return true;
	ERR_clear_error();
	return false;
}

#endif
