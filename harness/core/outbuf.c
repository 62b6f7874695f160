// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - output buffers of one worker. */
#include "harness/core/outbuf.h"

#include <stdlib.h>

struct outbuf *outbuf_get(struct outbuf_pool *pool)
{
	struct outbuf *buf = pool->spares;

	if (!buf)
		return malloc(sizeof(*buf));
	pool->spares = buf->next;
	pool->spare_count--;
	return buf;
}

bool outbuf_put(struct outbuf_pool *pool, struct outbuf *buf)
{
	if (!buf)
		return false;
	if (pool->spare_count == OUTBUF_SPARES) {
		free(buf);
		return true;
	}
	buf->next = pool->spares;
	pool->spares = buf;
	pool->spare_count++;
	return false;
}

void outbuf_drain(struct outbuf_pool *pool)
{
	while (pool->spares) {
		struct outbuf *buf = pool->spares;

		pool->spares = buf->next;
		free(buf);
	}
	pool->spare_count = 0;
}
