// SPDX-License-Identifier: Apache-2.0
/*
 * tls_backends/ - what passes by on a session, noted for dissolve (level keys) and for who waits
 * for a KeyUpdate.
 *
 * Secrets come from the key log, which both libraries offer. They then follow
 * every KeyUpdate. Records are counted by the headers that the message callback
 * shows, encrypted ones only: no others are numbered. Keys change right after Finished and
 * KeyUpdate, in OpenSSL after the record of the message, so that counts begin again at 0.
 *
 * Source: SSL_CTX_set_keylog_callback(3), SSL_CTX_set_msg_callback(3); RFC 8446
 * sections 4.6.3, 5.2 and 7.2.
 */
#include "tls_backends/libssl_glue.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "tls_backends/record13_keys.h"

#ifdef OPENSSL_IS_BORINGSSL
#include <openssl/mem.h>
#endif

#define MESSAGE_FINISHED 20
#define MESSAGE_KEY_UPDATE 24
#define CONTENT_APPLICATION_DATA 23
#define HEADER_BYTES 5u
/* A content type and a tag are no content. */
#define INNER_ADDED_BYTES (1 + (int64_t)AEAD_TAG_BYTES)

struct libssl_trace *libssl_trace_of(const SSL *ssl)
{
	return SSL_get_app_data(ssl);
}

int libssl_trace_begin(SSL *ssl)
{
	struct libssl_trace *trace = calloc(1, sizeof(*trace));

	if (trace && SSL_set_app_data(ssl, (char *)trace))
		return 1;
	free(trace);
	return 0;
}

void libssl_trace_end(SSL *ssl)
{
	struct libssl_trace *trace = libssl_trace_of(ssl);

	if (!trace)
		return;
	SSL_set_app_data(ssl, NULL);
	OPENSSL_cleanse(trace, sizeof(*trace));
	free(trace);
}

/* ---- the key log: LABEL, client random, secret, the last two in hexadecimal ---- */

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

static void note_secret(struct libssl_way *way, const char *hex)
{
	size_t len = 0;

	for (; len < TLS_SECRET_MAX && isxdigit((unsigned char)hex[0]) &&
	       isxdigit((unsigned char)hex[1]);
	     len++, hex += 2)
		way->secret[len] = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
	way->secret_len = *hex ? 0 : (uint8_t)len;
}

static void on_key_log(const SSL *ssl, const char *line)
{
	struct libssl_trace *trace = libssl_trace_of(ssl);
	const char *secret = strrchr(line, ' ');
	bool of_server = !strncmp(line, "SERVER_TRAFFIC_SECRET_0 ", 24);

	if (!trace || !secret)
		return;
	if (of_server || !strncmp(line, "CLIENT_TRAFFIC_SECRET_0 ", 24))
		note_secret(of_server == SSL_is_server(ssl) ? &trace->write : &trace->read,
			    secret + 1);
}

/* ---- messages and records ---- */

static void note_header(struct libssl_trace *trace, struct libssl_way *way, const uint8_t *header)
{
	if (!way->begun || header[0] != CONTENT_APPLICATION_DATA)
		return;
	way->records++;
	if (way == &trace->read)
		trace->hidden_bytes += (header[3] << 8 | header[4]) - INNER_ADDED_BYTES;
}

static void note_key_update(const SSL *ssl, struct libssl_way *way)
{
	const struct record13_suite *suite = record13_suite_find(
		(uint16_t)SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(ssl)));

	way->records = 0;
	if (suite && suite->hash_bytes == way->secret_len)
		record13_next_secret(suite, way->secret);
	else
		way->secret_len = 0;
}

static void note_message(const SSL *ssl, struct libssl_way *way, uint8_t type)
{
	if (!way->begun)
		way->begun = type == MESSAGE_FINISHED;
	else if (type == MESSAGE_KEY_UPDATE)
		note_key_update(ssl, way);
}

static void note_answer(struct libssl_trace *trace, uint8_t type)
{
	if (type == MESSAGE_KEY_UPDATE)
		trace->asked = false;
}

static void on_message(int is_write, int version, int type, const void *bytes, size_t len, SSL *ssl,
		       void *arg)
{
	struct libssl_trace *trace = libssl_trace_of(ssl);
	struct libssl_way *way;

	(void)version;
	(void)arg;
	if (!trace)
		return;
	way = is_write ? &trace->write : &trace->read;
	if (way->begun && !is_write && (type == SSL3_RT_HANDSHAKE || type == SSL3_RT_ALERT))
		trace->hidden_bytes -= (int64_t)len;
	if (type == SSL3_RT_HEADER && len == HEADER_BYTES)
		note_header(trace, way, bytes);
	else if (type == SSL3_RT_HANDSHAKE && len)
		note_message(ssl, way, *(const uint8_t *)bytes);
	if (type == SSL3_RT_HANDSHAKE && len && !is_write)
		note_answer(trace, *(const uint8_t *)bytes);
}

void libssl_trace_ctx(SSL_CTX *ssl_ctx)
{
	SSL_CTX_set_keylog_callback(ssl_ctx, on_key_log);
	SSL_CTX_set_msg_callback(ssl_ctx, on_message);
}

/* Without the secrets, a late trace is of no use to dissolve, which other levels refuse anyway. */
int libssl_trace_asks(SSL *ssl)
{
	if (!libssl_trace_of(ssl)) {
		if (!libssl_trace_begin(ssl))
			return 0;
		SSL_set_msg_callback(ssl, on_message);
	}
	libssl_trace_of(ssl)->asked = true;
	return 1;
}
