// SPDX-License-Identifier: Apache-2.0
/* harness/fuzz/ - records of the connection under test, opened with the peer's keys. They are read
 * here without the record layer's own reader, which is what is being tested. */
#include "harness/fuzz/peers_output.h"

#include <errno.h>
#include <string.h>

#include "harness/fuzz/fuzz.h"

struct content {
	enum content_type type;
	size_t len;
	uint8_t data[TLS_RECORD_PLAIN_MAX + 1];
};

/* The record at the front of out[0..len); how long it is. */
static size_t open_record(struct peers *p, const uint8_t *out, size_t len, struct content *content)
{
	struct peers_way *way = &p->from;
	uint8_t nonce[AEAD_NONCE_BYTES];
	size_t sealed_len;

	FUZZ_CHECK(!p->said_bye);
	FUZZ_CHECK(len > RECORD_ADDED_BYTES - 1 && out[0] == 23 && out[1] == 3 && out[2] == 3);
	sealed_len = (size_t)out[3] << 8 | out[4];
	FUZZ_CHECK(sealed_len <= len - RECORD_HEADER_BYTES);
	FUZZ_CHECK(sealed_len > AEAD_TAG_BYTES &&
		   sealed_len <= TLS_RECORD_PLAIN_MAX + 1 + AEAD_TAG_BYTES);
	FUZZ_CHECK(record13_direction_key(way->direction, p->suite, way->secret));
	record13_nonce(way->direction, way->seq++, nonce);
	FUZZ_CHECK(aead_open(way->direction->aead, nonce, out, RECORD_HEADER_BYTES,
			     out + RECORD_HEADER_BYTES, sealed_len, content->data));
	/* We never pad. */
	content->len = sealed_len - AEAD_TAG_BYTES - 1;
	content->type = (enum content_type)content->data[content->len];
	return RECORD_HEADER_BYTES + sealed_len;
}

/* A KeyUpdate, for which there must have been a cause. */
static void read_update(struct peers *p, const struct content *content)
{
	const uint32_t limit = p->record13->update_after;

	FUZZ_CHECK(content->len == 5 && !memcmp(content->data, "\x18\0\0\1", 4));
	FUZZ_CHECK(content->data[4] <= 1);
	if (!content->data[4] && p->from.seq <= limit && !p->raw)
		FUZZ_CHECK(++p->answers <= p->asks);
	record13_next_secret(p->suite, p->from.secret);
	p->from.seq = 0;
}

static bool is_alert_for_a_peer(uint8_t alert)
{
	switch (alert) {
	case ALERT_UNEXPECTED_MESSAGE:
	case ALERT_BAD_RECORD_MAC:
	case ALERT_RECORD_OVERFLOW:
	case ALERT_ILLEGAL_PARAMETER:
	case ALERT_DECODE_ERROR:
	case ALERT_INTERNAL_ERROR:
		return true;
	default:
		return false;
	}
}

void peers_read_answer(struct peers *p, const uint8_t *out, size_t len, int rc)
{
	static struct content content;

	if (!len)
		return;
	FUZZ_CHECK(open_record(p, out, len, &content) == len);
	if (rc == -EPROTO) {
		FUZZ_CHECK(content.type == CONTENT_ALERT && content.len == 2);
		FUZZ_CHECK(content.data[0] == 2 && is_alert_for_a_peer(content.data[1]));
		return;
	}
	FUZZ_CHECK(rc == -EINPROGRESS && content.type == CONTENT_HANDSHAKE);
	read_update(p, &content);
}

void peers_read_data(struct peers *p, const uint8_t *out, size_t len, const uint8_t *data,
		     size_t data_len)
{
	static struct content content;
	size_t got = 0;

	for (size_t at = 0; at < len;) {
		at += open_record(p, out + at, len - at, &content);
		if (content.type == CONTENT_HANDSHAKE) {
			read_update(p, &content);
			continue;
		}
		FUZZ_CHECK(content.type == CONTENT_APPLICATION_DATA && content.len);
		FUZZ_CHECK(content.len <= data_len - got);
		FUZZ_CHECK(!memcmp(content.data, data + got, content.len));
		got += content.len;
	}
	FUZZ_CHECK(got == data_len);
}

void peers_read_bye(struct peers *p, const uint8_t *out, size_t len)
{
	static struct content content;

	FUZZ_CHECK(open_record(p, out, len, &content) == len);
	FUZZ_CHECK(content.type == CONTENT_ALERT && content.len == 2);
	FUZZ_CHECK(content.data[0] == 1 && content.data[1] == ALERT_CLOSE_NOTIFY);
	p->said_bye = true;
}
