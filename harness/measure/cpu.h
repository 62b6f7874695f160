/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/measure/ - CPU time (user + system) of other processes.
 * Source: clock_getcpuclockid(3), clock_gettime(2), proc(5) /proc/pid/stat.
 *
 * Nanoseconds since the process started, all its threads together, including
 * those that ended. The clock is exact to the scheduler's accounting; /proc/pid/stat
 * counts ticks of 10 ms on most kernels and is used only where the clock refuses,
 * or where proc_root is not "/proc": a clock knows live processes only, a test's
 * fixture directory holds others. Time of children that were already waited for
 * is not included. Work done in softirq for a process's sockets is charged to
 * whoever was interrupted: on loopback that is mostly the sender.
 */
#ifndef HARNESS_MEASURE_CPU_H
#define HARNESS_MEASURE_CPU_H

#include <stdint.h>
#include <sys/types.h>

/* 0, -ESRCH when there is no such process (a zombie still counts), or -EBADMSG. */
int cpu_time_of_process(const char *proc_root, pid_t pid, int64_t *cpu_ns);

/* The process and its living descendants. -ESRCH only when `ancestor` is gone. */
int cpu_time_of_tree(const char *proc_root, pid_t ancestor, int64_t *cpu_ns);

#endif
