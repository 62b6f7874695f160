// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - a BIO that reads and writes the window of the call being made. It holds no bytes
 * of its own. Source: BIO_meth_new(3). */
#include "tls_backends/libssl_glue.h"

#include <string.h>

static int window_read(BIO *bio, char *data, int size)
{
	struct tls_ctx *ctx = BIO_get_data(bio);
	struct tls_io *io = ctx->io;
	size_t len = (size_t)size < io->in_len ? (size_t)size : io->in_len;

	BIO_clear_retry_flags(bio);
	if (!len) {
		BIO_set_retry_read(bio);
		return -1;
	}
	memcpy(data, io->in, len);
	io->in += len;
	io->in_len -= len;
	return (int)len;
}

static int window_write(BIO *bio, const char *data, int size)
{
	struct tls_ctx *ctx = BIO_get_data(bio);
	struct tls_io *io = ctx->io;
	size_t room = io->out_size - io->out_len;
	size_t len = (size_t)size < room ? (size_t)size : room;

	BIO_clear_retry_flags(bio);
	if (!len) {
		BIO_set_retry_write(bio);
		return -1;
	}
	memcpy(io->out + io->out_len, data, len);
	io->out_len += len;
	return (int)len;
}

/* OpenSSL ends every flight with a flush and fails the handshake unless that succeeds. */
static long window_ctrl(BIO *bio, int command, long number, void *pointer)
{
	(void)bio;
	(void)number;
	(void)pointer;
	return command == BIO_CTRL_FLUSH;
}

BIO_METHOD *libssl_bio_method(void)
{
	/* No index of our own: libraries have about 100, and a process may hold more contexts. */
	BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "window");

	if (method && BIO_meth_set_read(method, window_read) &&
	    BIO_meth_set_write(method, window_write) && BIO_meth_set_ctrl(method, window_ctrl))
		return method;
	BIO_meth_free(method);
	return NULL;
}

BIO *libssl_bio_new(struct tls_ctx *ctx)
{
	BIO *bio = BIO_new(ctx->bio_method);

	if (bio) {
		BIO_set_data(bio, ctx);
		BIO_set_init(bio, 1);
	}
	return bio;
}
