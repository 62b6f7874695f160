// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - records that reach a parked connection, and its beginning and end. Source: RFC
 * 8446 sections 5 and 6. */
#include "tls_backends/record13.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "tls_backends/record13_parts.h"

#ifdef OPENSSL_IS_BORINGSSL
#include <openssl/mem.h>
#endif

/* Room for the one record that reading may write: a KeyUpdate or an alert. */
#define ANSWER_BYTES 64u

/* ---- a worker's ---- */

struct record13 *record13_new(void)
{
	struct record13 *made = calloc(1, sizeof(*made));

	if (made && record13_direction_init(&made->read, false) &&
	    record13_direction_init(&made->write, true)) {
		made->update_after = RECORD13_UPDATE_AFTER;
		return made;
	}
	record13_free(made);
	return NULL;
}

void record13_free(struct record13 *record13)
{
	if (!record13)
		return;
	record13_direction_fini(&record13->read);
	record13_direction_fini(&record13->write);
	OPENSSL_cleanse(record13, sizeof(*record13));
	free(record13);
}

const char *record13_reason(const struct record13 *record13)
{
	return record13->reason;
}

void record13_set_update_after(struct record13 *record13, uint32_t records)
{
	record13->update_after = records;
}

int record13_violation(struct record13 *record13, enum record13_alert alert, const char *reason)
{
	record13->alert = alert;
	snprintf(record13->reason, sizeof(record13->reason), "%s", reason);
	return -EPROTO;
}

int record13_quiet(struct record13 *record13, struct tls_parked *parked)
{
	if (++parked->quiet > RECORD13_QUIET_MAX)
		return record13_violation(record13, ALERT_UNEXPECTED_MESSAGE,
					  "too many records in a row without data");
	return 0;
}

/* ---- the beginning and the end ---- */

int record13_park(struct tls_parked *parked, const struct record13_start *start)
{
	const struct record13_suite *suite = record13_suite_find(start->suite);

	if (!suite)
		return -EOPNOTSUPP;
	if (start->read_secret_len != suite->hash_bytes ||
	    start->write_secret_len != suite->hash_bytes)
		return -EINVAL;
	memset(parked, 0, sizeof(*parked));
	memcpy(parked->read_secret, start->read_secret, suite->hash_bytes);
	memcpy(parked->write_secret, start->write_secret, suite->hash_bytes);
	parked->read_seq = start->read_seq;
	parked->write_seq = start->write_seq;
	parked->suite = suite->id;
	parked->flags = start->server ? PARKED_SERVER : 0;
	return 0;
}

static void forget_keys(struct record13 *record13, struct tls_parked *parked)
{
	record13_direction_forget(&record13->read, parked->read_secret);
	record13_direction_forget(&record13->write, parked->write_secret);
	OPENSSL_cleanse(parked->read_secret, sizeof(parked->read_secret));
	OPENSSL_cleanse(parked->write_secret, sizeof(parked->write_secret));
}

void record13_forget(struct record13 *record13, struct tls_parked *parked)
{
	forget_keys(record13, parked);
	OPENSSL_cleanse(parked, sizeof(*parked));
}

/* The keys of a failed connection must be forgotten (section 6.2). The alert is all that may still
 * be said, and nothing may be said after close_notify. */
static void fail(struct record13 *record13, struct tls_parked *parked, struct tls_io *io)
{
	const uint8_t alert[] = {2, (uint8_t)record13->alert};

	if (parked->flags & PARKED_FAILED)
		return;
	if (record13->alert != ALERT_CLOSE_NOTIFY && !(parked->flags & PARKED_WRITE_CLOSED)) {
		char reason[sizeof(record13->reason)];

		/* If this fails too, the first reason is the one to tell. */
		memcpy(reason, record13->reason, sizeof(reason));
		record13_seal(record13, parked, io, CONTENT_ALERT, alert, sizeof(alert));
		memcpy(record13->reason, reason, sizeof(reason));
	}
	forget_keys(record13, parked);
	parked->flags |= PARKED_FAILED;
}

/* ---- reading ---- */

struct content {
	enum content_type type;
	const uint8_t *data; /* in record13->inner */
	size_t len;
};

/* The length of the record at the front of the input. 0, -EINPROGRESS: not all of it is there,
 * -EPROTO. The header's version says nothing (section 5.1), but it is authenticated. */
static int whole_record(struct record13 *record13, const struct tls_io *io, size_t *sealed_len)
{
	if (io->in_len && io->in[0] != CONTENT_APPLICATION_DATA)
		return record13_violation(record13, ALERT_UNEXPECTED_MESSAGE,
					  "a record that is not encrypted");
	if (io->in_len < RECORD_HEADER_BYTES)
		return -EINPROGRESS;
	*sealed_len = (size_t)io->in[3] << 8 | io->in[4];
	if (*sealed_len > RECORD_CIPHER_MAX)
		return record13_violation(record13, ALERT_RECORD_OVERFLOW, "a record too long");
	if (io->in_len - RECORD_HEADER_BYTES < *sealed_len)
		return -EINPROGRESS;
	return 0;
}

