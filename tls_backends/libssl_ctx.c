// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - contexts: the settings that one worker's sessions share. Source: SSL_CTX_new(3),
 * SSL_CTX_set_alpn_select_cb(3), RFC 7301. */
#include "tls_backends/libssl_glue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/err.h>

#include "tls_backends/record13.h"

/* X25519 is what browsers offer first; P-256 is what everybody has. */
#define GROUPS "X25519:P-256"

static const unsigned char http11[] = "\x08http/1.1";

static int select_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
		       const unsigned char *in, unsigned in_len, void *arg)
{
	unsigned char *selected;

	(void)ssl;
	(void)arg;
	if (SSL_select_next_proto(&selected, out_len, http11, sizeof(http11) - 1, in, in_len) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_NOACK;
	*out = selected;
	return SSL_TLSEXT_ERR_OK;
}

static int use_identity(SSL_CTX *ssl_ctx, const struct tls_identity *identity)
{
	if (SSL_CTX_use_certificate(ssl_ctx, identity->leaf) != 1)
		return 0;
	for (size_t i = 0; i < (size_t)sk_X509_num(identity->chain); i++)
		if (!SSL_CTX_add1_chain_cert(ssl_ctx, sk_X509_value(identity->chain, i)))
			return 0;
	return SSL_CTX_use_PrivateKey(ssl_ctx, identity->key) == 1;
}

/* Left to itself each context would make keys of its own. */
static int use_ticket_keys(SSL_CTX *ssl_ctx, const struct tls_identity *identity)
{
	long len = SSL_CTX_get_tlsext_ticket_keys(ssl_ctx, NULL, 0);

	if (len <= 0 || len > LIBSSL_TICKET_KEYS_MAX)
		return 0;
	return SSL_CTX_set_tlsext_ticket_keys(ssl_ctx, (void *)identity->ticket_keys, len) == 1;
}

static int set_up(struct tls_ctx *ctx, const struct tls_config *config)
{
	int lowest = config->allow_tls12 ? TLS1_2_VERSION : TLS1_3_VERSION;

	ctx->ssl_ctx = SSL_CTX_new(ctx->flavour->method(config));
	ctx->bio_method = libssl_bio_method();
	if (!ctx->ssl_ctx || !ctx->bio_method)
		return 0;
	SSL_CTX_set_app_data(ctx->ssl_ctx, ctx);
	if (!SSL_CTX_set_min_proto_version(ctx->ssl_ctx, lowest) ||
	    !SSL_CTX_set_max_proto_version(ctx->ssl_ctx, TLS1_3_VERSION) ||
	    !SSL_CTX_set1_curves_list(ctx->ssl_ctx, GROUPS))
		return 0;
	if (config->server) {
		SSL_CTX_set_alpn_select_cb(ctx->ssl_ctx, select_alpn, NULL);
		if (!use_identity(ctx->ssl_ctx, config->identity) ||
		    !use_ticket_keys(ctx->ssl_ctx, config->identity))
			return 0;
	}
	if (config->park > PARK_HOLD) {
		ctx->shared_bio = libssl_bio_new(ctx);
		if (!ctx->shared_bio)
			return 0;
		SSL_CTX_set_session_cache_mode(ctx->ssl_ctx, SSL_SESS_CACHE_OFF);
		SSL_CTX_set_options(ctx->ssl_ctx, SSL_OP_NO_RENEGOTIATION);
		/* OpenSSL would still send stateful ones if only the option were set. */
		if (!config->tickets)
			SSL_CTX_set_options(ctx->ssl_ctx, SSL_OP_NO_TICKET);
		if (!SSL_CTX_set_num_tickets(ctx->ssl_ctx, config->tickets))
			return 0;
	}
	if (config->park >= PARK_KEYS) {
		ctx->record13 = record13_new();
		if (!ctx->record13)
			return 0;
		libssl_trace_ctx(ctx->ssl_ctx);
	}
	return ctx->flavour->tune_ctx(ctx, config);
}

int libssl_ctx_new(struct tls_ctx **ctx, const struct tls_config *config,
		   const struct libssl_flavour *flavour, char *reason, size_t reason_size)
{
	struct tls_ctx *made;

	if (config->server && !config->identity) {
		snprintf(reason, reason_size, "a server needs a certificate and a private key");
		return -EINVAL;
	}
	made = calloc(1, sizeof(*made));
	if (!made) {
		snprintf(reason, reason_size, "out of memory");
		return -ENOMEM;
	}
	made->flavour = flavour;
	made->server = config->server;
	ERR_clear_error();
	if (!set_up(made, config)) {
		libssl_reason(reason, reason_size, "setting up TLS");
		libssl_ctx_free(made);
		return -EINVAL;
	}
	*ctx = made;
	return 0;
}

void libssl_ctx_free(struct tls_ctx *ctx)
{
	if (!ctx)
		return;
	record13_free(ctx->record13);
	BIO_free(ctx->shared_bio);
	SSL_CTX_free(ctx->ssl_ctx);
	BIO_meth_free(ctx->bio_method);
	if (ctx->flavour->untune_ctx)
		ctx->flavour->untune_ctx(ctx);
	free(ctx);
}

const char *libssl_strerror(const struct tls_ctx *ctx)
{
	return *ctx->reason ? ctx->reason : "no error";
}
