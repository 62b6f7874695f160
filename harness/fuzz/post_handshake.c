// SPDX-License-Identifier: Apache-2.0
/*
 * harness/fuzz/ - what the peer of a parked connection may do once the handshake is over: data,
 * KeyUpdates, tickets, alerts, in fragments, in one record, padded, empty, repeated, harmed,
 * between what the connection sends itself.
 *
 * An input is a choice (peers_choose) and steps: a byte that names the step, and its arguments.
 */
#include "harness/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

#include "harness/fuzz/peers.h"
#include "tls_backends/tests/record13_offences.h"

#define STEPS_MAX 200u

enum step {
	STEP_CONTENT, /* type, padding, length, bytes */
	STEP_DATA,    /* word: length; padding */
	STEP_UPDATE,  /* asks, fragment */
	STEP_TICKET,  /* word: length; fragment */
	STEP_ALERT,   /* level, description */
	STEP_DELIVER, /* cut, window */
	STEP_SEND,    /* word: length; window */
	STEP_BYE,
	STEP_FLIP, /* word: bit */
	STEP_REPEAT,
	STEP_COALESCED, /* asks: a ticket and a KeyUpdate in one record */
	STEPS,
};

static uint8_t inner[PEERS_INNER_MAX];

/* `len` bytes of content lie in `inner`. */
static void seal(struct peers *peers, size_t len, unsigned type, size_t padding)
{
	inner[len++] = (uint8_t)type;
	for (; padding && len < PEERS_INNER_MAX; padding--)
		inner[len++] = 0;
	peers_seal(peers, inner, len);
}

static void seal_content(struct peers *peers, struct fuzz_input *input)
{
	unsigned type = fuzz_byte(input);
	size_t padding = fuzz_byte(input), len = fuzz_byte(input);
	const uint8_t *bytes = fuzz_bytes(input, &len);

	if (len)
		memcpy(inner, bytes, len);
	seal(peers, len, type, padding);
}

static void seal_data(struct peers *peers, struct fuzz_input *input)
{
	size_t len = fuzz_word(input) % (TLS_RECORD_PLAIN_MAX + 64);

	for (size_t i = 0; i < len; i++)
		inner[i] = (uint8_t)(i * 3 + len);
	/* Content must not end as padding does. */
	seal(peers, len, CONTENT_APPLICATION_DATA, 97u * fuzz_byte(input));
}

/* A handshake message in records of at most so many bytes; 0: in one. */
static void seal_fragments(struct peers *peers, const uint8_t *message, size_t len, size_t fragment)
{
	/* Many small ones would use up the records of an input. */
	if (!fragment || fragment < len / 16)
		fragment =
			len / 16 + 1 > fragment && fragment ? len / 16 + 1 : TLS_RECORD_PLAIN_MAX;
	while (len) {
		size_t part = len < fragment ? len : fragment;

		memcpy(inner, message, part);
		seal(peers, part, CONTENT_HANDSHAKE, 0);
		message += part;
		len -= part;
	}
}

static void seal_update(struct peers *peers, struct fuzz_input *input)
{
	const uint8_t message[] = {24, 0, 0, 1, fuzz_byte(input)};

	seal_fragments(peers, message, sizeof(message), fuzz_byte(input));
}

static void seal_ticket(struct peers *peers, struct fuzz_input *input)
{
	static uint8_t message[4 + UINT16_MAX] = {4};
	size_t len = fuzz_word(input);

	message[2] = (uint8_t)(len >> 8);
	message[3] = (uint8_t)len;
	seal_fragments(peers, message, 4 + len, fuzz_byte(input));
}

static void seal_coalesced(struct peers *peers, struct fuzz_input *input)
{
	memcpy(inner, TICKET UPDATE, TICKET_BYTES + UPDATE_BYTES);
	inner[TICKET_BYTES + UPDATE_BYTES - 1] = fuzz_byte(input);
	seal(peers, TICKET_BYTES + UPDATE_BYTES, CONTENT_HANDSHAKE, 0);
}

static void seal_alert(struct peers *peers, struct fuzz_input *input)
{
	inner[0] = fuzz_byte(input);
	inner[1] = fuzz_byte(input);
	seal(peers, 2, CONTENT_ALERT, 0);
}

static void deliver(struct peers *peers, struct fuzz_input *input)
{
	uint8_t cut = fuzz_byte(input);

	peers_deliver(peers, &cut, !!cut, fuzz_byte(input));
}

static void send(struct peers *peers, struct fuzz_input *input)
{
	size_t len = fuzz_word(input);

	/* Those below what a record takes are tried too. */
	peers_send(peers, len, len / 64 + 4u * fuzz_byte(input));
}

