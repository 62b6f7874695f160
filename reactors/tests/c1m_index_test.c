// SPDX-License-Identifier: Apache-2.0
/* reactors/tests/ - the index of parked connections: growth, chains, equal halves, several loops.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "reactors/c1m_index.h"

enum { MANY = 100000 };

static void count_absent(void *arg)
{
	++*(unsigned *)arg;
}

static uint32_t find(const struct c1m_record *record)
{
	struct c1m_tuple tuple = record->tuple;
	unsigned absent = 0;
	uint32_t handle = c1m_index_find(&tuple, count_absent, &absent);

	assert_int_equal(absent, handle == C1M_NOBODY);
	return handle;
}

static struct c1m_record *new_records(uint32_t count, uint32_t peer_addr)
{
	struct c1m_record *records = calloc(count, sizeof(*records));

	assert_non_null(records);
	/* As a server's on one address: only a few bits differ. */
	for (uint32_t i = 0; i < count; i++)
		records[i].tuple = (struct c1m_tuple){0x0100007f, peer_addr + i / 50000, 8443,
						      (uint16_t)(1024 + i % 50000)};
	return records;
}

static uint32_t open_space(struct c1m_record *records, uint16_t queue)
{
	int space = c1m_index_open(records, queue);

	assert_in_range(space, 0, C1M_SPACES - 1);
	return (uint32_t)space;
}

static void finds_what_was_inserted(void **state)
{
	struct c1m_record *records = new_records(MANY, 0x0200007f);
	uint32_t space = open_space(records, 7);

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(find(&records[i]), C1M_NOBODY);
		c1m_index_insert(c1m_handle(space, i));
		assert_int_equal(find(&records[i]), c1m_handle(space, i));
	}
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(find(&records[i]), c1m_handle(space, i));
	for (uint32_t i = 0; i < MANY; i++)
		c1m_index_remove(c1m_handle(space, i));
	c1m_index_close(space);
	free(records);
}

/* At every moment those are found that are in, and no others. */
static void takes_out_in_any_order(void **state)
{
	struct c1m_record *records = new_records(MANY, 0x0200007f);
	uint32_t space = open_space(records, 0);

	(void)state;
	for (int lap = 0; lap < 3; lap++) {
		for (uint32_t i = 0; i < MANY; i++)
			c1m_index_insert(c1m_handle(space, i));
		for (uint32_t i = 0; i < MANY; i++) {
			uint32_t at = (uint32_t)((uint64_t)i * 77773 % MANY);

			c1m_index_remove(c1m_handle(space, at));
			assert_int_equal(find(&records[at]), C1M_NOBODY);
			at = (uint32_t)((uint64_t)(i + 1) * 77773 % MANY);
			assert_int_equal(find(&records[at]),
					 i + 1 == MANY ? C1M_NOBODY : c1m_handle(space, at));
		}
	}
	c1m_index_close(space);
	free(records);
}

static void every_field_counts(void **state)
{
	struct c1m_record *records = calloc(5, sizeof(*records));
	uint32_t space = open_space(records, 0);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		records[i].tuple =
			(struct c1m_tuple){1 + (i == 1), 1 + (i == 2), 1 + (i == 3), 1 + (i == 4)};
	for (uint32_t i = 0; i < 5; i++)
		c1m_index_insert(c1m_handle(space, i));
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(find(&records[i]), c1m_handle(space, i));
	for (uint32_t i = 0; i < 5; i++)
		c1m_index_remove(c1m_handle(space, i));
	c1m_index_close(space);
	free(records);
}

static void spaces_come_and_go(void **state)
{
	struct c1m_record record = {0};
	uint32_t spaces[C1M_SPACES];

	(void)state;
	for (unsigned i = 0; i < C1M_SPACES; i++)
		spaces[i] = open_space(&record, (uint16_t)(i + 100));
	assert_int_equal(c1m_index_open(&record, 0), -ENFILE);
	assert_int_equal(c1m_index_queue(spaces[200]), 300);
	c1m_index_close(spaces[200]);
	assert_int_equal(open_space(&record, 5), spaces[200]);
	assert_int_equal(c1m_index_queue(spaces[200]), 5);
	for (unsigned i = 0; i < C1M_SPACES; i++)
		c1m_index_close(spaces[i]);
}

struct loop {
	pthread_t thread;
	struct c1m_record *records, *others;
};

/* Its own come and go while the others' are looked up. */
static void *be_a_loop(void *arg)
{
	struct loop *loop = arg;
	uint32_t space = (uint32_t)c1m_index_open(loop->records, 0);

	for (int lap = 0; lap < 5; lap++) {
		unsigned absent = 0;

		for (uint32_t i = 0; i < MANY / 10; i++) {
			struct c1m_tuple tuple = loop->others[i].tuple;

			c1m_index_insert(c1m_handle(space, i));
			c1m_index_find(&tuple, count_absent, &absent);
		}
		for (uint32_t i = 0; i < MANY / 10; i++)
			c1m_index_remove(c1m_handle(space, i));
	}
	c1m_index_close(space);
	return NULL;
}

static void loops_share_it(void **state)
{
	struct loop loops[4];

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		loops[i].records = new_records(MANY / 10, i << 24);
	for (uint32_t i = 0; i < 4; i++)
		loops[i].others = loops[(i + 1) % 4].records;
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&loops[i].thread, NULL, be_a_loop, &loops[i]), 0);
	for (uint32_t i = 0; i < 4; i++)
		pthread_join(loops[i].thread, NULL);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(find(&loops[i].records[i]), C1M_NOBODY);
		free(loops[i].records);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_inserted), cmocka_unit_test(takes_out_in_any_order),
		cmocka_unit_test(every_field_counts),      cmocka_unit_test(spaces_come_and_go),
		cmocka_unit_test(loops_share_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("index of parked connections", tests, NULL, NULL);
}
