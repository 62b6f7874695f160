// SPDX-License-Identifier: Apache-2.0
/* harness/fuzz/ - what the peer of a parked connection seals and what becomes of it. */
#include "harness/fuzz/peers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/fuzz/fuzz.h"
#include "harness/fuzz/peers_output.h"

#define HANDSHAKE_HEADER_BYTES 4u
#define TYPE_TICKET 4u
#define TYPE_KEY_UPDATE 24u
/* RFC 8446 section 4.6.1: everything empty but the ticket, everything as long as can be. */
#define TICKET_LEAST 14u
#define TICKET_MOST 131337u
/* What reading may need for its answer: record13.c. */
#define WINDOW_ENOUGH 64u
/* Pieces of one delivery: each is a call, and copies what came before. */
#define PIECES_MAX 512u

/* ---- beginning and end ---- */

struct peers_start peers_choose(uint8_t choice)
{
	static const uint32_t limits[] = {RECORD13_UPDATE_AFTER, 1, 2, 5};
	static const uint32_t numbers[] = {0, RECORD13_UPDATE_AFTER - 2, UINT32_MAX - 3};

	return (struct peers_start){
		.suite = (uint16_t)(0x1301 + choice % 3),
		.server = choice / 3 & 1,
		.update_after = limits[choice / 6 % 4],
		.read_seq = numbers[choice / 24 % 3],
		.write_seq = numbers[choice / 72 % 3],
	};
}

static void way_open(struct peers_way *way, struct record13_direction *direction,
		     const uint8_t *secret, uint8_t filler, size_t secret_len, uint32_t seq)
{
	way->direction = direction;
	if (secret)
		memcpy(way->secret, secret, secret_len);
	else
		memset(way->secret, filler, secret_len);
	way->seq = seq;
}

/* One worker's for the whole process: what one connection leaves is the next one's trouble. */
static struct record13 *record13;
static struct record13_direction sealing, opening;

static void worker_open(void)
{
	if (record13)
		return;
	record13 = record13_new();
	FUZZ_CHECK(record13);
	FUZZ_CHECK(record13_direction_init(&sealing, true));
	FUZZ_CHECK(record13_direction_init(&opening, false));
}

void peers_open(struct peers *p, const struct peers_start *start)
{
	memset(p, 0, sizeof(*p));
	p->suite = record13_suite_find(start->suite);
	p->honest = true;
	worker_open();
	p->record13 = record13;
	record13_set_update_after(p->record13, start->update_after);
	way_open(&p->to, &sealing, start->read_secret, 0xc1, p->suite->hash_bytes, start->read_seq);
	way_open(&p->from, &opening, start->write_secret, 0x5e, p->suite->hash_bytes,
		 start->write_seq);
	FUZZ_CHECK(!record13_park(&p->parked, &(struct record13_start){
						      .suite = start->suite,
						      .server = start->server,
						      .read_secret = p->to.secret,
						      .read_secret_len = p->suite->hash_bytes,
						      .write_secret = p->from.secret,
						      .write_secret_len = p->suite->hash_bytes,
						      .read_seq = start->read_seq,
						      .write_seq = start->write_seq,
					      }));
}

static bool is_forgotten(const struct record13_direction *direction)
{
	static const uint8_t zeros[TLS_SECRET_MAX];

	return !direction->suite && !memcmp(direction->secret, zeros, sizeof(zeros));
}

void peers_close(struct peers *p)
{
	static const struct tls_parked zeros;

	record13_forget(p->record13, &p->parked);
	FUZZ_CHECK(!memcmp(&p->parked, &zeros, sizeof(zeros)));
	FUZZ_CHECK(is_forgotten(&p->record13->read) && is_forgotten(&p->record13->write));
	free(p->flight.data);
	free(p->data.data);
}

/* ---- sealing ---- */

static void append(struct peers_bytes *to, const uint8_t *bytes, size_t len)
{
	if (to->len + len > to->size) {
		to->size = 2 * (to->len + len);
		to->data = realloc(to->data, to->size);
		FUZZ_CHECK(to->data);
	}
	if (len)
		memcpy(to->data + to->len, bytes, len);
	to->len += len;
}

/* A message is complete. Only a KeyUpdate changes anything, and must end its record. */
static void sent_message(struct peers *p, uint8_t last_byte, bool ends_record)
{
	if (p->message >> 24 != TYPE_KEY_UPDATE)
		return;
	p->honest &= ends_record && last_byte <= 1;
	p->quiet++;
	p->asks += last_byte == 1;
	record13_next_secret(p->suite, p->to.secret);
	p->to.seq = 0;
}

