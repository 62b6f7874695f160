// SPDX-License-Identifier: Apache-2.0
/* harness/core/tests/ - output buffers: a few are kept for the next send, the others given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/core/outbuf.h"

static void keeps_a_few(void **state)
{
	struct outbuf *bufs[OUTBUF_SPARES + 2];
	struct outbuf_pool pool = {0};

	(void)state;
	for (int i = 0; i < OUTBUF_SPARES + 2; i++) {
		bufs[i] = outbuf_get(&pool);
		assert_non_null(bufs[i]);
	}
	/* What the allocator got is worth a trim. */
	for (int i = 0; i < OUTBUF_SPARES; i++)
		assert_false(outbuf_put(&pool, bufs[i]));
	assert_true(outbuf_put(&pool, bufs[OUTBUF_SPARES]));
	assert_true(outbuf_put(&pool, bufs[OUTBUF_SPARES + 1]));
	assert_ptr_equal(outbuf_get(&pool), bufs[OUTBUF_SPARES - 1]);
	assert_false(outbuf_put(&pool, bufs[OUTBUF_SPARES - 1]));
	outbuf_drain(&pool);
}

static void none_is_no_buffer(void **state)
{
	struct outbuf_pool pool = {0};

	(void)state;
	assert_false(outbuf_put(&pool, NULL));
	assert_null(pool.spares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_a_few),
		cmocka_unit_test(none_is_no_buffer),
	};

	return cmocka_run_group_tests_name("outbuf", tests, NULL, NULL);
}
