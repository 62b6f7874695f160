// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - one side of a cell, server or client. */
#include "harness/bench/side.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
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
	struct child *child = &side->child[side->count];
	int error;

	if (side->count == SIDE_PROCESSES_MAX)
		return -ENOSPC;
	snprintf(side->name[side->count], sizeof(side->name[0]), "%s", name);
	side->meter = meter;
	error = child_spawn(child, side->name[side->count], argv, log, enter_meter, (void *)meter);
	/* One that could not be started has nothing to end. */
	if (!error)
		side->count++;
	return error;
}

void side_end(struct side *side)
{
	for (unsigned i = 0; i < side->count; i++)
		child_end(&side->child[i]);
	side->count = 0;
}

static int user_memory_of_side(const struct side *side, struct user_memory *sum)
{
	*sum = (struct user_memory){0};
	for (unsigned i = 0; i < side->count; i++) {
		struct user_memory user;
		int error = user_memory_of_tree(PROC, side->child[i].pid, &user);

		if (error)
			return error;
		sum->pss_bytes += user.pss_bytes;
		sum->swap_pss_bytes += user.swap_pss_bytes;
		sum->rss_bytes += user.rss_bytes;
	}
	return 0;
}

static double read_meter(const struct kernel_meter *meter)
{
	int64_t bytes;

	return kernel_meter_read(meter, &bytes) ? NAN : (double)bytes;
}

int side_baseline(struct side *side)
{
	struct user_memory user;
	int error = user_memory_of_side(side, &user);

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
	int error = user_memory_of_side(side, &user);

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
	int64_t sum_ns = 0, cpu_ns;

	for (unsigned i = 0; i < side->count; i++)
		if (!cpu_time_of_tree(PROC, side->child[i].pid, &cpu_ns))
			sum_ns += cpu_ns;
	return sum_ns;
}
