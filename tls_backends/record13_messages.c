// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - handshake messages that reach a parked connection, in pieces of any size and
 * without a buffer. Source: RFC 8446 sections 4, 4.6 and 5.1. */
#include "tls_backends/record13_parts.h"

#include <errno.h>

#define MESSAGE_HEADER_BYTES 4u
/* Of a NewSessionTicket: lifetime, age_add, nonce<0..255>, ticket<1..2^16-1>,
 * extensions<0..2^16-2>. */
#define TICKET_MIN (4u + 4 + 1 + 2 + 1 + 2)
#define TICKET_MAX (4u + 4 + 1 + 255 + 2 + 65535 + 2 + 65534)

enum message_type {
	MESSAGE_NEW_SESSION_TICKET = 4,
	MESSAGE_KEY_UPDATE = 24,
};

static uint8_t type_of(const struct tls_parked *parked)
{
	return (uint8_t)(parked->message >> 24);
}

static uint32_t missing(const struct tls_parked *parked)
{
	return parked->message & 0xffffff;
}

/* We offered no post-handshake authentication, and tickets flow one way only. */
static bool is_allowed(const struct tls_parked *parked, uint8_t type)
{
	if (type == MESSAGE_NEW_SESSION_TICKET)
		return !(parked->flags & PARKED_SERVER);
	return type == MESSAGE_KEY_UPDATE;
}

static bool has_possible_length(const struct tls_parked *parked)
{
	uint32_t len = missing(parked);

	if (type_of(parked) == MESSAGE_KEY_UPDATE)
		return len == 1;
	return len >= TICKET_MIN && len <= TICKET_MAX;
}

static int header_byte(struct record13 *record13, struct tls_parked *parked, uint8_t byte)
{
	if (!parked->message_have && !is_allowed(parked, byte))
		return record13_violation(record13, ALERT_UNEXPECTED_MESSAGE,
					  "a handshake message that may not come now");
	parked->message = parked->message << 8 | byte;
	parked->message_have++;
	if (parked->message_have == MESSAGE_HEADER_BYTES && !has_possible_length(parked))
		return record13_violation(record13, ALERT_DECODE_ERROR,
					  "a handshake message of impossible length");
	return 0;
}

static int key_update(struct record13 *record13, struct tls_parked *parked, uint8_t asks)
{
	if (asks > 1)
		return record13_violation(record13, ALERT_ILLEGAL_PARAMETER,
					  "a KeyUpdate that asks for neither");
	/* What the old key has sealed must not be opened any more (section 7.2). */
	record13_direction_forget(&record13->read, parked->read_secret);
	record13_next_secret(record13_suite_find(parked->suite), parked->read_secret);
	parked->read_seq = 0;
	parked->flags &= (uint8_t)~PARKED_ASKED;
	if (asks)
		parked->flags |= PARKED_ANSWER;
	return record13_quiet(record13, parked);
}

/* Some of the body; *used says how much. The header is complete and not all of the body came. */
static int body(struct record13 *record13, struct tls_parked *parked, const uint8_t *data,
		size_t len, size_t *used)
{
	bool is_update = type_of(parked) == MESSAGE_KEY_UPDATE;

	*used = len < missing(parked) ? len : missing(parked);
	parked->message -= (uint32_t)*used;
	if (missing(parked))
		return 0;
	parked->message = 0;
	parked->message_have = 0;
	if (!is_update)
		return 0;
	if (len > 1)
		return record13_violation(record13, ALERT_UNEXPECTED_MESSAGE,
					  "more in the record of a KeyUpdate");
	return key_update(record13, parked, *data);
}

int record13_messages(struct record13 *record13, struct tls_parked *parked, const uint8_t *data,
		      size_t len)
{
	int rc = 0;

	if (!len)
		return record13_violation(record13, ALERT_UNEXPECTED_MESSAGE,
					  "an empty handshake record");
	while (!rc && len) {
		size_t used = 1;

		if (parked->message_have < MESSAGE_HEADER_BYTES)
			rc = header_byte(record13, parked, *data);
		else
			rc = body(record13, parked, data, len, &used);
		data += used;
		len -= used;
	}
	return rc;
}