static bool is_server(const struct peers *p)
{
	return p->parked.flags & PARKED_SERVER;
}

static bool may_have_length(uint32_t message)
{
	uint32_t len = message & 0xffffff;

	if (message >> 24 == TYPE_KEY_UPDATE)
		return len == 1;
	return len >= TICKET_LEAST && len <= TICKET_MOST;
}

/* A byte of a message's header. */
static void sent_header(struct peers *p, uint8_t byte)
{
	if (!p->message_have)
		p->honest &= byte == TYPE_KEY_UPDATE || (byte == TYPE_TICKET && !is_server(p));
	p->message = p->message << 8 | byte;
	p->message_have++;
	if (p->message_have == HANDSHAKE_HEADER_BYTES)
		p->honest &= may_have_length(p->message);
}

/* The messages in the peer's handshake records, followed up to the first that is wrong: there the
 * connection has to end. */
static void sent_handshake(struct peers *p, const uint8_t *content, size_t len)
{
	p->honest &= len > 0;
	for (size_t i = 0; i < len && p->honest; i++) {
		if (p->message_have < HANDSHAKE_HEADER_BYTES) {
			sent_header(p, content[i]);
			continue;
		}
		p->message--;
		if (p->message & 0xffffff)
			continue;
		sent_message(p, content[i], i + 1 == len);
		p->message = p->message_have = 0;
	}
}

static void sent_data(struct peers *p, const uint8_t *content, size_t len)
{
	p->honest &= !p->message_have;
	p->quiet = len ? 0 : p->quiet + 1;
	if (p->honest)
		append(&p->data, content, len);
}

static void sent_alert(struct peers *p, const uint8_t *content, size_t len)
{
	if (len != 2 || (content[1] != ALERT_CLOSE_NOTIFY && content[1] != ALERT_USER_CANCELED))
		p->honest = false;
	else if (content[1] == ALERT_CLOSE_NOTIFY)
		p->closed = true;
	else
		p->quiet++;
}

/* What the peer has done by sealing this. Behind its close_notify it may do as it likes; behind
 * what must end the connection nothing may arrive. */
static void sent(struct peers *p, const uint8_t *inner, size_t len)
{
	p->honest &= p->to.seq < UINT32_MAX && len <= TLS_RECORD_PLAIN_MAX + 1;
	p->to.seq++;
	while (len && !inner[len - 1])
		len--;
	if (p->closed || !p->honest)
		return;
	switch (len ? inner[--len] : 0) {
	case CONTENT_APPLICATION_DATA:
		sent_data(p, inner, len);
		break;
	case CONTENT_HANDSHAKE:
		sent_handshake(p, inner, len);
		break;
	case CONTENT_ALERT:
		sent_alert(p, inner, len);
		break;
	default:
		p->honest = false;
	}
	p->honest &= p->quiet <= RECORD13_QUIET_MAX;
}

void peers_seal(struct peers *p, const uint8_t *inner, size_t len)
{
	static uint8_t record[RECORD_HEADER_BYTES + PEERS_INNER_MAX + AEAD_TAG_BYTES];
	size_t sealed_len = len + AEAD_TAG_BYTES;
	uint8_t nonce[AEAD_NONCE_BYTES];

	if (p->records == PEERS_RECORDS_MAX)
		return;
	p->records++;
	p->last_record = p->flight.len;
	p->last_data = p->data.len;
	FUZZ_CHECK(record13_direction_key(p->to.direction, p->suite, p->to.secret));
	memcpy(record, (uint8_t[]){23, 3, 3, (uint8_t)(sealed_len >> 8), (uint8_t)sealed_len}, 5);
	memcpy(record + RECORD_HEADER_BYTES, inner, len);
	record13_nonce(p->to.direction, p->to.seq, nonce);
	FUZZ_CHECK(aead_seal(p->to.direction->aead, nonce, record, RECORD_HEADER_BYTES,
			     record + RECORD_HEADER_BYTES, len));
	p->last_len = RECORD_HEADER_BYTES + sealed_len;
	append(&p->flight, record, p->last_len);
	sent(p, inner, len);
}

void peers_put(struct peers *p, const uint8_t *bytes, size_t len)
{
	p->honest &= p->closed || !len;
	append(&p->flight, bytes, len);
}

static bool has_last(const struct peers *p)
{
	return p->last_len && p->last_record + p->last_len <= p->flight.len;
}

void peers_flip(struct peers *p, size_t bit)
{
	/* Behind close_notify nothing is looked at, and behind an offence nothing more. */
	if (!has_last(p) || p->closed || !p->honest)
		return;
	p->flight.data[p->last_record + bit / 8 % p->last_len] ^= (uint8_t)(1 << bit % 8);
	p->data.len = p->last_data;
	p->honest = false;
}

