// SPDX-License-Identifier: Apache-2.0
/* harness/measure/tests/ - TCP counters from fixture files and from this namespace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/measure/net_counters.h"

#define FIXTURES "harness/measure/tests/fixtures/"

static void reads_the_right_columns(void **state)
{
	struct net_counters counters;

	(void)state;
	assert_int_equal(net_counters_read(FIXTURES "net", &counters), 0);
	assert_int_equal(counters.listen_overflows, 12);
	assert_int_equal(counters.listen_drops, 34);
	assert_int_equal(counters.tcp_timeouts, 78);
	assert_true(counters.retrans_segs == UINT64_MAX);
	assert_int_equal(counters.out_rsts, 21);
}

static void refuses_malformed_files(void **state)
{
	static const struct {
		const char *dir;
		int err;
	} cases[] = {
		{FIXTURES "net_short", -EBADMSG}, {FIXTURES "net_novalues", -EBADMSG},
		{FIXTURES "net_word", -EBADMSG},  {FIXTURES "net_absent", -ENODATA},
		{FIXTURES "absent", -ENOENT},
	};
	struct net_counters counters;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(net_counters_read(cases[i].dir, &counters), cases[i].err);
}

static void takes_differences(void **state)
{
	struct net_counters before = {1, 2, 3, 4, 5}, after = {11, 22, 33, 44, 55}, delta;

	(void)state;
	assert_int_equal(net_counters_delta(&before, &after, &delta), 0);
	assert_int_equal(delta.listen_overflows, 10);
	assert_int_equal(delta.listen_drops, 20);
	assert_int_equal(delta.retrans_segs, 30);
	assert_int_equal(delta.out_rsts, 40);
	assert_int_equal(delta.tcp_timeouts, 50);
	assert_int_equal(net_counters_delta(&after, &before, &delta), -ERANGE);
}

/* A connection to a port nobody listens on is answered by one RST. */
static void counts_a_reset(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	struct net_counters before, after, delta;
	int holder = socket(AF_INET, SOCK_STREAM, 0), caller = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	/* Bound and not listening: the port is surely ours and surely closed. */
	assert_int_equal(bind(holder, (struct sockaddr *)&address, length), 0);
	assert_int_equal(getsockname(holder, (struct sockaddr *)&address, &length), 0);
	assert_int_equal(net_counters_read("/proc/net", &before), 0);
	assert_int_equal(connect(caller, (struct sockaddr *)&address, length), -1);
	assert_int_equal(errno, ECONNREFUSED);
	assert_int_equal(net_counters_read("/proc/net", &after), 0);
	assert_int_equal(net_counters_delta(&before, &after, &delta), 0);
	assert_true(delta.out_rsts >= 1);
	close(holder);
	close(caller);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_right_columns),
		cmocka_unit_test(refuses_malformed_files),
		cmocka_unit_test(takes_differences),
		cmocka_unit_test(counts_a_reset),
	};

	return cmocka_run_group_tests_name("net_counters", tests, NULL, NULL);
}
