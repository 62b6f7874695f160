/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - what the rows of `parkbench doctor` share, and those on the system's ways:
 * namespaces, memory groups, io_uring, and who listens already. */
#ifndef HARNESS_BENCH_DOCTOR_SYSTEM_H
#define HARNESS_BENCH_DOCTOR_SYSTEM_H

#include <stdbool.h>
#include <stdio.h>

#include "harness/bench/net_settings.h"

struct doctor {
	FILE *stream; /* borrowed */
	bool well;    /* nothing was NOT OK so far */
};

/* One line, and below it, where something is wrong, what to do. */
__attribute__((format(printf, 6, 7))) void doctor_row(struct doctor *doctor, const char *what,
						      const char *now, const char *need, bool ok,
						      const char *fix, ...);

/* Private network, listeners there are, what the machine's own network has lost. Fills in the
 * settings that a cell's network would have. */
void doctor_check_network(struct doctor *doctor, struct net_settings *settings);
void doctor_check_memory_groups(struct doctor *doctor);
/* Only where a reactor wants it. */
void doctor_check_io_uring(struct doctor *doctor);

#endif
