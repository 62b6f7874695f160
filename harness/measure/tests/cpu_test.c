// SPDX-License-Identifier: Apache-2.0
/* harness/measure/tests/ - CPU time of other processes, fixtures and live. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/measure/cpu.h"

#define FIXTURES "harness/measure/tests/fixtures/"

static int64_t ticks_ns(int ticks)
{
	return ticks * (INT64_C(1000000000) / sysconf(_SC_CLK_TCK));
}

static void ticks_of_fixtures(void **state)
{
	int64_t cpu_ns;

	(void)state;
	assert_int_equal(cpu_time_of_process(FIXTURES "proc_scan", 100, &cpu_ns), 0);
	assert_true(cpu_ns == ticks_ns(250 + 50));
	/* 101: 100, 102: 100, 103: 3, and the zombie 104: 8, whose time was still spent. */
	assert_int_equal(cpu_time_of_tree(FIXTURES "proc_scan", 100, &cpu_ns), 0);
	assert_true(cpu_ns == ticks_ns(300 + 100 + 100 + 3 + 8));
	assert_int_equal(cpu_time_of_tree(FIXTURES "proc_children", 100, &cpu_ns), 0);
	assert_true(cpu_ns == ticks_ns(300 + 100 + 100 + 3 + 8));
	assert_int_equal(cpu_time_of_process(FIXTURES "proc_scan", 99, &cpu_ns), -ESRCH);
	assert_int_equal(cpu_time_of_process(FIXTURES "proc_odd", 5, &cpu_ns), -EBADMSG);
}

/* Spins until its own clock says 20 ms, then waits to be killed. */
static pid_t spinning_child(int ready_fd)
{
	pid_t child = fork();
	struct timespec now = {0};

	assert_true(child >= 0);
	if (child)
		return child;
	while (now.tv_sec == 0 && now.tv_nsec < 20000000)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	if (write(ready_fd, "r", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void live_child_is_seen_to_the_nanosecond(void **state)
{
	int ready[2];
	int64_t own_ns, child_ns, tree_ns, dead_ns;
	struct rusage usage;
	siginfo_t info;
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid_t child = spinning_child(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(cpu_time_of_process("/proc", child, &child_ns), 0);
	assert_int_equal(cpu_time_of_process("/proc", getpid(), &own_ns), 0);
	assert_int_equal(cpu_time_of_tree("/proc", getpid(), &tree_ns), 0);
	assert_true(child_ns >= 20000000);
	assert_true(tree_ns >= own_ns + child_ns);

	kill(child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(cpu_time_of_process("/proc", child, &dead_ns), 0); /* a zombie */
	assert_true(dead_ns >= child_ns);
	assert_int_equal(wait4(child, NULL, 0, &usage), child);
	assert_int_equal(cpu_time_of_process("/proc", child, &dead_ns), -ESRCH);
	assert_int_equal(cpu_time_of_tree("/proc", child, &dead_ns), -ESRCH);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_of_fixtures),
		cmocka_unit_test(live_child_is_seen_to_the_nanosecond),
	};

	return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
