/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_backends/ - the TLS libraries under comparison. This header is the whole
 * contract between the core (harness/core) and a backend.
 *
 * A backend is a plug-in `<name>.so` that exports one symbol,
 * TLS_PLUGIN_SYMBOL, a `const struct tls_ops`. The programs link no TLS
 * library: they open only the plug-in asked for (RTLD_NOW | RTLD_LOCAL) and
 * refuse to run when the library that answers is not the one named.
 *
 * Bytes in, bytes out: no fd, no callback into the reactor, no per-connection
 * I/O buffer beyond what the library itself insists on. Output is to be sent
 * even when a call fails: it may be an alert.
 *
 * Threads: a context and its sessions belong to one worker and are used by one
 * thread at a time; an identity is read-only once made and shared by all.
 * Errors: negative errno, as listed at each function:
 *	0             done
 *	-EINPROGRESS  needs more bytes from the peer; all input was consumed
 *	-ENOBUFS      the output window is full: send it and call again
 *	-EPIPE        the peer closed properly (close_notify)
 *	-EPROTO       the peer broke the protocol; the alert is in the output
 *	-ENOMEM       out of memory
 *	-EINVAL       a bad argument, file or setting; see the reason
 */
#ifndef TLS_BACKENDS_TLS_BACKEND_H
#define TLS_BACKENDS_TLS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/common/park.h"

#define TLS_PLUGIN_SYMBOL "parkbench_tls_plugin"
#define TLS_PLUGIN_ABI 3u

/* RFC 8446 section 5.1: most plaintext in one record; the most that a record of
 * any version adds to it (header, IV, tag, padding), rounded up. */
#define TLS_RECORD_PLAIN_MAX 16384u
#define TLS_RECORD_OVERHEAD_MAX 256u
/* The longest record there is, its header included. */
#define TLS_RECORD_MAX (5u + TLS_RECORD_PLAIN_MAX + TLS_RECORD_OVERHEAD_MAX)
/* The least room for output that a caller offers to any call. */
#define TLS_OUT_MIN 2048u
/* RFC 8446 appendix B.4: the longest hash of a TLS 1.3 suite in use, SHA-384. */
#define TLS_SECRET_MAX 48u

/* Opaque, each backend's own. */
struct tls_identity; /* certificate chain and private key */
struct tls_ctx;      /* settings of one worker, shared scratch included */
struct tls_session;  /* one connection */

/*
 * A window on a connection's ciphertext, both ways; borrowed for one call. A
 * call moves `in` past what it consumed and appends what is to be sent.
 */
struct tls_io {
	const uint8_t *in;
	size_t in_len;
	uint8_t *out;
	size_t out_len;
	size_t out_size;
};

/* Which library answers, as every result states it. */
struct tls_version {
	char library[64]; /* "OpenSSL 3.0.17 1 Jul 2025" as the library says */
	char package[96]; /* "libssl3 3.0.17-1~deb12u2", or where it was built */
	char api[32];     /* OPENSSL_VERSION_NUMBER, BORINGSSL_API_VERSION */
	char build[96];   /* how: "Debian, OPENSSL_SMALL", "source, -O2", … */
	char object[256]; /* the shared object that holds SSL_new at run time */
};

struct tls_config {
	bool server;                         /* else client */
	enum park_level park;                /* what an idle session may keep */
	unsigned tickets;                    /* NewSessionTickets a server sends at
						levels deeper than hold; at hold the
						library's default stands */
	const struct tls_identity *identity; /* server: required; must outlive */
	bool allow_tls12;                    /* else TLS 1.3 only */
};

/* What was negotiated. */
struct tls_info {
	uint16_t protocol; /* 0x0304 TLS 1.3; 0 for plain */
	uint16_t cipher;   /* IANA number; 0 for plain */
	char cipher_name[48];
};

/*
 * Level keys: all that is left of an idle session. Plain bytes of the caller's,
 * to be moved and copied as it likes as long as one copy only is used; a second
 * copy in use would encrypt two records under one nonce. Filled by dissolve,
 * changed by the parked_* ops, to be ended by parked_forget. The fields are the
 * backend's; all zero where there is no connection.
 */
struct tls_parked {
	uint8_t read_secret[TLS_SECRET_MAX];  /* of the peer's traffic; zero-padded */
	uint8_t write_secret[TLS_SECRET_MAX]; /* of ours */
	uint32_t read_seq;                    /* of the next record each way */
	uint32_t write_seq;
	uint32_t message;     /* the handshake message under way: its header so far,
				 then its type and how many bytes are missing */
	uint8_t message_have; /* bytes of its 4-byte header that came; 0: none under way */
	uint8_t suite;        /* low byte of its IANA number, 0x13XX; 0 for plain */
	uint8_t flags;        /* see record13_parts.h */
	uint8_t quiet;        /* records in a row that brought nothing */
};

_Static_assert(sizeof(struct tls_parked) <= 112, "level keys promises 112 bytes");

