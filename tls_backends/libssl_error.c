// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - from the library's error queue to an errno and a line for a person.
 * Source: SSL_get_error(3), ERR_get_error(3). */
#include "tls_backends/libssl_glue.h"

#include <errno.h>
#include <stdio.h>

#include <openssl/err.h>

/* The oldest error is the cause; later ones are callers passing it on. */
void libssl_reason(char *reason, size_t reason_size, const char *what)
{
	unsigned long error = ERR_get_error();
	const char *text = error ? ERR_reason_error_string(error) : "no reason given";
	char number[128];

	if (!text) {
		ERR_error_string_n(error, number, sizeof(number));
		text = number;
	}
	snprintf(reason, reason_size, "%s: %s", what, text);
	ERR_clear_error();
}

int libssl_session_error(struct tls_ctx *ctx, const SSL *ssl, int ret)
{
	unsigned long error = ERR_peek_error();

	switch (SSL_get_error(ssl, ret)) {
	case SSL_ERROR_WANT_READ:
		return -EINPROGRESS;
	case SSL_ERROR_WANT_WRITE:
		return -ENOBUFS;
	case SSL_ERROR_ZERO_RETURN:
		snprintf(ctx->reason, sizeof(ctx->reason), "the peer sent close_notify");
		return -EPIPE;
	default:
		libssl_reason(ctx->reason, sizeof(ctx->reason), "TLS");
		return ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE ? -ENOMEM : -EPROTO;
	}
}
