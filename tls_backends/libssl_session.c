// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - sessions: bytes in, bytes out. Source: SSL_do_handshake(3), SSL_read(3),
 * SSL_write(3), SSL_shutdown(3), RFC 8446. */
#include "tls_backends/libssl_glue.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include <openssl/err.h>

static struct tls_ctx *ctx_of(const struct tls_session *session)
{
	return SSL_CTX_get_app_data(SSL_get_SSL_CTX(libssl_of(session)));
}

struct tls_ctx *libssl_enter(const struct tls_session *session, struct tls_io *io)
{
	struct tls_ctx *ctx = ctx_of(session);

	ctx->io = io;
	ctx->reason[0] = '\0';
	ERR_clear_error();
	return ctx;
}

static size_t room(const struct tls_io *io)
{
	return io->out_size - io->out_len;
}

/* The session takes one reference to its BIO for each direction. */
static int give_bio(struct tls_ctx *ctx, SSL *ssl)
{
	BIO *bio = ctx->shared_bio;

	if (bio)
		BIO_up_ref(bio);
	else
		bio = libssl_bio_new(ctx);
	if (!bio)
		return 0;
	BIO_up_ref(bio);
	SSL_set0_rbio(ssl, bio);
	SSL_set0_wbio(ssl, bio);
	return 1;
}

int libssl_open(struct tls_ctx *ctx, struct tls_session **session)
{
	SSL *ssl = SSL_new(ctx->ssl_ctx);

	if (!ssl || !give_bio(ctx, ssl) || (ctx->record13 && !libssl_trace_begin(ssl))) {
		SSL_free(ssl);
		libssl_reason(ctx->reason, sizeof(ctx->reason), "opening a session");
		return -ENOMEM;
	}
	if (ctx->shared_bio && ctx->flavour->tune_session)
		ctx->flavour->tune_session(ssl);
	if (ctx->server)
		SSL_set_accept_state(ssl);
	else
		SSL_set_connect_state(ssl);
	ctx->reason[0] = '\0';
	*session = (struct tls_session *)ssl;
	return 0;
}

int libssl_handshake(struct tls_session *session, struct tls_io *io)
{
	struct tls_ctx *ctx = libssl_enter(session, io);
	int ret = SSL_do_handshake(libssl_of(session));

	return ret == 1 ? 0 : libssl_session_error(ctx, libssl_of(session), ret);
}

int libssl_decrypt(struct tls_session *session, struct tls_io *io, uint8_t *plain, size_t size,
		   size_t *len)
{
	struct tls_ctx *ctx = libssl_enter(session, io);
	int ret = SSL_read(libssl_of(session), plain, size > INT_MAX ? INT_MAX : (int)size);

	*len = ret > 0 ? (size_t)ret : 0;
	if (ctx->record13)
		libssl_trace_of(libssl_of(session))->hidden_bytes -= (int64_t)*len;
	return ret > 0 ? 0 : libssl_session_error(ctx, libssl_of(session), ret);
}

/* What the library keeps for the next record goes first, so that the record which follows is sized
 * for the room that is really left. */
static int write_kept(struct tls_ctx *ctx, SSL *ssl)
{
	int ret = ctx->flavour->write_kept ? ctx->flavour->write_kept(ssl) : 0;

	return ret < 0 ? libssl_session_error(ctx, ssl, ret) : 0;
}

/* One record, whole: libssl is never left with a half-written one, which it would demand to be
 * retried with the same bytes. */
static int encrypt_record(struct tls_ctx *ctx, SSL *ssl, const uint8_t *plain, size_t *len)
{
	size_t free_bytes = room(ctx->io);
	size_t most;
	int ret;

	if (free_bytes <= TLS_RECORD_OVERHEAD_MAX)
		return -ENOBUFS;
	most = free_bytes - TLS_RECORD_OVERHEAD_MAX;
	if (most > TLS_RECORD_PLAIN_MAX)
		most = TLS_RECORD_PLAIN_MAX;
	if (*len > most)
		*len = most;
	ret = SSL_write(ssl, plain, (int)*len);
	return ret > 0 ? 0 : libssl_session_error(ctx, ssl, ret);
}

int libssl_encrypt(struct tls_session *session, struct tls_io *io, const uint8_t *plain, size_t len,
		   size_t *used)
{
	struct tls_ctx *ctx = libssl_enter(session, io);
	SSL *ssl = libssl_of(session);
	int rc = write_kept(ctx, ssl);

	*used = 0;
	while (!rc && *used < len) {
		size_t record = len - *used;

		rc = encrypt_record(ctx, ssl, plain + *used, &record);
		if (!rc)
			*used += record;
	}
	return *used ? 0 : rc;
}

int libssl_close_notify(struct tls_session *session, struct tls_io *io)
{
	struct tls_ctx *ctx = libssl_enter(session, io);
	SSL *ssl = libssl_of(session);
	int rc, ret;

	/* A second SSL_shutdown would read, and take input for the answer. */
	if (SSL_get_shutdown(ssl) & SSL_SENT_SHUTDOWN)
		return 0;
	/* BoringSSL says nothing and calls it success. */
	if (SSL_in_init(ssl)) {
		snprintf(ctx->reason, sizeof(ctx->reason), "the handshake is not complete");
		return -EPROTO;
	}
	rc = write_kept(ctx, ssl);
	if (rc)
		return rc;
	if (room(io) < TLS_RECORD_OVERHEAD_MAX)
		return -ENOBUFS;
	ret = SSL_shutdown(ssl);
	return ret >= 0 ? 0 : libssl_session_error(ctx, ssl, ret);
}

/* Neither library writes it before it is made to. */
int libssl_key_update(struct tls_session *session, struct tls_io *io)
{
	struct tls_ctx *ctx = libssl_enter(session, io);
	SSL *ssl = libssl_of(session);
	int ret;

	if (SSL_version(ssl) != TLS1_3_VERSION)
		return -EOPNOTSUPP;
	if (room(io) < TLS_OUT_MIN)
		return -ENOBUFS;
	if (!libssl_trace_asks(ssl))
		return -ENOMEM;
	ret = SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
	if (ret == 1)
		ret = ctx->flavour->flush(ssl);
	else
		ret = -1;
	return ret < 0 ? libssl_session_error(ctx, ssl, ret) : 0;
}

bool libssl_awaits_key_update(const struct tls_session *session)
{
	const struct libssl_trace *trace = libssl_trace_of(libssl_of(session));

	return trace && trace->asked;
}

void libssl_info(const struct tls_session *session, struct tls_info *info)
{
	const SSL *ssl = libssl_of(session);
	const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);

	info->protocol = (uint16_t)SSL_version(ssl);
	info->cipher = cipher ? (uint16_t)SSL_CIPHER_get_protocol_id(cipher) : 0;
	snprintf(info->cipher_name, sizeof(info->cipher_name), "%s",
		 cipher ? SSL_CIPHER_standard_name(cipher) : "none");
}

void libssl_close(struct tls_session *session)
{
	libssl_trace_end(libssl_of(session));
	SSL_free(libssl_of(session));
}
