// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - the tuple planner: every source once, none of them the listener. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "harness/load/plan.h"

static struct sockaddr_in destination(const char *address, unsigned port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	inet_pton(AF_INET, address, &a.sin_addr);
	return a;
}

static uint64_t key(const struct sockaddr_in *a)
{
	return (uint64_t)ntohl(a->sin_addr.s_addr) << 16 | ntohs(a->sin_port);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void no_source_twice(void **state)
{
	const struct sockaddr_in to = destination("127.0.0.1", 30000);
	const size_t count = 250000;
	uint64_t *keys = malloc(count * sizeof(*keys));

	(void)state;
	for (size_t i = 0; i < count; i++) {
		struct sockaddr_in from;

		plan_source(&to, i, &from);
		keys[i] = key(&from);
	}
	qsort(keys, count, sizeof(*keys), by_value);
	for (size_t i = 1; i < count; i++)
		assert_true(keys[i] != keys[i - 1]);
	free(keys);
}

static void never_the_port_of_the_server(void **state)
{
	static const unsigned ports[] = {443,
					 8443,
					 PLAN_FIRST_PORT,
					 30000,
					 PLAN_FIRST_PORT + PLAN_PORTS - 1,
					 PLAN_FIRST_PORT + PLAN_PORTS};

	(void)state;
	for (size_t p = 0; p < sizeof(ports) / sizeof(ports[0]); p++) {
		const struct sockaddr_in to = destination("127.1.0.1", ports[p]);

		for (uint32_t i = 0; i < PLAN_PORTS; i++) {
			struct sockaddr_in from;

			plan_source(&to, i, &from);
			assert_int_not_equal(ntohs(from.sin_port), ports[p]);
			assert_in_range(ntohs(from.sin_port), PLAN_FIRST_PORT,
					PLAN_FIRST_PORT + PLAN_PORTS);
		}
	}
}

static void stays_in_the_loopback_net(void **state)
{
	const struct sockaddr_in to = destination("127.0.0.1", 8443);
	static const uint64_t indexes[] = {0,       PLAN_PORTS - 1, PLAN_PORTS,
					   1000000, 10000000,       PLAN_CAPACITY - 1};

	(void)state;
	for (size_t i = 0; i < sizeof(indexes) / sizeof(indexes[0]); i++) {
		struct sockaddr_in from;

		plan_source(&to, indexes[i], &from);
		assert_int_equal(ntohl(from.sin_addr.s_addr) >> 24, 127);
		assert_int_not_equal(from.sin_addr.s_addr, to.sin_addr.s_addr);
	}
}

static void a_million_needs_twenty_addresses(void **state)
{
	const struct sockaddr_in to = destination("127.0.0.1", 8443);
	struct sockaddr_in first, last;

	(void)state;
	plan_source(&to, 0, &first);
	plan_source(&to, 999999, &last);
	assert_int_equal(ntohl(first.sin_addr.s_addr), PLAN_FIRST_SOURCE);
	assert_int_equal(ntohl(last.sin_addr.s_addr) - ntohl(first.sin_addr.s_addr), 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_source_twice),
		cmocka_unit_test(never_the_port_of_the_server),
		cmocka_unit_test(stays_in_the_loopback_net),
		cmocka_unit_test(a_million_needs_twenty_addresses),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
