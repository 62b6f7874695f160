/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_backends/tests/ - two connections joined by two byte queues, in memory.
 * Each end is a session or, once dissolved, a parked record.
 *
 * An endpoint is fed at most `dribble` bytes a call (parked: beyond those it
 * left lying) and given an output window of `window` bytes: the two things a
 * backend must not depend on. Every call asserts what the contract promises of
 * the window.
 */
#ifndef TLS_BACKENDS_TESTS_ENDPOINTS_H
#define TLS_BACKENDS_TESTS_ENDPOINTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tls_backends/tls_backend.h"

#define WINDOW_MAX 65536u
#define REASON_BYTES 512

struct queue {
	uint8_t *data; /* owned */
	size_t len;
	size_t size;
};

struct endpoint {
	const struct tls_ops *ops;
	struct tls_identity *identity; /* owned; NULL at a client */
	struct tls_ctx *ctx;           /* owned */
	struct tls_session *session;   /* owned; NULL once parked */
	struct tls_parked parked;      /* used where session is NULL */
	size_t left;                   /* bytes of input that the last call left */
	struct queue in;               /* ciphertext on its way to this end */
	struct endpoint *peer;
	size_t dribble; /* most bytes of input a call; 0: all there are */
	size_t window;  /* room for output of a call */
	bool saw_full;  /* a call answered -ENOBUFS */
};

/* The plug-in, or NULL when it was not built. */
static inline const struct tls_ops *plugin_at(const char *dir, const char *name, int flags)
{
	char path[PATH_MAX + 64];
	const struct tls_ops *ops;
	void *handle;

	snprintf(path, sizeof(path), "%s/%.32s.so", dir, name);
	if (access(path, F_OK))
		return NULL;
	handle = dlopen(path, flags | RTLD_LOCAL);
	if (!handle)
		fail_msg("%s", dlerror());
	ops = dlsym(handle, TLS_PLUGIN_SYMBOL);
	assert_non_null(ops);
	assert_int_equal(ops->abi, TLS_PLUGIN_ABI);
	assert_string_equal(ops->name, name);
	return ops;
}

static inline const char *output_dir(void)
{
	return getenv("O") ? getenv("O") : "build";
}

static inline void plugin_dir(char dir[PATH_MAX])
{
	const char *chosen = getenv("PARKBENCH_TLS_DIR");

	if (chosen)
		snprintf(dir, PATH_MAX, "%s", chosen);
	else
		snprintf(dir, PATH_MAX, "%s/tls", output_dir());
}

static inline const struct tls_ops *plugin(const char *name)
{
	char dir[PATH_MAX];

	plugin_dir(dir);
	return plugin_at(dir, name, RTLD_NOW);
}

static inline void queue_append(struct queue *queue, const uint8_t *data, size_t len)
{
	if (queue->len + len > queue->size) {
		queue->size = 2 * (queue->len + len);
		queue->data = realloc(queue->data, queue->size);
		assert_non_null(queue->data);
	}
	if (len)
		memcpy(queue->data + queue->len, data, len);
	queue->len += len;
}

static inline void queue_drop(struct queue *queue, size_t len)
{
	queue->len -= len;
	if (len)
		memmove(queue->data, queue->data + len, queue->len);
}

static inline void endpoint_ctx(struct endpoint *end, const struct tls_ops *ops,
				struct tls_config config)
{
	char reason[REASON_BYTES] = "";

	*end = (struct endpoint){.ops = ops, .window = WINDOW_MAX};
	if (config.server && !config.identity) {
		if (ops->identity_new(&end->identity, NULL, NULL, reason, sizeof(reason)))
			fail_msg("identity: %s", reason);
		config.identity = end->identity;
	}
	if (ops->ctx_new(&end->ctx, &config, reason, sizeof(reason)))
		fail_msg("context: %s", reason);
}

static inline void endpoint_open(struct endpoint *end, const struct tls_ops *ops,
				 struct tls_config config)
{
	endpoint_ctx(end, ops, config);
	assert_int_equal(ops->open(end->ctx, &end->session), 0);
}

static inline void endpoint_close(struct endpoint *end)
{
	if (end->session)
		end->ops->close(end->session);
	else if (end->parked.suite)
		end->ops->parked_forget(end->ctx, &end->parked);
	end->ops->ctx_free(end->ctx);
	end->ops->identity_free(end->identity);
	free(end->in.data);
}

/* A window on what this end may read now; `out` has room for WINDOW_MAX. */
static inline struct tls_io io_begin(struct endpoint *end, uint8_t *out)
{
	size_t len = end->in.len;
	size_t most = end->dribble + (end->session ? 0 : end->left);

	if (end->dribble && len > most)
		len = most;
	return (struct tls_io){
		.in = end->in.data, .in_len = len, .out = out, .out_size = end->window};
}

