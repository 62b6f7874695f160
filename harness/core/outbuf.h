/* SPDX-License-Identifier: Apache-2.0 */
/* harness/core/ - output buffers of one worker: a connection has one only while a send is
 * outstanding. */
#ifndef HARNESS_CORE_OUTBUF_H
#define HARNESS_CORE_OUTBUF_H

#include <stdbool.h>
#include <stdint.h>

#include "tls_backends/tls_backend.h"

/* Two full records and room for a few short ones: what a connection whose peer
 * does not read costs at the most. */
#define OUTBUF_BYTES (2 * (TLS_RECORD_PLAIN_MAX + TLS_RECORD_OVERHEAD_MAX) + TLS_OUT_MIN)
/* Buffers kept for the next send rather than given back to the allocator. */
#define OUTBUF_SPARES 8

struct outbuf {
	struct outbuf *next;
	uint8_t data[OUTBUF_BYTES];
};

struct outbuf_pool {
	struct outbuf *spares;
	unsigned spare_count;
};

/* NULL: out of memory. */
struct outbuf *outbuf_get(struct outbuf_pool *pool);
/* NULL is no buffer. True: it was one too many to keep, and the allocator has it. */
bool outbuf_put(struct outbuf_pool *pool, struct outbuf *buf);
void outbuf_drain(struct outbuf_pool *pool);

#endif
