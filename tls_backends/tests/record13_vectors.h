/* SPDX-License-Identifier: Apache-2.0 */
/* tls_backends/tests/ - messages and published records that the tests of the record layer and the
 * seeds of its fuzzers share. */
#ifndef TLS_BACKENDS_TESTS_RECORD13_VECTORS_H
#define TLS_BACKENDS_TESTS_RECORD13_VECTORS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A ticket of 14 bytes, the least there is, and KeyUpdates. */
#define TICKET "\x04\0\0\x0e\0\0\0\0\0\0\0\0\0\0\1t\0\0"
#define TICKET_BYTES 18u
#define UPDATE "\x18\0\0\1\0"
#define UPDATE_ASKING "\x18\0\0\1\1"
#define UPDATE_BYTES 5u

static inline size_t from_hex(const char *hex, uint8_t *bytes)
{
	size_t len = 0;
	unsigned byte;
	int used;

	for (; sscanf(hex, "%2x%n", &byte, &used) == 1; hex += used)
		bytes[len++] = (uint8_t)byte;
	return len;
}

/* RFC 8448 section 3. */
#define RFC8448_CLIENT "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5"
#define RFC8448_SERVER "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643"
#define RFC8448_TICKET                                                                             \
	"17030300de3a6b8f90414a97d6959c3487680de5134a2b240e6cffac116e95d41d6af8f6b580dcf3d11d63c7" \
	"58db289a015940252f55713e061dc13e078891a38efbcf5753ad8ef170ad3c7353d16d9da773b9ca7f2b9fa1" \
	"b6c0d4a3d03f75e09c30ba1e62972ac46f75f7b981be63439b2999ce13064615139891d5e4c5b406f16e3fc1" \
	"81a77ca475840025db2f0a77f81b5ab05b94c01346755f69232c86519d86cbeeac87aac347d143f9605d64f6" \
	"50db4d023e70e952ca49fe5137121c74bc2697687e248746d6df353005f3bce18696129c8153556b3b6c6779" \
	"b37bf15985684f"
#define RFC8448_CLIENT_DATA                                                                        \
	"1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a" \
	"20441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4"
#define RFC8448_SERVER_DATA                                                                        \
	"17030300432e937e11ef4ac740e538ad36005fc4a46932fc3225d05f82aa1b36e30efaf97d90e6dffc602dcb" \
	"501a59a8fcc49c4bf2e5f0a21c0047c2abf332540dd032e167c2955d"
#define RFC8448_CLIENT_ALERT "1703030013c9872760655666b74d7ff1153efd6db6d0b0e3"
#define RFC8448_SERVER_ALERT "1703030013b58fd67166ebf599d24720cfbe7efa7a8864a9"

#endif