struct tls_ops {
	unsigned abi;        /* TLS_PLUGIN_ABI */
	const char *name;    /* "openssl" */
	const char *summary; /* one line for `parkbench list` */
	/* A session is established once it is open: the peer's first bytes are data, and may
	 * be long in coming. */
	bool no_handshake;

	/*
	 * Checks that the library which answers is the one this plug-in is named
	 * after and was compiled for. 0, or -EINVAL with the reason (what was
	 * expected, what answered, from which file). Called before all else.
	 */
	int (*check)(char *reason, size_t reason_size);
	void (*version)(struct tls_version *version);

	/*
	 * Certificate chain and key from PEM files, or, both NULL, a throwaway
	 * self-signed ECDSA P-256 certificate for localhost and 127.0.0.1.
	 * -EINVAL with the reason: unreadable, not PEM, mismatched.
	 */
	int (*identity_new)(struct tls_identity **identity, const char *cert_file,
			    const char *key_file, char *reason, size_t reason_size);
	void (*identity_free)(struct tls_identity *identity);

	int (*ctx_new)(struct tls_ctx **ctx, const struct tls_config *config, char *reason,
		       size_t reason_size);
	void (*ctx_free)(struct tls_ctx *ctx);

	/* A new session in the context's role. 0, -ENOMEM. */
	int (*open)(struct tls_ctx *ctx, struct tls_session **session);
	/* Takes the handshake as far as the input goes. 0 when it is complete
	 * (input may be left: application data), -EINPROGRESS, -ENOBUFS, -EPIPE,
	 * -EPROTO, -ENOMEM. */
	int (*handshake)(struct tls_session *session, struct tls_io *io);
	/* One run of plaintext into plain[0..size): 0 with *len > 0; else
	 * -EINPROGRESS, -ENOBUFS, -EPIPE, -EPROTO, -ENOMEM with *len == 0. Call
	 * again until it is not 0. size >= TLS_RECORD_PLAIN_MAX. */
	int (*decrypt)(struct tls_session *session, struct tls_io *io, uint8_t *plain, size_t size,
		       size_t *len);
	/* Encrypts as much of plain[0..len) as the output window takes; *used says
	 * how much. 0 with *used > 0; -ENOBUFS, -EPROTO, -ENOMEM with *used == 0. */
	int (*encrypt)(struct tls_session *session, struct tls_io *io, const uint8_t *plain,
		       size_t len, size_t *used);
	/* Our close_notify into the output. 0, -ENOBUFS, -EPROTO. */
	int (*close_notify)(struct tls_session *session, struct tls_io *io);
	/* Our KeyUpdate into the output, asking for the peer's (RFC 8446 section 4.6.3): what
	 * we send from then on is under new keys. 0, -ENOBUFS, -EPROTO; -EOPNOTSUPP without
	 * TLS 1.3. */
	int (*key_update)(struct tls_session *session, struct tls_io *io);
	/* The peer's KeyUpdate that we last asked for has not come yet. */
	bool (*awaits_key_update)(const struct tls_session *session);
	/* Level shed: releases what an idle session need not keep. 0, or -EBUSY
	 * while a record is buffered in part. */
	int (*shed)(struct tls_session *session);
	/*
	 * Level keys (`park` of the context): the session becomes *parked and is
	 * freed. 0: done; what the library still had to say was appended to the
	 * output. Else the session is as it was and *kept says why, in a constant
	 * of a few words fit for counting: -EBUSY, it may work later ("bytes
	 * pending", "handshake", "closing"); -EOPNOTSUPP, never ("TLS 1.2",
	 * "cipher", "early data", "level", "secrets", "sequence"); -ENOBUFS; -EPROTO
	 * or -ENOMEM when the session has failed. Input is not looked at.
	 */
	int (*dissolve)(struct tls_session *session, struct tls_parked *parked, struct tls_io *io,
			const char **kept);
	/*
	 * As the ops on a session, with one difference in parked_decrypt: a record that
	 * is there in part stays in the input (-EINPROGRESS with in_len > 0), and
	 * the caller comes again with the same bytes and more: fewer than
	 * TLS_RECORD_MAX are ever left so. After parked_decrypt's -EPROTO the secrets
	 * are gone; only parked_forget is left.
	 */
	int (*parked_decrypt)(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io,
			      uint8_t *plain, size_t size, size_t *len);
	int (*parked_encrypt)(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io,
			      const uint8_t *plain, size_t len, size_t *used);
	int (*parked_close_notify)(struct tls_ctx *ctx, struct tls_parked *parked,
				   struct tls_io *io);
	int (*parked_key_update)(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io);
	bool (*parked_awaits_key_update)(const struct tls_parked *parked);
	/* Zeroes the record and whatever the context remembers of it. */
	void (*parked_forget)(struct tls_ctx *ctx, struct tls_parked *parked);
	void (*info)(const struct tls_session *session, struct tls_info *info);
	/* Frees the session without a word to the peer. */
	void (*close)(struct tls_session *session);
	/* Why the last call on this context failed, in one line for a person. Valid
	 * until the next call on the context. Never NULL. */
	const char *(*strerror)(const struct tls_ctx *ctx);
};

#endif