/* Takes what was consumed from the queue and passes the output on; `rc`: the call's answer. */
static inline void io_end(struct endpoint *end, const struct tls_io *io, int rc)
{
	assert_true(io->out_len <= io->out_size);
	if (rc == -EINPROGRESS && end->session)
		assert_int_equal(io->in_len, 0);
	if (rc == -ENOBUFS)
		end->saw_full = true;
	queue_drop(&end->in, end->in.data ? (size_t)(io->in - end->in.data) : 0);
	queue_append(&end->peer->in, io->out, io->out_len);
}

static inline int endpoint_decrypt(struct endpoint *end, struct tls_io *io, uint8_t *plain,
				   size_t size, size_t *len)
{
	if (end->session)
		return end->ops->decrypt(end->session, io, plain, size, len);
	return end->ops->parked_decrypt(end->ctx, &end->parked, io, plain, size, len);
}

static inline int endpoint_encrypt(struct endpoint *end, struct tls_io *io, const uint8_t *plain,
				   size_t len, size_t *used)
{
	if (end->session)
		return end->ops->encrypt(end->session, io, plain, len, used);
	return end->ops->parked_encrypt(end->ctx, &end->parked, io, plain, len, used);
}

/* Parks; `kept` as of dissolve. */
static inline int endpoint_dissolve(struct endpoint *end, const char **kept)
{
	uint8_t out[WINDOW_MAX];
	struct tls_io io = {.out = out, .out_size = end->window};
	int rc = end->ops->dissolve(end->session, &end->parked, &io, kept);

	assert_true(!rc == !*kept);
	if (!rc)
		end->session = NULL;
	queue_append(&end->peer->in, io.out, io.out_len);
	return rc;
}

/* Handshakes as far as the input goes. */
static inline int endpoint_handshake(struct endpoint *end)
{
	uint8_t out[WINDOW_MAX];
	int rc;

	do {
		struct tls_io io = io_begin(end, out);

		rc = end->ops->handshake(end->session, &io);
		io_end(end, &io, rc);
	} while (rc == -ENOBUFS || (rc == -EINPROGRESS && end->in.len));
	return rc;
}

static inline void complete_handshake(struct endpoint *client, struct endpoint *server)
{
	int at_client = -EINPROGRESS, at_server = -EINPROGRESS;

	for (int round = 0; round < 8 && (at_client || at_server); round++) {
		if (at_client)
			at_client = endpoint_handshake(client);
		if (at_client && at_client != -EINPROGRESS)
			fail_msg("client: %s", client->ops->strerror(client->ctx));
		if (at_server)
			at_server = endpoint_handshake(server);
		if (at_server && at_server != -EINPROGRESS)
			fail_msg("server: %s", server->ops->strerror(server->ctx));
	}
	assert_int_equal(at_client, 0);
	assert_int_equal(at_server, 0);
}

static inline void endpoint_send(struct endpoint *end, const uint8_t *data, size_t len)
{
	uint8_t out[WINDOW_MAX];
	size_t sent = 0;

	while (sent < len) {
		struct tls_io io = io_begin(end, out);
		size_t used;
		int rc;

		io.in_len = 0;
		rc = endpoint_encrypt(end, &io, data + sent, len - sent, &used);
		if (rc && rc != -ENOBUFS)
			fail_msg("encrypt: %s", end->ops->strerror(end->ctx));
		/* A call that neither uses nor writes would never end. */
		assert_true(rc ? !used && io.out_len : used > 0);
		io_end(end, &io, rc);
		sent += used;
	}
}

/* Decrypts until `size` bytes came, or the input or the session ends: 0, or why it stopped. */
static inline int endpoint_receive(struct endpoint *end, uint8_t *data, size_t size, size_t *got)
{
	uint8_t out[WINDOW_MAX], plain[TLS_RECORD_PLAIN_MAX];
	int rc = 0;

	*got = 0;
	while (*got < size) {
		struct tls_io io = io_begin(end, out);
		size_t len;

		rc = endpoint_decrypt(end, &io, plain, sizeof(plain), &len);
		end->left = io.in_len;
		io_end(end, &io, rc);
		assert_true(rc ? len == 0 : len > 0);
		if (rc && rc != -ENOBUFS && (rc != -EINPROGRESS || end->left == end->in.len))
			return rc;
		assert_true(*got + len <= size);
		memcpy(data + *got, plain, len);
		*got += len;
	}
	return 0;
}

/* What decrypt answers when no data is expected. */
static inline int endpoint_expect_none(struct endpoint *end)
{
	uint8_t byte;
	size_t got;
	int rc = endpoint_receive(end, &byte, 1, &got);

	assert_int_equal(got, 0);
	return rc;
}

static inline int endpoint_close_notify(struct endpoint *end)
{
	uint8_t out[WINDOW_MAX];
	struct tls_io io = io_begin(end, out);
	int rc;

	io.in_len = 0;
	rc = end->session ? end->ops->close_notify(end->session, &io)
			  : end->ops->parked_close_notify(end->ctx, &end->parked, &io);
	io_end(end, &io, rc);
	return rc;
}

/* An established pair; `client` and `server` are the caller's. */
static inline void join(struct endpoint *client, struct endpoint *server)
{
	client->peer = server;
	server->peer = client;
}

#endif
