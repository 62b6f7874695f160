/* SPDX-License-Identifier: Apache-2.0 */
/* tls_backends/tests/ - what a peer may not put into a record, and the alert for it. Source: RFC
 * 8446 sections 4.6, 5 and 6. */
#ifndef TLS_BACKENDS_TESTS_RECORD13_OFFENCES_H
#define TLS_BACKENDS_TESTS_RECORD13_OFFENCES_H

#include <stdbool.h>

#include "tls_backends/record13_parts.h"
#include "tls_backends/tests/record13_vectors.h"

struct offence {
	const char *name;
	const char *content; /* of one record */
	size_t len;
	enum content_type type;
	bool at_client; /* else at the server */
	unsigned alert;
};

#define TYPE(number) ((enum content_type)(number))

static const struct offence offences[] = {
	{"inner change_cipher_spec", "\1", 1, TYPE(20), false, 10},
	{"unknown content type", "x", 1, TYPE(99), false, 10},
	{"no content type", "", 0, TYPE(0), false, 10},
	{"zeros only", "\0\0\0\0", 4, TYPE(0), false, 10},
	{"empty alert", "", 0, CONTENT_ALERT, false, 10},
	{"half an alert", "\2", 1, CONTENT_ALERT, false, 50},
	{"two alerts", "\1\x5a\1\0", 4, CONTENT_ALERT, false, 50},
	{"empty handshake record", "", 0, CONTENT_HANDSHAKE, false, 10},
	{"ticket at a server", TICKET, TICKET_BYTES, CONTENT_HANDSHAKE, false, 10},
	{"its first byte", "\4", 1, CONTENT_HANDSHAKE, false, 10},
	{"ClientHello", "\1\0\0\1x", 5, CONTENT_HANDSHAKE, false, 10},
	{"HelloRequest", "\0\0\0\0", 4, CONTENT_HANDSHAKE, true, 10},
	{"CertificateRequest", "\x0d\0\0\1x", 5, CONTENT_HANDSHAKE, true, 10},
	{"Certificate", "\x0b\0\0\1x", 5, CONTENT_HANDSHAKE, false, 10},
	{"Finished", "\x14\0\0\1x", 5, CONTENT_HANDSHAKE, true, 10},
	{"KeyUpdate of 0 bytes", "\x18\0\0\0", 4, CONTENT_HANDSHAKE, false, 50},
	{"KeyUpdate of 2 bytes", "\x18\0\0\2\0\0", 6, CONTENT_HANDSHAKE, false, 50},
	{"KeyUpdate of 16 MiB", "\x18\xff\xff\xff", 4, CONTENT_HANDSHAKE, true, 50},
	{"KeyUpdate asking for 2", "\x18\0\0\1\2", 5, CONTENT_HANDSHAKE, false, 47},
	{"two KeyUpdates", UPDATE UPDATE, 2 * UPDATE_BYTES, CONTENT_HANDSHAKE, false, 10},
	{"ticket behind KeyUpdate", UPDATE TICKET, 23, CONTENT_HANDSHAKE, true, 10},
	{"ticket of 13 bytes", "\4\0\0\x0d", 4, CONTENT_HANDSHAKE, true, 50},
	{"ticket of 131,338 bytes", "\4\2\1\x0a", 4, CONTENT_HANDSHAKE, true, 50},
	{"KeyUpdate behind a ticket, and more", TICKET UPDATE "\4", 24, CONTENT_HANDSHAKE, true,
	 10},
};

#endif
