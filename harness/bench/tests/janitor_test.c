// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - what the janitor removes when parkbench is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/bench/janitor.h"

/* Longer than one attempt at removing a group takes. */
enum { DYING_S = 3 };

static void open_group(struct kernel_meter *meter)
{
	char name[64];

	snprintf(name, sizeof(name), "parkbench-%d-janitor-test", (int)getpid());
	assert_int_equal(kernel_meter_open(meter, &kernel_system_roots, name), 0);
	if (meter->method != KERNEL_METHOD_MEMCG_V1 && meter->method != KERNEL_METHOD_MEMCG_V2) {
		kernel_meter_close(meter);
		print_message("skipped: no memory cgroup may be made here\n");
		skip();
	}
}

static pid_t start_member(const struct kernel_meter *meter)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* whatever fails here */
		for (;;)
			pause();
	}
	assert_int_equal(kernel_meter_add_pid(meter, pid), 0);
	return pid;
}

/* A member that is not of the process group stands for one that takes long to end. */
static void waits_for_processes_that_end_slowly(void **state)
{
	struct janitor_order order = {0};
	struct janitor janitor;
	pid_t member;

	(void)state;
	open_group(&order.meters[0]);
	member = start_member(&order.meters[0]);
	assert_int_equal(janitor_start(&janitor), 0);
	assert_int_equal(janitor_tell(&janitor, &order), 0);
	close(janitor.pipe);
	sleep(DYING_S);
	assert_int_equal(access(order.meters[0].path, F_OK), 0);
	kill(member, SIGKILL);
	assert_int_equal(waitpid(member, NULL, 0), member);
	assert_int_equal(waitpid(janitor.pid, NULL, 0), janitor.pid);
	assert_int_equal(access(order.meters[0].path, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_processes_that_end_slowly),
	};

	return cmocka_run_group_tests_name("janitor", tests, NULL, NULL);
}
