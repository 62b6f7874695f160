// SPDX-License-Identifier: Apache-2.0
/* harness/measure/tests/ - process trees and their user memory, fixtures and live. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/measure/process_tree.h"
#include "harness/measure/user_memory.h"

#define FIXTURES "harness/measure/tests/fixtures/"
#define KB 1024

static const char *const tree_fixtures[] = {FIXTURES "proc_children", FIXTURES "proc_scan"};

static void one_process(void **state)
{
	struct user_memory memory;

	(void)state;
	assert_int_equal(user_memory_of_process(FIXTURES "proc_scan", 100, &memory), 0);
	assert_int_equal(memory.rss_bytes, 2000 * KB);
	assert_int_equal(memory.pss_bytes, 1000 * KB);
	assert_int_equal(memory.swap_pss_bytes, 10 * KB);
	assert_int_equal(memory.processes, 1);
}

/* 100 and its descendants 101, 102, 103; the zombie 104 has no memory; 200 is a stranger. */
static void tree_with_and_without_children_files(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct user_memory memory;
		assert_int_equal(user_memory_of_tree(tree_fixtures[i], 100, &memory), 0);
		assert_int_equal(memory.rss_bytes, (2000 + 500 + 600 + 70) * KB);
		assert_int_equal(memory.pss_bytes, (1000 + 200 + 300 + 30) * KB);
		assert_int_equal(memory.swap_pss_bytes, (10 + 5) * KB);
		assert_int_equal(memory.processes, 4);
	}
}

static void tree_members(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct process_tree tree;
		int sum = 0;
		assert_int_equal(process_tree_read(tree_fixtures[i], 100, &tree), 0);
		assert_int_equal(tree.pids[0], 100);
		for (size_t member = 0; member < tree.count; member++)
			sum += tree.pids[member];
		assert_int_equal(tree.count, 5);
		assert_int_equal(sum, 100 + 101 + 102 + 103 + 104);
		process_tree_free(&tree);
	}
}

static void smaps_where_there_is_no_rollup(void **state)
{
	struct user_memory memory;

	(void)state;
	assert_int_equal(user_memory_of_process(FIXTURES "proc_odd", 1, &memory), 0);
	assert_int_equal(memory.rss_bytes, (8 + 16) * KB);
	assert_int_equal(memory.pss_bytes, (3 + 16) * KB);
	assert_int_equal(memory.swap_pss_bytes, 4 * KB);
}

static void clear_errors(void **state)
{
	const char *odd = FIXTURES "proc_odd";
	struct user_memory memory;
	struct process_stat stat;
	struct process_tree tree;

	(void)state;
	assert_int_equal(user_memory_of_process(odd, 2, &memory), -EBADMSG); /* not a number */
	assert_int_equal(user_memory_of_process(odd, 3, &memory), -EBADMSG); /* no SwapPss */
	assert_int_equal(user_memory_of_process(odd, 4, &memory), -EBADMSG); /* not kB */
	assert_int_equal(user_memory_of_process(odd, 99, &memory), -ESRCH);
	assert_int_equal(user_memory_of_process(FIXTURES "proc_scan", 104, &memory), -ESRCH);
	assert_int_equal(user_memory_of_tree(odd, 99, &memory), -ESRCH);
	assert_int_equal(process_stat_read(odd, 5, &stat), -EBADMSG);
	assert_int_equal(process_stat_read(odd, 6, &stat), -EBADMSG);
	assert_int_equal(process_tree_read(odd, 7, &tree), -EBADMSG);
}

/* Waits to be killed, holding what the parent gave it. */
static pid_t sleeping_child(void)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		for (;;)
			pause();
	return child;
}

static void live_tree_grows_by_what_is_touched(void **state)
{
	size_t size = 8 << 20;
	struct user_memory before, after;

#ifdef __SANITIZE_THREAD__
	skip(); /* every byte touched touches four more of its shadow */
#endif

	(void)state;
	pid_t child = sleeping_child();
	assert_int_equal(user_memory_of_tree("/proc", getpid(), &before), 0);
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	memset(pages, 1, size);
	assert_int_equal(user_memory_of_tree("/proc", getpid(), &after), 0);
	munmap(pages, size);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);

	int64_t grown =
		after.pss_bytes + after.swap_pss_bytes - before.pss_bytes - before.swap_pss_bytes;
	assert_int_equal(before.processes, 2);
	assert_int_equal(after.processes, 2);
	assert_in_range(grown, size - 256 * KB, size + 4096 * KB);
}

static void live_process_that_ended(void **state)
{
	struct user_memory memory;
	siginfo_t info;

	(void)state;
	pid_t child = sleeping_child();
	kill(child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(user_memory_of_process("/proc", child, &memory), -ESRCH); /* a zombie */
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(user_memory_of_process("/proc", child, &memory), -ESRCH);
	assert_int_equal(user_memory_of_tree("/proc", child, &memory), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_process),
		cmocka_unit_test(tree_with_and_without_children_files),
		cmocka_unit_test(tree_members),
		cmocka_unit_test(smaps_where_there_is_no_rollup),
		cmocka_unit_test(clear_errors),
		cmocka_unit_test(live_tree_grows_by_what_is_touched),
		cmocka_unit_test(live_process_that_ended),
	};

	return cmocka_run_group_tests_name("user_memory", tests, NULL, NULL);
}
