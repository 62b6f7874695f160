// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - no TLS at all: the floor every other backend is compared with. Bytes pass through
 * unchanged and a session costs nothing: it is its context. */
#include "tls_backends/tls_backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tls_identity {
	char unused;
};

struct tls_ctx {
	char unused;
};

/* The contract hands out a pointer and takes it back; nobody writes through it. */
static struct tls_identity no_identity;

static int check(char *reason, size_t reason_size)
{
	(void)reason;
	(void)reason_size;
	return 0;
}

static void plain_version(struct tls_version *version)
{
	memset(version, 0, sizeof(*version));
	strcpy(version->library, "none");
	strcpy(version->package, "none");
	strcpy(version->api, "none");
	strcpy(version->build, "none");
	strcpy(version->object, "none");
}

static int identity_new(struct tls_identity **identity, const char *cert_file, const char *key_file,
			char *reason, size_t reason_size)
{
	(void)cert_file;
	(void)key_file;
	(void)reason;
	(void)reason_size;
	*identity = &no_identity;
	return 0;
}

static void identity_free(struct tls_identity *identity)
{
	(void)identity;
}

static int ctx_new(struct tls_ctx **ctx, const struct tls_config *config, char *reason,
		   size_t reason_size)
{
	(void)config;
	*ctx = calloc(1, sizeof(**ctx));
	if (*ctx)
		return 0;
	snprintf(reason, reason_size, "out of memory");
	return -ENOMEM;
}

static void ctx_free(struct tls_ctx *ctx)
{
	free(ctx);
}

static int open_session(struct tls_ctx *ctx, struct tls_session **session)
{
	*session = (struct tls_session *)ctx;
	return 0;
}

static int handshake(struct tls_session *session, struct tls_io *io)
{
	(void)session;
	(void)io;
	return 0;
}

static int decrypt(struct tls_session *session, struct tls_io *io, uint8_t *plain, size_t size,
		   size_t *len)
{
	(void)session;
	*len = io->in_len < size ? io->in_len : size;
	if (!*len)
		return -EINPROGRESS;
	memcpy(plain, io->in, *len);
	io->in += *len;
	io->in_len -= *len;
	return 0;
}

static int encrypt(struct tls_session *session, struct tls_io *io, const uint8_t *plain, size_t len,
		   size_t *used)
{
	size_t room = io->out_size - io->out_len;

	(void)session;
	*used = len < room ? len : room;
	if (!*used)
		return -ENOBUFS;
	memcpy(io->out + io->out_len, plain, *used);
	io->out_len += *used;
	return 0;
}

/* The FIN says it. */
static int close_notify(struct tls_session *session, struct tls_io *io)
{
	(void)session;
	(void)io;
	return 0;
}

/* There are no keys. */
static int key_update(struct tls_session *session, struct tls_io *io)
{
	(void)session;
	(void)io;
	return -EOPNOTSUPP;
}

static bool awaits_key_update(const struct tls_session *session)
{
	(void)session;
	return false;
}

static int shed(struct tls_session *session)
{
	(void)session;
	return 0;
}

/* There is nothing to remember, nor to forget. */
static int dissolve(struct tls_session *session, struct tls_parked *parked, struct tls_io *io,
		    const char **kept)
{
	(void)session;
	(void)io;
	*kept = NULL;
	memset(parked, 0, sizeof(*parked));
	return 0;
}

static int parked_decrypt(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io,
			  uint8_t *plain, size_t size, size_t *len)
{
	(void)parked;
	return decrypt((struct tls_session *)ctx, io, plain, size, len);
}

static int parked_encrypt(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io,
			  const uint8_t *plain, size_t len, size_t *used)
{
	(void)parked;
	return encrypt((struct tls_session *)ctx, io, plain, len, used);
}

static int parked_close_notify(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io)
{
	(void)parked;
	return close_notify((struct tls_session *)ctx, io);
}

static int parked_key_update(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io)
{
	(void)parked;
	return key_update((struct tls_session *)ctx, io);
}

static bool parked_awaits_key_update(const struct tls_parked *parked)
{
	(void)parked;
	return false;
}

static void parked_forget(struct tls_ctx *ctx, struct tls_parked *parked)
{
	(void)ctx;
	(void)parked;
}

static void plain_info(const struct tls_session *session, struct tls_info *info)
{
	(void)session;
	memset(info, 0, sizeof(*info));
	strcpy(info->cipher_name, "none");
}

static void close_session(struct tls_session *session)
{
	(void)session;
}

static const char *plain_strerror(const struct tls_ctx *ctx)
{
	(void)ctx;
	return "no error";
}

extern const struct tls_ops parkbench_tls_plugin;

__attribute__((visibility("default"))) const struct tls_ops parkbench_tls_plugin = {
	.abi = TLS_PLUGIN_ABI,
	.name = "plain",
	.summary = "no TLS: the floor",
	.no_handshake = true,
	.check = check,
	.version = plain_version,
	.identity_new = identity_new,
	.identity_free = identity_free,
	.ctx_new = ctx_new,
	.ctx_free = ctx_free,
	.open = open_session,
	.handshake = handshake,
	.decrypt = decrypt,
	.encrypt = encrypt,
	.close_notify = close_notify,
	.key_update = key_update,
	.awaits_key_update = awaits_key_update,
	.shed = shed,
	.dissolve = dissolve,
	.parked_decrypt = parked_decrypt,
	.parked_encrypt = parked_encrypt,
	.parked_close_notify = parked_close_notify,
	.parked_key_update = parked_key_update,
	.parked_awaits_key_update = parked_awaits_key_update,
	.parked_forget = parked_forget,
	.info = plain_info,
	.close = close_session,
	.strerror = plain_strerror,
};
