// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - the slot table: reuse, generations, the end of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/core/slots.h"

static void all_are_given_out_once(void **state)
{
	struct slots slots;

	(void)state;
	assert_int_equal(slots_init(&slots, 1000), 0);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(slots_take(&slots, 5), i);
	assert_int_equal(slots_take(&slots, 5), SLOT_NONE);
	assert_int_equal(slots.in_use, 1000);
	slots_fini(&slots);
}

static void a_freed_slot_comes_back_under_a_new_generation(void **state)
{
	struct reactor_loop loop = {0};
	struct slots slots;
	uint64_t old;

	(void)state;
	assert_int_equal(slots_init(&slots, 3), 0);
	loop.slots = slots.table;
	loop.slot_max = slots.max;
	assert_int_equal(slots_take(&slots, 7), 0);
	old = reactor_slot_tag(&loop, REACTOR_OP_CONN, 0);
	assert_true(reactor_tag_fresh(&loop, old));
	slots_free(&slots, 0);
	assert_false(reactor_tag_fresh(&loop, old));
	assert_int_equal(slots_take(&slots, 7), 0);
	assert_false(reactor_tag_fresh(&loop, old));
	assert_true(reactor_tag_fresh(&loop, reactor_slot_tag(&loop, REACTOR_OP_CONN, 0)));
	slots_fini(&slots);
}

static void the_chain_of_free_slots_holds_in_any_order(void **state)
{
	struct slots slots;
	unsigned seen = 0;

	(void)state;
	assert_int_equal(slots_init(&slots, 8), 0);
	for (int i = 0; i < 8; i++)
		slots_take(&slots, 9);
	for (uint32_t i = 0; i < 8; i++)
		slots_free(&slots, (i * 5) % 8);
	assert_int_equal(slots.in_use, 0);
	for (int i = 0; i < 8; i++)
		seen |= 1u << slots_take(&slots, 9);
	assert_int_equal(seen, 0xff);
	assert_int_equal(slots_take(&slots, 9), SLOT_NONE);
	slots_fini(&slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_given_out_once),
		cmocka_unit_test(a_freed_slot_comes_back_under_a_new_generation),
		cmocka_unit_test(the_chain_of_free_slots_holds_in_any_order),
	};

	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