void peers_repeat(struct peers *p)
{
	uint8_t *copy;

	if (!has_last(p) || p->records == PEERS_RECORDS_MAX)
		return;
	p->records++;
	copy = malloc(p->last_len);
	FUZZ_CHECK(copy);
	memcpy(copy, p->flight.data + p->last_record, p->last_len);
	peers_put(p, copy, p->last_len);
	free(copy);
}

/* ---- arriving ---- */

/* Numbers grow under a secret, and start at 0 under the next. Those of writing are known: the peer
 * has opened all that was written, with no number used twice. */
static void check_numbers(const struct peers *p, const struct tls_parked *before)
{
	const struct tls_parked *after = &p->parked;

	if (!memcmp(before->read_secret, after->read_secret, TLS_SECRET_MAX))
		FUZZ_CHECK(after->read_seq >= before->read_seq);
	else
		FUZZ_CHECK(after->read_seq <= PEERS_RECORDS_MAX);
	FUZZ_CHECK(after->write_seq == p->from.seq);
	FUZZ_CHECK(!memcmp(after->write_secret, p->from.secret, TLS_SECRET_MAX));
}

static void check_data(struct peers *p, const uint8_t *plain, size_t len, size_t consumed)
{
	FUZZ_CHECK(len > 0 && len <= TLS_RECORD_PLAIN_MAX);
	FUZZ_CHECK(len + RECORD_ADDED_BYTES <= consumed);
	if (p->raw)
		return;
	FUZZ_CHECK(len <= p->data.len - p->data_got);
	FUZZ_CHECK(!memcmp(plain, p->data.data + p->data_got, len));
	p->data_got += len;
}

/* Whether the answer fits what is known of the flight. */
static void check_answer(struct peers *p, int rc, size_t consumed, size_t left)
{
	bool has_all = !p->raw && consumed == p->flight.len;

	switch (rc) {
	case 0:
		return;
	case -EINPROGRESS:
		FUZZ_CHECK(left < TLS_RECORD_MAX);
		FUZZ_CHECK(!has_all || p->data_got == p->data.len);
		FUZZ_CHECK(!has_all || p->honest); /* else it should have ended here */
		FUZZ_CHECK(!(p->parked.flags & PARKED_ANSWER) || p->said_bye);
		return;
	case -EPIPE:
		FUZZ_CHECK(!left && (p->closed || p->raw));
		return;
	default:
		FUZZ_CHECK(rc == -EPROTO);
		FUZZ_CHECK(!p->honest || p->raw || p->parked.write_seq == UINT32_MAX ||
			   p->from.seq >= UINT32_MAX);
		FUZZ_CHECK(*record13_reason(p->record13));
		p->failed = true;
	}
}

/* One call, in memory that ends where its contents do. *consumed of the flight. */
static int decrypt(struct peers *p, size_t shown, size_t window, size_t *consumed)
{
	const struct tls_parked before = p->parked;
	uint8_t *in = malloc(shown), *out = malloc(window), *plain = malloc(TLS_RECORD_PLAIN_MAX);
	struct tls_io io = {.in = in, .in_len = shown, .out = out, .out_size = window};
	size_t len;
	int rc;

	FUZZ_CHECK((in || !shown) && (out || !window) && plain);
	if (shown)
		memcpy(in, p->flight.data, shown);
	rc = record13_decrypt(p->record13, &p->parked, &io, plain, TLS_RECORD_PLAIN_MAX, &len);
	*consumed = shown - io.in_len;
	FUZZ_CHECK(io.in_len <= shown && io.in == in + *consumed);
	FUZZ_CHECK(io.out == out && io.out_size == window && io.out_len <= window);
	if (rc == -ENOBUFS) {
		FUZZ_CHECK(window < WINDOW_ENOUGH && !*consumed && !len && !io.out_len);
		FUZZ_CHECK(!memcmp(&before, &p->parked, sizeof(before)));
	} else {
		if (rc)
			FUZZ_CHECK(!len);
		else
			check_data(p, plain, len, *consumed);
		peers_read_answer(p, out, io.out_len, rc);
		if (rc != -EPROTO)
			check_numbers(p, &before);
		check_answer(p, rc, *consumed, io.in_len);
	}
	free(in);
	free(out);
	free(plain);
	return rc;
}

