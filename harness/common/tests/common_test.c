// SPDX-License-Identifier: Apache-2.0
/* harness/common/ - addresses, tallies and the lines of `--control`. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/common/address.h"
#include "harness/common/body.h"
#include "harness/common/control.h"
#include "harness/common/park.h"
#include "harness/common/tally.h"

static void addresses_are_numeric_with_a_port(void **state)
{
	struct sockaddr_storage a;
	socklen_t len;

	(void)state;
	assert_int_equal(address_parse("127.0.0.1:8443", &a, &len), 0);
	assert_int_equal(a.ss_family, AF_INET);
	assert_int_equal(ntohs(((struct sockaddr_in *)&a)->sin_port), 8443);
	assert_int_equal(address_parse("[::1]:443", &a, &len), 0);
	assert_int_equal(a.ss_family, AF_INET6);
	assert_int_equal(len, sizeof(struct sockaddr_in6));
}

static void bad_addresses_are_refused(void **state)
{
	static const char *const bad[] = {"",
					  ":",
					  "127.0.0.1",
					  "127.0.0.1:",
					  ":80",
					  "127.0.0.1:0",
					  "127.0.0.1:65536",
					  "127.0.0.1:-1",
					  "127.0.0.1:8x",
					  "localhost:80",
					  "::1:80:",
					  "[::1:80"};
	struct sockaddr_storage a;
	socklen_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (address_parse(bad[i], &a, &len) != -EINVAL)
			fail_msg("\"%s\" is taken", bad[i]);
}

static void a_tally_counts_by_cause(void **state)
{
	struct tally tally = {0}, sum = {0};
	json_t *object;

	(void)state;
	tally_add_errno(&tally, -ECONNRESET);
	tally_add_errno(&tally, ECONNRESET);
	tally_add(&tally, "HTTP 500", 3);
	tally_merge(&sum, &tally);
	tally_merge(&sum, &tally);
	assert_int_equal(sum.total, 10);
	object = tally_json(&sum);
	assert_int_equal(json_integer_value(json_object_get(object, "ECONNRESET")), 4);
	assert_int_equal(json_integer_value(json_object_get(object, "HTTP 500")), 6);
	json_decref(object);
}

static void too_many_causes_become_other(void **state)
{
	struct tally tally = {0};
	uint64_t sum = 0;
	char cause[32];

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(cause, sizeof(cause), "cause %d", i);
		tally_add(&tally, cause, 1);
	}
	for (size_t i = 0; i < tally.used; i++)
		sum += tally.entries[i].count;
	assert_int_equal(sum, 100);
	assert_int_equal(tally.used, TALLY_CAUSES);
	assert_string_equal(tally.entries[TALLY_CAUSES - 1].cause, "other");
}

static void commands_arrive_in_pieces_and_in_bunches(void **state)
{
	struct control control = {0};
	char line[CONTROL_LINE_BYTES];
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	assert_int_equal(control_read(&control, fds[0], line), 0);
	assert_int_equal(write(fds[1], "st", 2), 2);
	assert_int_equal(control_read(&control, fds[0], line), 0);
	assert_int_equal(write(fds[1], "ats\nstop\nx", 10), 10);
	assert_int_equal(control_read(&control, fds[0], line), 1);
	assert_string_equal(line, "stats");
	assert_int_equal(control_read(&control, fds[0], line), 1);
	assert_string_equal(line, "stop");
	assert_int_equal(control_read(&control, fds[0], line), 0);
	close(fds[1]);
	assert_int_equal(control_read(&control, fds[0], line), -EPIPE);
	close(fds[0]);
}

static void lines_that_came_together_do_not_wait_for_more(void **state)
{
	struct control control = {0};
	char line[CONTROL_LINE_BYTES];
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0); /* blocking, and open to the end */
	assert_int_equal(write(fds[1], "stats\nstop\nst", 13), 13);
	assert_int_equal(control_read(&control, fds[0], line), 1);
	assert_string_equal(line, "stats");
	assert_int_equal(control_next(&control, line), 1);
	assert_string_equal(line, "stop");
	assert_int_equal(control_next(&control, line), 0);
	close(fds[0]);
	close(fds[1]);
}

static void an_endless_command_is_an_error(void **state)
{
	struct control control = {0};
	char line[CONTROL_LINE_BYTES], noise[2 * CONTROL_LINE_BYTES];
	int fds[2];

	(void)state;
	memset(noise, 'x', sizeof(noise));
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	assert_int_equal(write(fds[1], noise, sizeof(noise)), sizeof(noise));
	assert_int_equal(control_read(&control, fds[0], line), 0);
	assert_int_equal(control_read(&control, fds[0], line), -EMSGSIZE);
	close(fds[0]);
	close(fds[1]);
}

static void a_wrong_byte_of_a_body_is_found(void **state)
{
	uint8_t body[1000];

	(void)state;
	body_fill(body, 17, sizeof(body));
	assert_int_equal(body_differs(body, 17, sizeof(body)), 0);
	body[999] ^= 1;
	assert_int_equal(body_differs(body, 17, sizeof(body)), 1000);
}

static void park_levels_have_names(void **state)
{
	(void)state;
	for (int level = 0; level < PARK_LEVELS; level++)
		assert_int_equal(park_find(park_levels[level].name), level);
	assert_int_equal(park_find("nothing"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_numeric_with_a_port),
		cmocka_unit_test(bad_addresses_are_refused),
		cmocka_unit_test(a_tally_counts_by_cause),
		cmocka_unit_test(too_many_causes_become_other),
		cmocka_unit_test(commands_arrive_in_pieces_and_in_bunches),
		cmocka_unit_test(lines_that_came_together_do_not_wait_for_more),
		cmocka_unit_test(an_endless_command_is_an_error),
		cmocka_unit_test(a_wrong_byte_of_a_body_is_found),
		cmocka_unit_test(park_levels_have_names),
	};

	return cmocka_run_group_tests_name("common", tests, NULL, NULL);
}
