// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - CPU time of other processes. Source: clock_getcpuclockid(3), proc(5) */
#include "harness/measure/cpu.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/measure/process_tree.h"

#define SECOND_NS INT64_C(1000000000)

static int clock_time(pid_t pid, int64_t *cpu_ns)
{
	struct timespec time;
	clockid_t clock;
	int err = clock_getcpuclockid(pid, &clock);

	if (err)
		return -err;
	if (clock_gettime(clock, &time))
		return -errno;
	*cpu_ns = time.tv_sec * SECOND_NS + time.tv_nsec;
	return 0;
}

static int tick_time(const char *proc_root, pid_t pid, int64_t *cpu_ns)
{
	struct process_stat stat;
	int err = process_stat_read(proc_root, pid, &stat);

	if (err)
		return err;
	int64_t tick_ns = SECOND_NS / sysconf(_SC_CLK_TCK);
	*cpu_ns = (int64_t)(stat.user_ticks + stat.system_ticks) * tick_ns;
	return 0;
}

int cpu_time_of_process(const char *proc_root, pid_t pid, int64_t *cpu_ns)
{
	if (!strcmp(proc_root, "/proc") && !clock_time(pid, cpu_ns))
		return 0;
	return tick_time(proc_root, pid, cpu_ns);
}

int cpu_time_of_tree(const char *proc_root, pid_t ancestor, int64_t *cpu_ns)
{
	struct process_tree tree;
	int err = process_tree_read(proc_root, ancestor, &tree);

	*cpu_ns = 0;
	if (err)
		return err;
	for (size_t i = 0; i < tree.count && !err; i++) {
		int64_t one_ns = 0;
		err = cpu_time_of_process(proc_root, tree.pids[i], &one_ns);
		if (!err)
			*cpu_ns += one_ns;
		else if (err == -ESRCH && tree.pids[i] != ancestor)
			err = 0; /* a descendant ended meanwhile */
	}
	process_tree_free(&tree);
	return err;
}
