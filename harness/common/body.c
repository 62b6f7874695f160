// SPDX-License-Identifier: Apache-2.0
/* harness/common/ - response bodies. */
#include "harness/common/body.h"

static uint8_t body_byte(size_t offset)
{
	return (uint8_t)('a' + offset % 26);
}

void body_fill(uint8_t *buf, size_t offset, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = body_byte(offset + i);
}

size_t body_differs(const uint8_t *bytes, size_t offset, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != body_byte(offset + i))
			return i + 1;
	return 0;
}
