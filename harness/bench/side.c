// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - one side of a cell, server or client. */
#include "harness/bench/side.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "harness/measure/cpu.h"
#include "harness/measure/user_memory.h"

#define PROC "/proc"

static int enter_meter(void *meter)
{
	int error = kernel_meter_add_pid(meter, getpid());

	errno = -error;
	return error;
}

int side_start(struct side *side, const char *name, const char *const argv[], const char *log,
	       const struct kernel_meter *meter)
{
	side->meter = meter;
	return child_spawn(&side->child, name, argv, log, enter_meter, (void *)meter);
}

static double read_meter(const struct kernel_meter *meter)
{
	int64_t bytes;

	return kernel_meter_read(meter, &bytes) ? NAN : (double)bytes;
}

int side_baseline(struct side *side)
{
	struct user_memory user;
	int error = user_memory_of_tree(PROC, side->child.pid, &user);

	if (error)
		return error;
	side->user_bytes = (double)(user.pss_bytes + user.swap_pss_bytes);
	side->user_rss_bytes = (double)user.rss_bytes;
	side->kernel_bytes = read_meter(side->meter);
	return 0;
}

int side_memory(const struct side *side, struct result_memory *memory)
{
	struct user_memory user;
	int error = user_memory_of_tree(PROC, side->child.pid, &user);

	if (error)
		return error;
	memory->user_bytes = (double)(user.pss_bytes + user.swap_pss_bytes) - side->user_bytes;
	memory->user_rss_bytes = (double)user.rss_bytes - side->user_rss_bytes;
	memory->kernel_bytes =
		side->meter->system_wide ? NAN : read_meter(side->meter) - side->kernel_bytes;
	return 0;
}

double side_system_kernel_bytes(const struct side *side)
{
	return side->meter->system_wide ? read_meter(side->meter) - side->kernel_bytes : NAN;
}

int64_t side_cpu_ns(const struct side *side)
{
	int64_t cpu_ns;

	return cpu_time_of_tree(PROC, side->child.pid, &cpu_ns) ? 0 : cpu_ns;
}