static int open_record(struct record13 *record13, struct tls_parked *parked, const uint8_t *record,
		       size_t sealed_len)
{
	const struct record13_suite *suite = record13_suite_find(parked->suite);
	uint8_t nonce[AEAD_NONCE_BYTES];

	if (sealed_len < AEAD_TAG_BYTES)
		return record13_violation(record13, ALERT_BAD_RECORD_MAC,
					  "a record shorter than its tag");
	if (parked->read_seq == UINT32_MAX)
		return record13_violation(record13, ALERT_INTERNAL_ERROR,
					  "the peer's sequence numbers are used up");
	if (!record13_direction_key(&record13->read, suite, parked->read_secret))
		return record13_violation(record13, ALERT_INTERNAL_ERROR, "no key for reading");
	record13_nonce(&record13->read, parked->read_seq, nonce);
	if (!aead_open(record13->read.aead, nonce, record, RECORD_HEADER_BYTES,
		       record + RECORD_HEADER_BYTES, sealed_len, record13->inner))
		return record13_violation(record13, ALERT_BAD_RECORD_MAC,
					  "a record that is not authentic");
	parked->read_seq++;
	return 0;
}

/* Content, its type, and padding of zeros (section 5.4). */
static int unpad(struct record13 *record13, size_t len, struct content *content)
{
	if (len > TLS_RECORD_PLAIN_MAX + 1)
		return record13_violation(record13, ALERT_RECORD_OVERFLOW,
					  "a record too long once opened");
	while (len && !record13->inner[len - 1])
		len--;
	if (!len)
		return record13_violation(record13, ALERT_UNEXPECTED_MESSAGE,
					  "a record without a content type");
	*content = (struct content){
		.type = (enum content_type)record13->inner[len - 1],
		.data = record13->inner,
		.len = len - 1,
	};
	return 0;
}

static int take_data(struct record13 *record13, struct tls_parked *parked,
		     const struct content *content, uint8_t *plain, size_t *len)
{
	if (parked->message_have)
		return record13_violation(record13, ALERT_UNEXPECTED_MESSAGE,
					  "data inside a handshake message");
	if (!content->len)
		return record13_quiet(record13, parked);
	parked->quiet = 0;
	memcpy(plain, content->data, content->len);
	*len = content->len;
	return 0;
}

/* The level says nothing; all but two of the alerts are fatal, unknown ones too (section 6). */
static int take_alert(struct record13 *record13, struct tls_parked *parked,
		      const struct content *content)
{
	if (!content->len)
		return record13_violation(record13, ALERT_UNEXPECTED_MESSAGE, "an empty alert");
	if (content->len != 2)
		return record13_violation(record13, ALERT_DECODE_ERROR,
					  "an alert of impossible length");
	switch (content->data[1]) {
	case ALERT_CLOSE_NOTIFY:
		parked->flags |= PARKED_READ_CLOSED;
		return 0;
	case ALERT_USER_CANCELED:
		return record13_quiet(record13, parked);
	default:
		snprintf(record13->reason, sizeof(record13->reason), "the peer sent alert %u",
			 content->data[1]);
		return -EPROTO;
	}
}

static int take_record(struct record13 *record13, struct tls_parked *parked, struct tls_io *io,
		       uint8_t *plain, size_t *len)
{
	struct content content;
	size_t sealed_len;
	int rc;

	rc = whole_record(record13, io, &sealed_len);
	if (!rc)
		rc = open_record(record13, parked, io->in, sealed_len);
	if (rc)
		return rc;
	io->in += RECORD_HEADER_BYTES + sealed_len;
	io->in_len -= RECORD_HEADER_BYTES + sealed_len;
	rc = unpad(record13, sealed_len - AEAD_TAG_BYTES, &content);
	if (rc)
		return rc;
	switch (content.type) {
	case CONTENT_APPLICATION_DATA:
		return take_data(record13, parked, &content, plain, len);
	case CONTENT_HANDSHAKE:
		return record13_messages(record13, parked, content.data, content.len);
	case CONTENT_ALERT:
		return take_alert(record13, parked, &content);
	default:
		return record13_violation(record13, ALERT_UNEXPECTED_MESSAGE,
					  "a record of unknown content type");
	}
}

/* What can be said before a record is looked at. What follows close_notify is ignored. */
static int may_read(struct record13 *record13, const struct tls_parked *parked, struct tls_io *io)
{
	if (parked->flags & PARKED_FAILED) {
		snprintf(record13->reason, sizeof(record13->reason),
			 "the connection has failed before");
		return -EPROTO;
	}
	if (parked->flags & PARKED_READ_CLOSED) {
		snprintf(record13->reason, sizeof(record13->reason), "the peer sent close_notify");
		if (io->in_len)
			io->in += io->in_len;
		io->in_len = 0;
		return -EPIPE;
	}
	return io->out_size - io->out_len < ANSWER_BYTES ? -ENOBUFS : 0;
}

int record13_decrypt(struct record13 *record13, struct tls_parked *parked, struct tls_io *io,
		     uint8_t *plain, size_t size, size_t *len)
{
	int rc = size < TLS_RECORD_PLAIN_MAX ? -EINVAL : 0;

	record13->alert = ALERT_CLOSE_NOTIFY;
	record13->reason[0] = '\0';
	*len = 0;
	while (!rc && !*len) {
		rc = may_read(record13, parked, io);
		if (!rc)
			rc = take_record(record13, parked, io, plain, len);
	}
	if (rc == -EINPROGRESS) {
		int answer = record13_update_if_due(record13, parked, io);

		rc = answer ? answer : rc;
	}
	if (rc == -EPROTO)
		fail(record13, parked, io);
	return rc;
}
