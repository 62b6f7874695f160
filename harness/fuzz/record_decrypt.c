// SPDX-License-Identifier: Apache-2.0
/*
 * harness/fuzz/ - what reaches a parked connection from the wire: any bytes in any pieces, or, so
 * that it gets beyond the AEAD, records of any inner plaintext.
 *
 * An input is a choice (peers_choose), a byte whose lowest bit says whether the rest is sealed and
 * the others how many cuts follow, the cuts, and the rest: wire bytes, or inner plaintexts behind
 * a word of their length each; one that the input is too short for is continued with zeros.
 */
#include "harness/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

#include "harness/fuzz/peers.h"
#include "tls_backends/tests/record13_offences.h"

#define WINDOW 64u

/* With AES-128 the secrets are those of RFC 8448, whose records are then authentic. */
static void open_raw(struct peers *peers, struct peers_start start)
{
	static uint8_t of_client[64], of_server[64];

	if (!of_client[0]) {
		from_hex(RFC8448_CLIENT, of_client);
		from_hex(RFC8448_SERVER, of_server);
	}
	if (start.suite == 0x1301) {
		start.read_secret = start.server ? of_client : of_server;
		start.write_secret = start.server ? of_server : of_client;
	}
	peers_open(peers, &start);
	peers->raw = true;
}

static void seal_next(struct peers *peers, struct fuzz_input *input)
{
	static uint8_t inner[PEERS_INNER_MAX];
	size_t len = fuzz_word(input) % (PEERS_INNER_MAX + 1), have = len;
	const uint8_t *bytes = fuzz_bytes(input, &have);

	memset(inner, 0, len);
	if (have)
		memcpy(inner, bytes, have);
	peers_seal(peers, inner, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {.at = data, .left = size};
	struct peers_start start = peers_choose(fuzz_byte(&input));
	uint8_t mode = fuzz_byte(&input);
	size_t count = mode >> 1;
	const uint8_t *cuts = fuzz_bytes(&input, &count);
	struct peers peers;

	if (mode & 1) {
		peers_open(&peers, &start);
		while (input.left)
			seal_next(&peers, &input);
	} else {
		open_raw(&peers, start);
		peers_put(&peers, input.at, input.left);
	}
	peers_deliver(&peers, cuts, count, WINDOW);
	peers_close(&peers);
	return 0;
}

/* ---- seeds ---- */

#define CHOICE_CLIENT 0u
#define CHOICE_SERVER 3u

static void emit_wire(fuzz_emit *emit, const char *name, uint8_t choice, const char *hex)
{
	static const uint8_t cuts[] = {0, 4, 200};
	struct fuzz_seed seed = {0};
	uint8_t bytes[512];
	size_t len = from_hex(hex, bytes);

	fuzz_put(&seed, choice);
	fuzz_put(&seed, sizeof(cuts) << 1);
	fuzz_put_bytes(&seed, cuts, sizeof(cuts));
	fuzz_put_bytes(&seed, bytes, len);
	emit(name, seed.bytes, seed.len);
}

static void emit_offence(fuzz_emit *emit, const struct offence *offence, unsigned suite)
{
	struct fuzz_seed seed = {0};
	char name[80];

	fuzz_put(&seed, (uint8_t)(suite + (offence->at_client ? CHOICE_CLIENT : CHOICE_SERVER)));
	fuzz_put(&seed, 1);
	fuzz_put_word(&seed, 2);
	fuzz_put_bytes(&seed, "x\x17", 2);
	fuzz_put_word(&seed, offence->len + 1);
	fuzz_put_bytes(&seed, offence->content, offence->len);
	fuzz_put(&seed, (uint8_t)offence->type);
	snprintf(name, sizeof(name), "%s, suite %u", offence->name, suite + 1);
	emit(name, seed.bytes, seed.len);
}

/* Content and padding as long as may be, and one longer. */
static void emit_long(fuzz_emit *emit, const char *name, size_t len)
{
	struct fuzz_seed seed = {0};

	fuzz_put(&seed, CHOICE_SERVER);
	fuzz_put(&seed, 1);
	fuzz_put_word(&seed, len);
	fuzz_put_bytes(&seed, "x\x17", 2);
	emit(name, seed.bytes, seed.len);
}

void fuzz_seeds(fuzz_emit *emit)
{
	emit_wire(emit, "RFC 8448 client data, alert", CHOICE_SERVER,
		  RFC8448_CLIENT_DATA RFC8448_CLIENT_ALERT);
	emit_wire(emit, "RFC 8448 ticket, server data, alert", CHOICE_CLIENT,
		  RFC8448_TICKET RFC8448_SERVER_DATA RFC8448_SERVER_ALERT);
	emit_wire(emit, "change_cipher_spec", CHOICE_SERVER, "140303000101");
	emit_wire(emit, "alert in the clear", CHOICE_SERVER, "15030300020232");
	emit_wire(emit, "record too long", CHOICE_SERVER, "1703034101");
	emit_wire(emit, "record shorter than its tag", CHOICE_SERVER,
		  "170303000f"
		  "000102030405060708090a0b0c0d0e");
	emit_wire(emit, "HTTP in the clear", CHOICE_SERVER, "474554202f");
	for (size_t i = 0; i < sizeof(offences) / sizeof(*offences); i++)
		emit_offence(emit, &offences[i], (unsigned)i % 3);
	emit_long(emit, "longest record", TLS_RECORD_PLAIN_MAX + 1);
	emit_long(emit, "record too long once opened", TLS_RECORD_PLAIN_MAX + 2);
}
