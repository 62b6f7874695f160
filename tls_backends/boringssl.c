// SPDX-License-Identifier: Apache-2.0
/*
 * tls_backends/ - BoringSSL.
 *
 * It frees its buffers whenever they are empty, at any level.
 * hold: as a server that tunes nothing: every session keeps its handshake
 * configuration and its own BIO.
 * shed: the configuration is dropped after the handshake
 * (SSL_set_shed_handshake_config), one BIO for all, no session cache, as many
 * tickets as asked for (0); a client keeps the peer's certificate as
 * bytes shared by all sessions instead of one parsed X509 each.
 *
 * keys: as shed while there is a session.
 *
 * Source: include/openssl/ssl.h, include/openssl/pool.h.
 */
#include "tls_backends/libssl_glue.h"

#include <errno.h>

#include <openssl/pool.h>

#ifndef OPENSSL_IS_BORINGSSL
#error "boringssl.c was given OpenSSL's headers: BoringSSL's must come first on the include path"
#endif

/* The chain is a throwaway's. That the peer holds its key is still checked: CertificateVerify. */
static enum ssl_verify_result_t accept_any_chain(SSL *ssl, uint8_t *alert)
{
	(void)ssl;
	(void)alert;
	return ssl_verify_ok;
}

static bool is_lean_client(const struct tls_config *config)
{
	return !config->server && config->park > PARK_HOLD;
}

static const SSL_METHOD *method(const struct tls_config *config)
{
	return is_lean_client(config) ? TLS_with_buffers_method() : TLS_method();
}

static int tune_ctx(struct tls_ctx *ctx, const struct tls_config *config)
{
	if (!config->server)
		SSL_CTX_set_custom_verify(ctx->ssl_ctx, SSL_VERIFY_PEER, accept_any_chain);
	if (!is_lean_client(config))
		return 1;
	ctx->extra = CRYPTO_BUFFER_POOL_new();
	if (!ctx->extra)
		return 0;
	SSL_CTX_set0_buffer_pool(ctx->ssl_ctx, ctx->extra);
	return 1;
}

static void untune_ctx(struct tls_ctx *ctx)
{
	CRYPTO_BUFFER_POOL_free(ctx->extra);
}

static void tune_session(SSL *ssl)
{
	SSL_set_shed_handshake_config(ssl, 1);
}

/* A server's tickets and the answer to a KeyUpdate wait for the next record; a write of nothing
 * sends them without one. A retried write must name the same address, hence the constant. */
static int write_kept(SSL *ssl)
{
	return SSL_write(ssl, "", 0);
}

static int shed(struct tls_session *session)
{
	return SSL_has_pending(libssl_of(session)) ? -EBUSY : 0;
}

/* Of a handshake message that is there in part it says nothing: then bytes went in that did not
 * come out. So do bytes of padding, and a session whose peer pads is kept for it. */
static bool is_drained(SSL *ssl, const struct libssl_trace *trace)
{
	return !SSL_has_pending(ssl) && !trace->hidden_bytes;
}

static void sequences(const SSL *ssl, const struct libssl_trace *trace, uint64_t *read,
		      uint64_t *write)
{
	(void)trace;
	*read = SSL_get_read_sequence(ssl);
	*write = SSL_get_write_sequence(ssl);
}

static bool had_early_data(const SSL *ssl)
{
	return SSL_in_early_data(ssl) || SSL_early_data_accepted(ssl);
}

static const struct libssl_flavour flavour = {
	.method = method,
	.tune_ctx = tune_ctx,
	.untune_ctx = untune_ctx,
	.tune_session = tune_session,
	.write_kept = write_kept,
	.flush = write_kept,
	.is_drained = is_drained,
	.sequences = sequences,
	.had_early_data = had_early_data,
};

static int check(char *reason, size_t reason_size)
{
	return libssl_check("BoringSSL", reason, reason_size);
}

static int ctx_new(struct tls_ctx **ctx, const struct tls_config *config, char *reason,
		   size_t reason_size)
{
	return libssl_ctx_new(ctx, config, &flavour, reason, reason_size);
}

extern const struct tls_ops parkbench_tls_plugin;

__attribute__((visibility("default"))) const struct tls_ops parkbench_tls_plugin = {
	.abi = TLS_PLUGIN_ABI,
	.name = "boringssl",
	.summary = "BoringSSL",
	.check = check,
	.ctx_new = ctx_new,
	.shed = shed,
	LIBSSL_OPS,
};
