// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - runs a cell in a process of its own. */
#include "harness/bench/apart.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_NS 200000000L

/* In the cell's own process; does not return. */
static void be_cell(const struct apart *apart, const struct cell_setup *setup, pid_t parent)
{
	/* A group of its own: Ctrl-C reaches parkbench alone, which ends the group. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	close(apart->janitor->pipe);
	cell_run(setup, apart->shared);
	_exit(0);
}

static void say_progress(const struct apart *apart, bool pilot)
{
	const struct cell_shared *shared = apart->shared;
	char step[64];

	snprintf(step, sizeof(step), "%s%s", pilot ? "pilot, " : "",
		 cell_step_name(atomic_load(&shared->step)));
	progress_now(apart->progress, &shared->result.cell, step,
		     atomic_load(&shared->established));
}

/* Until the process has ended, which is not yet reaped then, or a signal came. */
static void watch(struct apart *apart, bool pilot, pid_t pid)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	while (!apart->signal) {
		siginfo_t info = {.si_pid = 0};
		int signal;

		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			return;
		say_progress(apart, pilot);
		signal = sigtimedwait(apart->signals, NULL, &pause);
		if (signal > 0 && signal != SIGCHLD)
			apart->signal = signal;
	}
}

/* Ends the cell's group and reaps all of it: what its first process leaves becomes
 * a child of ours (PR_SET_CHILD_SUBREAPER). Returns the first one's wait status. */
static int end_group(pid_t pid)
{
	int status = 0, other;
	pid_t reaped;

	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	do
		reaped = waitpid(-pid, &other, 0);
	while (reaped > 0 || (reaped < 0 && errno == EINTR));
	return status;
}

static int open_meters(struct janitor_order *order, unsigned cell)
{
	static const char *const sides[JANITOR_METERS] = {"server", "client"};
	int ret = 0;

	for (int i = 0; i < JANITOR_METERS && !ret; i++) {
		char name[64];

		snprintf(name, sizeof(name), "parkbench-%d-%u-%s", (int)getpid(), cell, sides[i]);
		ret = kernel_meter_open(&order->meters[i], &kernel_system_roots, name);
	}
	return ret;
}

static void judge_end(struct apart *apart, int status)
{
	struct cell_shared *shared = apart->shared;

	if (!apart->signal && !atomic_load(&shared->finished))
		result_judge(&shared->result, VERDICT_FAIL,
			     "parkbench's own process of the cell died in step %s: %s",
			     cell_step_name(atomic_load(&shared->step)),
			     WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended");
}

int apart_run(struct apart *apart, struct cell_setup *setup)
{
	struct janitor_order order = {0};
	pid_t parent = getpid(), pid = -1;
	int ret = open_meters(&order, apart->shared->result.cell.order);

	setup->server_meter = &order.meters[0];
	setup->client_meter = &order.meters[1];
	if (!ret)
		ret = janitor_tell(apart->janitor, &order);
	if (!ret) {
		pid = fork();
		ret = pid < 0 ? -errno : 0;
	}
	if (pid == 0)
		be_cell(apart, setup, parent);
	if (pid > 0) {
		setpgid(pid, pid);
		order.group = pid;
		janitor_tell(apart->janitor, &order);
		watch(apart, setup->pilot, pid);
		judge_end(apart, end_group(pid));
		order.group = 0;
	}
	janitor_clean(&order);
	janitor_tell(apart->janitor, &order);
	setup->server_meter = setup->client_meter = NULL;
	return ret;
}
