// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - the slot table: reuse, generations, the end of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

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

static size_t resident_pages(void *memory, size_t bytes)
{
	unsigned char in_core[64] = {0};
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page, count = 0;

	assert_true(pages <= sizeof(in_core));
	assert_int_equal(mincore(memory, bytes, in_core), 0);
	for (size_t i = 0; i < pages; i++)
		count += in_core[i] & 1;
	return count;
}

/* 10,000 slots of 16 bytes are 40 pages of 4 KiB. */
static void the_free_end_is_given_back_and_low_slots_are_taken_first(void **state)
{
	struct slots slots;
	size_t before;

	(void)state;
	assert_int_equal(slots_init(&slots, 10000), 0);
	for (int i = 0; i < 10000; i++)
		slots_take(&slots, 9);
	before = resident_pages(slots.table, 160000);
	for (uint32_t slot = 10000; slot-- > 0;)
		if (slot != 1000)
			slots_free(&slots, slot);
	slots_give_back(&slots);
	assert_int_equal(slots.top, 1001);
	assert_true(resident_pages(slots.table, 160000) <= before / 5);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(slots_take(&slots, 9), i);
	assert_int_equal(slots_take(&slots, 9), 1001);
	slots_fini(&slots);
}

static void a_slot_that_was_given_back_never_repeats_a_generation(void **state)
{
	struct reactor_loop loop = {0};
	struct slots slots;
	uint64_t old;

	(void)state;
	assert_int_equal(slots_init(&slots, 10000), 0);
	loop.slots = slots.table;
	loop.slot_max = slots.max;
	for (int i = 0; i < 10000; i++)
		slots_take(&slots, 9);
	old = reactor_slot_tag(&loop, REACTOR_OP_CONN, 9999);
	for (uint32_t slot = 10000; slot-- > 0;)
		slots_free(&slots, slot);
	slots_give_back(&slots);
	assert_int_equal(slots.top, 0);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(slots_take(&slots, 9), i);
	assert_false(reactor_tag_fresh(&loop, old));
	slots_fini(&slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_given_out_once),
		cmocka_unit_test(a_freed_slot_comes_back_under_a_new_generation),
		cmocka_unit_test(the_chain_of_free_slots_holds_in_any_order),
		cmocka_unit_test(the_free_end_is_given_back_and_low_slots_are_taken_first),
		cmocka_unit_test(a_slot_that_was_given_back_never_repeats_a_generation),
	};

	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
