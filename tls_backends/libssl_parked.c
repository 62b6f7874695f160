// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - level keys: from a session to a parked record, and the ops on one. Anything that
 * is not plainly as expected keeps the session. Source: RFC 8446; SSL_has_pending(3),
 * SSL_get_shutdown(3). */
#include "tls_backends/libssl_glue.h"

#include <errno.h>
#include <stdio.h>

#include "tls_backends/record13.h"

static int keep(const char **kept, const char *cause, int rc)
{
	*kept = cause;
	return rc;
}

/* What does not change while the session lives. */
static int is_of_our_kind(const struct tls_ctx *ctx, const SSL *ssl, const char **kept)
{
	if (!ctx->record13)
		return keep(kept, "level", -EOPNOTSUPP);
	if (!SSL_is_init_finished(ssl))
		return keep(kept, "handshake", -EBUSY);
	if (SSL_version(ssl) != TLS1_3_VERSION)
		return keep(kept, "TLS 1.2", -EOPNOTSUPP);
	if (ctx->flavour->had_early_data(ssl))
		return keep(kept, "early data", -EOPNOTSUPP);
	return 0;
}

static int is_idle(struct tls_ctx *ctx, SSL *ssl, const char **kept)
{
	int rc, ret;

	if (SSL_get_shutdown(ssl))
		return keep(kept, "closing", -EBUSY);
	if (!ctx->flavour->is_drained(ssl, libssl_trace_of(ssl)))
		return keep(kept, "bytes pending", -EBUSY);
	ret = ctx->flavour->flush(ssl);
	rc = ret < 0 ? libssl_session_error(ctx, ssl, ret) : 0;
	return rc ? keep(kept, rc == -ENOBUFS ? "output pending" : "failed", rc) : 0;
}

static int read_out(const struct tls_ctx *ctx, const SSL *ssl, struct tls_parked *parked,
		    const char **kept)
{
	const struct libssl_trace *trace = libssl_trace_of(ssl);
	uint64_t read_seq, write_seq;
	struct tls_info info;
	int rc;

	libssl_info((const struct tls_session *)ssl, &info);
	ctx->flavour->sequences(ssl, trace, &read_seq, &write_seq);
	if (!trace->read.begun || !trace->write.begun || read_seq >= UINT32_MAX ||
	    write_seq >= UINT32_MAX)
		return keep(kept, "sequence", -EOPNOTSUPP);
	rc = record13_park(parked, &(struct record13_start){
					   .suite = info.cipher,
					   .server = ctx->server,
					   .read_secret = trace->read.secret,
					   .read_secret_len = trace->read.secret_len,
					   .write_secret = trace->write.secret,
					   .write_secret_len = trace->write.secret_len,
					   .read_seq = (uint32_t)read_seq,
					   .write_seq = (uint32_t)write_seq,
				   });
	if (rc)
		return keep(kept, rc == -EINVAL ? "secrets" : "cipher", -EOPNOTSUPP);
	return 0;
}

int libssl_dissolve(struct tls_session *session, struct tls_parked *parked, struct tls_io *io,
		    const char **kept)
{
	struct tls_ctx *ctx = libssl_enter(session, io);
	SSL *ssl = libssl_of(session);
	int rc;

	*kept = NULL;
	rc = is_of_our_kind(ctx, ssl, kept);
	if (!rc)
		rc = is_idle(ctx, ssl, kept);
	if (!rc)
		rc = read_out(ctx, ssl, parked, kept);
	if (!rc)
		libssl_close(session);
	return rc;
}

/* ---- a parked record's ops: the record layer's answer, and its reason ---- */

static int answer(struct tls_ctx *ctx, int rc)
{
	snprintf(ctx->reason, sizeof(ctx->reason), "%s", rc ? record13_reason(ctx->record13) : "");
	return rc;
}

int libssl_parked_decrypt(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io,
			  uint8_t *plain, size_t size, size_t *len)
{
	return answer(ctx, record13_decrypt(ctx->record13, parked, io, plain, size, len));
}

int libssl_parked_encrypt(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io,
			  const uint8_t *plain, size_t len, size_t *used)
{
	return answer(ctx, record13_encrypt(ctx->record13, parked, io, plain, len, used));
}

int libssl_parked_close_notify(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io)
{
	return answer(ctx, record13_close_notify(ctx->record13, parked, io));
}

int libssl_parked_key_update(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io)
{
	return answer(ctx, record13_key_update(ctx->record13, parked, io));
}

bool libssl_parked_awaits_key_update(const struct tls_parked *parked)
{
	return record13_awaits_key_update(parked);
}

void libssl_parked_forget(struct tls_ctx *ctx, struct tls_parked *parked)
{
	record13_forget(ctx->record13, parked);
}
