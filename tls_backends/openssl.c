// SPDX-License-Identifier: Apache-2.0
/*
 * tls_backends/ - OpenSSL 3.
 *
 * hold: as a server that tunes nothing: every session keeps a 16 KiB buffer for
 * each direction once used, and its own BIO.
 * shed: SSL_MODE_RELEASE_BUFFERS, one BIO for all, no session cache, as many
 * tickets as asked for (0). A client that read a NewSessionTicket is left
 * with a 16 KiB write buffer that the mode does not release (until it writes):
 * shed() does. What remains is the SSL itself (7.6 of 13.8 KB), two cipher
 * contexts, the ephemeral keys and two transcript hashes; no public call frees
 * those while the session lives.
 *
 * keys: as shed while there is a session.
 *
 * Source: SSL_CTX_set_mode(3), SSL_free_buffers(3), SSL_write(3), SSL_key_update(3).
 */
#include "tls_backends/libssl_glue.h"

#include <errno.h>

#ifdef OPENSSL_IS_BORINGSSL
#error "openssl.c was given BoringSSL's headers: check the include path"
#endif
#if OPENSSL_VERSION_MAJOR < 3
#error "openssl.c needs OpenSSL 3"
#endif

/* A client's preference, which servers follow: BoringSSL's own order on a CPU with AES, so that
 * every pair of libraries negotiates the same suite. OpenSSL's order begins with AES-256. */
#define CLIENT_SUITES "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

/* The chain is a throwaway's. That the peer holds its key is still checked: CertificateVerify. */
static int accept_any_chain(X509_STORE_CTX *store, void *arg)
{
	(void)arg;
	X509_STORE_CTX_set_error(store, X509_V_OK);
	return 1;
}

static const SSL_METHOD *method(const struct tls_config *config)
{
	(void)config;
	return TLS_method();
}

static int tune_ctx(struct tls_ctx *ctx, const struct tls_config *config)
{
	if (config->park > PARK_HOLD)
		SSL_CTX_set_mode(ctx->ssl_ctx, SSL_MODE_RELEASE_BUFFERS);
	if (config->server)
		return 1;
	SSL_CTX_set_cert_verify_callback(ctx->ssl_ctx, accept_any_chain, NULL);
	return SSL_CTX_set_ciphersuites(ctx->ssl_ctx, CLIENT_SUITES);
}

/* It refuses while a record is there in part, since 3.0.14 and its backports (CVE-2024-4741). */
static int shed(struct tls_session *session)
{
	return SSL_free_buffers(libssl_of(session)) ? 0 : -EBUSY;
}

/* The answer to a KeyUpdate waits for the next write; SSL_write_ex may write nothing, SSL_write
 * not. */
static int flush(SSL *ssl)
{
	size_t written;

	if (SSL_get_key_update_type(ssl) == SSL_KEY_UPDATE_NONE)
		return 1;
	return SSL_write_ex(ssl, "", 0, &written) ? 1 : -1;
}

/* A message that is there in part counts as a handshake under way. A record that is there in part
 * keeps the buffers from being freed, its header alone too, which SSL_has_pending overlooks. */
static bool is_drained(SSL *ssl, const struct libssl_trace *trace)
{
	(void)trace;
	return !SSL_has_pending(ssl) && SSL_free_buffers(ssl);
}

/* It does not tell. Each header that passed is one record. */
static void sequences(const SSL *ssl, const struct libssl_trace *trace, uint64_t *read,
		      uint64_t *write)
{
	(void)ssl;
	*read = trace->read.records;
	*write = trace->write.records;
}

static bool had_early_data(const SSL *ssl)
{
	return SSL_get_early_data_status(ssl) != SSL_EARLY_DATA_NOT_SENT;
}

static const struct libssl_flavour flavour = {
	.method = method,
	.tune_ctx = tune_ctx,
	.flush = flush,
	.is_drained = is_drained,
	.sequences = sequences,
	.had_early_data = had_early_data,
};

static int check(char *reason, size_t reason_size)
{
	return libssl_check("OpenSSL", reason, reason_size);
}

static int ctx_new(struct tls_ctx **ctx, const struct tls_config *config, char *reason,
		   size_t reason_size)
{
	return libssl_ctx_new(ctx, config, &flavour, reason, reason_size);
}

extern const struct tls_ops parkbench_tls_plugin;

__attribute__((visibility("default"))) const struct tls_ops parkbench_tls_plugin = {
	.abi = TLS_PLUGIN_ABI,
	.name = "openssl",
	.summary = "OpenSSL 3",
	.check = check,
	.ctx_new = ctx_new,
	.shed = shed,
	LIBSSL_OPS,
};
