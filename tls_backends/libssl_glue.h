/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_backends/ - what OpenSSL and BoringSSL share. The libssl_*.c files are
 * compiled twice, once against each library's headers, and linked into each
 * plug-in; nothing here is visible outside a plug-in.
 *
 * A session is the library's own SSL and nothing around it (struct tls_session
 * is never defined), so that what an idle connection costs is what the library
 * costs. The context's address is in the SSL_CTX's app data.
 *
 * Sources: ssl(7), bio(7) of OpenSSL 3.0; BoringSSL include/openssl/ssl.h.
 */
#ifndef TLS_BACKENDS_LIBSSL_GLUE_H
#define TLS_BACKENDS_LIBSSL_GLUE_H

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "tls_backends/tls_backend.h"

struct record13;
struct libssl_trace;

/* OpenSSL takes 80 bytes, BoringSSL 48. */
#define LIBSSL_TICKET_KEYS_MAX 80

struct tls_identity {
	X509 *leaf;
	struct stack_st_X509 *chain; /* the issuers, leaf excluded; may be empty */
	EVP_PKEY *key;
	/* A ticket of one worker's is good at the others: random, never replaced. */
	uint8_t ticket_keys[LIBSSL_TICKET_KEYS_MAX];
};

/* What differs between the two libraries beyond their headers. Functions that
 * return int answer 1 for success, as libssl does. */
struct libssl_flavour {
	const SSL_METHOD *(*method)(const struct tls_config *config);
	int (*tune_ctx)(struct tls_ctx *ctx, const struct tls_config *config);
	/* Undoes tune_ctx after the SSL_CTX is gone. NULL: nothing to undo. */
	void (*untune_ctx)(struct tls_ctx *ctx);
	/* A new session at levels deeper than hold. NULL: nothing to do. */
	void (*tune_session)(SSL *ssl);
	/* Writes handshake messages the library keeps for the next record; result
	 * as of SSL_write, 0 counting as success. NULL: it keeps none. */
	int (*write_kept)(SSL *ssl);

	/* Writes all that the library still has to say; result as of write_kept. */
	int (*flush)(SSL *ssl);
	/* Level keys, for dissolve: */
	/* Nothing of the peer's is left in the library, be it a part of a record, data
	 * not yet read or a part of a handshake message. */
	bool (*is_drained)(SSL *ssl, const struct libssl_trace *trace);
	/* Of the next record each way under the keys in use. */
	void (*sequences)(const SSL *ssl, const struct libssl_trace *trace, uint64_t *read,
			  uint64_t *write);
	bool (*had_early_data)(const SSL *ssl);
};

/*
 * Level keys: what dissolve needs to know and the library only tells while it
 * happens. Belongs to its session (SSL app data); freed and zeroed with it. At
 * other levels a session has one from when it first asks for a KeyUpdate.
 */
struct libssl_way {
	bool begun;                     /* Finished has passed: the secret below is in use */
	uint8_t secret_len;             /* 0: not known */
	uint8_t secret[TLS_SECRET_MAX]; /* KeyUpdates that passed included */
	uint64_t records;               /* whose header passed since Finished or KeyUpdate */
};

struct libssl_trace {
	struct libssl_way read;
	struct libssl_way write;
	/* Bytes inside the records read, less those that came out as data, message or alert:
	 * padding and what the library still holds. */
	int64_t hidden_bytes;
	bool asked; /* for the peer's KeyUpdate, which has not come yet */
};

struct tls_ctx {
	const struct libssl_flavour *flavour;
	SSL_CTX *ssl_ctx;
	BIO_METHOD *bio_method;
	BIO *shared_bio;           /* levels deeper than hold: every session's BIO; else NULL */
	struct tls_io *io;         /* the window of the call being made; borrowed */
	void *extra;               /* the flavour's own */
	struct record13 *record13; /* level keys; else NULL */
	bool server;
	char reason[256]; /* of the last call's failure; empty: it did not fail */
};

static inline SSL *libssl_of(const struct tls_session *session)
{
	return (SSL *)session;
}

/* libssl_bio.c: a BIO that reads and writes the window of the call being made. */
BIO_METHOD *libssl_bio_method(void);
BIO *libssl_bio_new(struct tls_ctx *ctx);

