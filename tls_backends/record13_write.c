// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - records that a parked connection sends. Source: RFC 8446 sections 4.6.3, 5.2, 5.3
 * and 5.5. */
#include "tls_backends/record13_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static size_t room(const struct tls_io *io)
{
	return io->out_size - io->out_len;
}

int record13_seal(struct record13 *record13, struct tls_parked *parked, struct tls_io *io,
		  enum content_type type, const uint8_t *data, size_t len)
{
	const struct record13_suite *suite = record13_suite_find(parked->suite);
	size_t sealed_len = len + 1 + AEAD_TAG_BYTES;
	uint8_t nonce[AEAD_NONCE_BYTES], *record = io->out + io->out_len;

	if (room(io) < len + RECORD_ADDED_BYTES)
		return -ENOBUFS;
	if (parked->write_seq == UINT32_MAX)
		return record13_violation(record13, ALERT_INTERNAL_ERROR,
					  "our sequence numbers are used up");
	if (!record13_direction_key(&record13->write, suite, parked->write_secret))
		return record13_violation(record13, ALERT_INTERNAL_ERROR, "no key for writing");
	record[0] = CONTENT_APPLICATION_DATA;
	record[1] = 3;
	record[2] = 3;
	record[3] = (uint8_t)(sealed_len >> 8);
	record[4] = (uint8_t)sealed_len;
	memcpy(record + RECORD_HEADER_BYTES, data, len);
	record[RECORD_HEADER_BYTES + len] = (uint8_t)type;
	record13_nonce(&record13->write, parked->write_seq, nonce);
	if (!aead_seal(record13->write.aead, nonce, record, RECORD_HEADER_BYTES,
		       record + RECORD_HEADER_BYTES, len + 1))
		return record13_violation(record13, ALERT_INTERNAL_ERROR, "sealing failed");
	parked->write_seq++;
	io->out_len += RECORD_HEADER_BYTES + sealed_len;
	return 0;
}

static int send_update(struct record13 *record13, struct tls_parked *parked, struct tls_io *io,
		       bool asks)
{
	const uint8_t message[] = {24, 0, 0, 1, asks}; /* KeyUpdate, one byte long */
	int rc;

	rc = record13_seal(record13, parked, io, CONTENT_HANDSHAKE, message, sizeof(message));
	if (rc)
		return rc;
	record13_next_secret(record13_suite_find(parked->suite), parked->write_secret);
	parked->write_seq = 0;
	parked->flags &= (uint8_t)~PARKED_ANSWER;
	if (asks)
		parked->flags |= PARKED_ASKED;
	return 0;
}

int record13_update_if_due(struct record13 *record13, struct tls_parked *parked, struct tls_io *io)
{
	bool asks = parked->read_seq >= record13->update_after && !(parked->flags & PARKED_ASKED);
	bool worn = parked->write_seq >= record13->update_after;

	if (!asks && !worn && !(parked->flags & PARKED_ANSWER))
		return 0;
	if (parked->flags & PARKED_WRITE_CLOSED)
		return 0;
	return send_update(record13, parked, io, asks);
}

/* One record, as long as the window allows. No short ones at the end of a window. */
static int encrypt_record(struct record13 *record13, struct tls_parked *parked, struct tls_io *io,
			  const uint8_t *plain, size_t *len)
{
	int rc = record13_update_if_due(record13, parked, io);
	size_t most;

	if (rc)
		return rc;
	if (room(io) <= TLS_RECORD_OVERHEAD_MAX)
		return -ENOBUFS;
	most = room(io) - RECORD_ADDED_BYTES;
	if (most > TLS_RECORD_PLAIN_MAX)
		most = TLS_RECORD_PLAIN_MAX;
	if (*len > most)
		*len = most;
	return record13_seal(record13, parked, io, CONTENT_APPLICATION_DATA, plain, *len);
}

/* May this connection write? The reason, or NULL. */
static const char *cannot_write(const struct tls_parked *parked)
{
	if (parked->flags & PARKED_FAILED)
		return "the connection has failed before";
	if (parked->flags & PARKED_WRITE_CLOSED)
		return "close_notify has been sent";
	return NULL;
}

int record13_encrypt(struct record13 *record13, struct tls_parked *parked, struct tls_io *io,
		     const uint8_t *plain, size_t len, size_t *used)
{
	const char *reason = cannot_write(parked);
	int rc = reason ? -EPROTO : 0;

	snprintf(record13->reason, sizeof(record13->reason), "%s", reason ? reason : "");
	*used = 0;
	while (!rc && *used < len) {
		size_t record = len - *used;

		rc = encrypt_record(record13, parked, io, plain + *used, &record);
		if (!rc)
			*used += record;
	}
	return *used ? 0 : rc;
}

int record13_key_update(struct record13 *record13, struct tls_parked *parked, struct tls_io *io)
{
	const char *reason = cannot_write(parked);

	snprintf(record13->reason, sizeof(record13->reason), "%s", reason ? reason : "");
	return reason ? -EPROTO : send_update(record13, parked, io, true);
}

bool record13_awaits_key_update(const struct tls_parked *parked)
{
	return parked->flags & PARKED_ASKED;
}

int record13_close_notify(struct record13 *record13, struct tls_parked *parked, struct tls_io *io)
{
	static const uint8_t alert[] = {1, ALERT_CLOSE_NOTIFY};
	int rc;

	record13->reason[0] = '\0';
	if (parked->flags & PARKED_WRITE_CLOSED)
		return 0;
	if (parked->flags & PARKED_FAILED) {
		snprintf(record13->reason, sizeof(record13->reason), "%s", cannot_write(parked));
		return -EPROTO;
	}
	rc = record13_seal(record13, parked, io, CONTENT_ALERT, alert, sizeof(alert));
	if (!rc)
		parked->flags |= PARKED_WRITE_CLOSED;
	return rc;
}