static void take_step(struct peers *peers, struct fuzz_input *input)
{
	switch ((enum step)(fuzz_byte(input) % STEPS)) {
	case STEP_CONTENT:
		seal_content(peers, input);
		break;
	case STEP_DATA:
		seal_data(peers, input);
		break;
	case STEP_UPDATE:
		seal_update(peers, input);
		break;
	case STEP_TICKET:
		seal_ticket(peers, input);
		break;
	case STEP_ALERT:
		seal_alert(peers, input);
		break;
	case STEP_DELIVER:
		deliver(peers, input);
		break;
	case STEP_SEND:
		send(peers, input);
		break;
	case STEP_BYE:
		peers_say_bye(peers);
		break;
	case STEP_FLIP:
		peers_flip(peers, fuzz_word(input));
		break;
	case STEP_REPEAT:
		peers_repeat(peers);
		break;
	default:
		seal_coalesced(peers, input);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {.at = data, .left = size};
	struct peers_start start = peers_choose(fuzz_byte(&input));
	struct peers peers;

	peers_open(&peers, &start);
	for (unsigned i = 0; i < STEPS_MAX && input.left; i++)
		take_step(&peers, &input);
	peers_deliver(&peers, NULL, 0, TLS_OUT_MIN);
	peers_close(&peers);
	return 0;
}

/* ---- seeds ---- */

/* Steps of one seed for every suite and role. */
static const struct {
	const char *name;
	const char *steps;
	size_t len;
} plays[] = {
#define PLAY(steps) steps, sizeof(steps) - 1
	{"data both ways", PLAY("\1\0\5\0\5\0\0\6\0\5\x40\1\x40\0\0\5\x30\0\6\x80\0\xff")},
	{"KeyUpdate", PLAY("\2\0\0\1\0\5\0\5\0\0\6\0\5\x40")},
	{"KeyUpdate that asks", PLAY("\2\1\0\5\0\x40\1\0\5\0\5\0\x40\6\0\5\x40")},
	{"KeyUpdates in fragments", PLAY("\2\0\1\2\1\2\2\1\3\1\0\1\0\5\1\x40\6\0\1\x40")},
	{"KeyUpdate between pieces", PLAY("\1\0\5\0\2\1\0\1\0\5\0\5\3\x40\6\0\5\x40")},
	{"KeyUpdate to 2", PLAY("\2\2\0\5\0\x40")},
	{"ticket", PLAY("\3\0\x0e\0\1\0\5\0\5\0\x40")},
	{"ticket in fragments", PLAY("\3\0\xc8\x0d\3\x40\0\xff\1\0\5\0\5\7\x40")},
	{"ticket and KeyUpdate in one record", PLAY("\x0a\1\5\0\x40\1\0\5\0\5\0\x40\6\0\5\x40")},
	{"padding", PLAY("\1\0\5\x10\1\0\0\x20\1\0\5\0\5\1\x40")},
	{"empty records", PLAY("\1\0\0\0\1\0\0\0\1\0\0\0\1\0\5\0\5\0\x40")},
	{"close_notify and garbage",
	 PLAY("\1\0\5\0\4\1\0\0\x63\0\3abc\1\0\5\0\5\0\x40\6\0\5\x40\7")},
	{"user_canceled", PLAY("\4\1\x5a\1\0\5\0\5\0\x40")},
	{"fatal alert", PLAY("\1\0\5\0\4\2\x14\5\0\x40\6\0\5\x40")},
	{"our close_notify", PLAY("\7\1\0\5\0\2\1\0\5\0\x40\6\0\5\x40")},
	{"flipped bit", PLAY("\1\0\5\0\1\0\5\0\x08\0\x55\5\0\x40")},
	{"flipped length", PLAY("\1\0\5\0\x08\0\x23\1\0\x40\0\5\0\x40")},
	{"repeated record", PLAY("\1\0\5\0\x09\5\0\x40")},
	{"small windows", PLAY("\2\1\0\5\0\0\6\0\5\0\6\0\5\5\6\0\5\6\6\x10\0\1")},
	{"data inside a message", PLAY("\0\x16\0\2\x18\0\1\0\5\0\5\0\x40")},
#undef PLAY
};

static void emit_play(fuzz_emit *emit, size_t play, uint8_t choice)
{
	struct fuzz_seed seed = {0};
	char name[80];

	fuzz_put(&seed, choice);
	fuzz_put_bytes(&seed, plays[play].steps, plays[play].len);
	snprintf(name, sizeof(name), "%s, choice %u", plays[play].name, choice);
	emit(name, seed.bytes, seed.len);
}

/* As many records without data as are borne, and one more. */
static void emit_flood(fuzz_emit *emit, const char *name, unsigned count)
{
	struct fuzz_seed seed = {0};

	fuzz_put(&seed, 3);
	for (unsigned i = 0; i < count; i++)
		fuzz_put_bytes(&seed, "\1\0\0\0", 4);
	fuzz_put_bytes(&seed, "\1\0\5\0\5\0\x40", 7);
	emit(name, seed.bytes, seed.len);
}

static void emit_offence(fuzz_emit *emit, const struct offence *offence)
{
	struct fuzz_seed seed = {0};

	fuzz_put(&seed, offence->at_client ? 0 : 3);
	fuzz_put(&seed, STEP_CONTENT);
	fuzz_put(&seed, (uint8_t)offence->type);
	fuzz_put(&seed, 0);
	fuzz_put(&seed, (uint8_t)offence->len);
	fuzz_put_bytes(&seed, offence->content, offence->len);
	emit(offence->name, seed.bytes, seed.len);
}

/* Each suite and role without a limit, then with one that is soon reached or at the last
 * sequence numbers. */
void fuzz_seeds(fuzz_emit *emit)
{
	static const uint8_t choices[] = {0, 1, 2, 3, 4, 5, 9, 15, 21, 51, 144, 195};

	for (size_t play = 0; play < sizeof(plays) / sizeof(*plays); play++)
		for (size_t i = 0; i < sizeof(choices); i++)
			emit_play(emit, play, choices[i]);
	for (size_t i = 0; i < sizeof(offences) / sizeof(*offences); i++)
		emit_offence(emit, &offences[i]);
	emit_flood(emit, "32 empty records", RECORD13_QUIET_MAX);
	emit_flood(emit, "33 empty records", RECORD13_QUIET_MAX + 1);
}