/* A failed connection stays so, and has forgotten its secrets. */
static void check_dead(struct peers *p)
{
	static const uint8_t zeros[TLS_SECRET_MAX], more[] = {23, 3, 3, 0, 17};
	uint8_t out[TLS_OUT_MIN], *plain = malloc(TLS_RECORD_PLAIN_MAX);
	struct tls_io io = {
		.in = more, .in_len = sizeof(more), .out = out, .out_size = sizeof(out)};
	size_t len;

	FUZZ_CHECK(plain);
	FUZZ_CHECK(p->parked.flags & PARKED_FAILED);
	FUZZ_CHECK(!memcmp(p->parked.read_secret, zeros, sizeof(zeros)));
	FUZZ_CHECK(!memcmp(p->parked.write_secret, zeros, sizeof(zeros)));
	FUZZ_CHECK(record13_decrypt(p->record13, &p->parked, &io, plain, TLS_RECORD_PLAIN_MAX,
				    &len) == -EPROTO);
	FUZZ_CHECK(!len);
	FUZZ_CHECK(record13_encrypt(p->record13, &p->parked, &io, more, 1, &len) == -EPROTO);
	FUZZ_CHECK(!len);
	record13_close_notify(p->record13, &p->parked, &io);
	FUZZ_CHECK(!io.out_len);
	free(plain);
}

static void drop(struct peers *p, size_t len)
{
	p->flight.len -= len;
	memmove(p->flight.data, p->flight.data + len, p->flight.len);
	if (p->last_record >= len)
		p->last_record -= len;
	else
		p->last_len = 0; /* taken: no more to be changed or repeated */
}

/* What the first `shown` bytes of the flight bring. 0: go on. */
static int take(struct peers *p, size_t *shown, size_t *window)
{
	size_t consumed;
	int rc;

	do {
		rc = decrypt(p, *shown, *window, &consumed);
		if (consumed)
			drop(p, consumed);
		*shown -= consumed;
		if (rc == -ENOBUFS)
			*window = WINDOW_ENOUGH;
	} while (!rc || rc == -ENOBUFS);
	return rc == -EINPROGRESS ? 0 : rc;
}

void peers_deliver(struct peers *p, const uint8_t *cuts, size_t count, size_t window)
{
	size_t shown = 0, least = p->flight.len / PIECES_MAX;
	int rc = 0;

	for (size_t i = 0; !rc && !p->failed; i++) {
		size_t piece = count ? 1u + cuts[i % count] : p->flight.len;

		if (piece < least)
			piece = least;
		if (piece > p->flight.len - shown)
			piece = p->flight.len - shown;
		shown += piece;
		rc = take(p, &shown, &window);
		if (shown == p->flight.len)
			break;
	}
	if (p->failed) {
		p->flight.len = p->last_len = 0;
		p->records = PEERS_RECORDS_MAX;
		check_dead(p);
	}
}

/* ---- the connection speaks ---- */

void peers_send(struct peers *p, size_t len, size_t window)
{
	uint8_t *plain = malloc(len), *out = malloc(window);
	size_t done = 0;

	FUZZ_CHECK((plain || !len) && (out || !window));
	for (size_t i = 0; i < len; i++)
		plain[i] = (uint8_t)(i * 7 + len);
	while (done < len) {
		const struct tls_parked before = p->parked;
		struct tls_io io = {.out = out, .out_size = window};
		size_t used;
		int rc = record13_encrypt(p->record13, &p->parked, &io, plain + done, len - done,
					  &used);

		FUZZ_CHECK(io.out_len <= window && used <= len - done);
		FUZZ_CHECK(rc ? !used : used > 0);
		FUZZ_CHECK(!rc || rc == -ENOBUFS || rc == -EPROTO);
		FUZZ_CHECK(rc != -EPROTO || p->failed || p->said_bye || p->from.seq >= UINT32_MAX);
		FUZZ_CHECK(!(p->failed || p->said_bye) || (rc == -EPROTO && !io.out_len));
		peers_read_data(p, out, io.out_len, plain + done, used);
		if (rc != -EPROTO)
			check_numbers(p, &before);
		done += used;
		if (rc == -EPROTO || (rc && !io.out_len))
			break;
	}
	free(plain);
	free(out);
}

void peers_say_bye(struct peers *p)
{
	uint8_t out[WINDOW_ENOUGH];
	struct tls_io io = {.out = out, .out_size = sizeof(out)};
	int rc = record13_close_notify(p->record13, &p->parked, &io);

	if (p->failed)
		FUZZ_CHECK(!io.out_len);
	else if (p->said_bye)
		FUZZ_CHECK(!rc && !io.out_len);
	else if (rc)
		FUZZ_CHECK(rc == -EPROTO && p->from.seq >= UINT32_MAX && !io.out_len);
	else
		peers_read_bye(p, out, io.out_len);
}
