// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the private network: a table of sockets of its own. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/bench/netns.h"
#include "harness/measure/text_file.h"

#define CHILD_SETTING "/proc/sys/net/ipv4/tcp_child_ehash_entries"
#define ENTRIES "/proc/sys/net/ipv4/tcp_ehash_entries"

/* In a process of its own, whose status says how many thousand entries there are; 255: the
 * table is shared (the number is negative), 254: there is no network. */
static int thousands_of_entries(uint64_t sockets)
{
	char reason[512];
	int64_t entries;
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (netns_enter(sockets, reason, sizeof(reason)) ||
		    text_read_int(ENTRIES, &entries))
			_exit(254);
		_exit(entries < 0 ? 255 : (int)(entries / 1000));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_network_has_a_table_for_its_sockets(void **state)
{
	char reason[512];

	(void)state;
	if (netns_probe(reason, sizeof(reason)) || access(CHILD_SETTING, F_OK))
		skip();
	/* The kernel rounds up to a power of two. */
	assert_int_equal(thousands_of_entries(100000), 131072 / 1000);
	assert_int_equal(thousands_of_entries(0), 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_network_has_a_table_for_its_sockets),
	};

	return cmocka_run_group_tests_name("netns", tests, NULL, NULL);
}