/* libssl_check.c: `library` is how OpenSSL_version(OPENSSL_VERSION) must begin. */
int libssl_check(const char *library, char *reason, size_t reason_size);
void libssl_version(struct tls_version *version);

/* libssl_error.c. The thread's error queue is empty after either. */
/* What the failed call on this session means, as a negative errno. */
int libssl_session_error(struct tls_ctx *ctx, const SSL *ssl, int ret);
/* "WHAT: the library's own reason", taken from the queue. */
void libssl_reason(char *reason, size_t reason_size, const char *what);

/* libssl_identity.c */
int libssl_identity_new(struct tls_identity **identity, const char *cert_file, const char *key_file,
			char *reason, size_t reason_size);
void libssl_identity_free(struct tls_identity *identity);

/* libssl_throwaway.c: a key and a self-signed certificate. 1, or 0 with the
 * library's reason queued. */
int libssl_throwaway(struct tls_identity *identity);

/* libssl_ctx.c */
int libssl_ctx_new(struct tls_ctx **ctx, const struct tls_config *config,
		   const struct libssl_flavour *flavour, char *reason, size_t reason_size);
void libssl_ctx_free(struct tls_ctx *ctx);
const char *libssl_strerror(const struct tls_ctx *ctx);

/* libssl_trace.c */
/* Makes the sessions of a context tell. */
void libssl_trace_ctx(SSL_CTX *ssl_ctx);
/* Before the session's first byte. 1, or 0: out of memory. */
int libssl_trace_begin(SSL *ssl);
/* The session is about to ask for a KeyUpdate. 1, or 0: out of memory. */
int libssl_trace_asks(SSL *ssl);
void libssl_trace_end(SSL *ssl);
/* NULL: the session has none. */
struct libssl_trace *libssl_trace_of(const SSL *ssl);

/* libssl_parked.c */
int libssl_dissolve(struct tls_session *session, struct tls_parked *parked, struct tls_io *io,
		    const char **kept);
int libssl_parked_decrypt(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io,
			  uint8_t *plain, size_t size, size_t *len);
int libssl_parked_encrypt(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io,
			  const uint8_t *plain, size_t len, size_t *used);
int libssl_parked_close_notify(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io);
int libssl_parked_key_update(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io);
bool libssl_parked_awaits_key_update(const struct tls_parked *parked);
void libssl_parked_forget(struct tls_ctx *ctx, struct tls_parked *parked);

/* libssl_session.c */
/* Every call on a session starts here: its window, no old reason, no old errors (SSL_get_error
 * looks at the queue first). */
struct tls_ctx *libssl_enter(const struct tls_session *session, struct tls_io *io);
int libssl_open(struct tls_ctx *ctx, struct tls_session **session);
int libssl_handshake(struct tls_session *session, struct tls_io *io);
int libssl_decrypt(struct tls_session *session, struct tls_io *io, uint8_t *plain, size_t size,
		   size_t *len);
int libssl_encrypt(struct tls_session *session, struct tls_io *io, const uint8_t *plain, size_t len,
		   size_t *used);
int libssl_close_notify(struct tls_session *session, struct tls_io *io);
int libssl_key_update(struct tls_session *session, struct tls_io *io);
bool libssl_awaits_key_update(const struct tls_session *session);
void libssl_info(const struct tls_session *session, struct tls_info *info);
void libssl_close(struct tls_session *session);

/* The operations of a backend that do not depend on the library. */
#define LIBSSL_OPS                                                                                 \
	.version = libssl_version, .identity_new = libssl_identity_new,                            \
	.identity_free = libssl_identity_free, .ctx_free = libssl_ctx_free, .open = libssl_open,   \
	.handshake = libssl_handshake, .decrypt = libssl_decrypt, .encrypt = libssl_encrypt,       \
	.close_notify = libssl_close_notify, .key_update = libssl_key_update,                      \
	.awaits_key_update = libssl_awaits_key_update, .dissolve = libssl_dissolve,                \
	.parked_decrypt = libssl_parked_decrypt, .parked_encrypt = libssl_parked_encrypt,          \
	.parked_close_notify = libssl_parked_close_notify,                                         \
	.parked_key_update = libssl_parked_key_update,                                             \
	.parked_awaits_key_update = libssl_parked_awaits_key_update,                               \
	.parked_forget = libssl_parked_forget, .info = libssl_info, .close = libssl_close,         \
	.strerror = libssl_strerror

#endif
