/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/tests/ - a bad line: of the TCP segments that come into the caller's network namespace
 * some are lost, and the rest arrive later than they would, and not in the order they were sent
 * in. For kernels without netem: the match `statistic` drops, and a netfilter queue in PREROUTING,
 * before anything of level deep, is where segments wait. Source: iptables-extensions(8).
 */
#ifndef REACTORS_TESTS_C1M_LINE_H
#define REACTORS_TESTS_C1M_LINE_H

#include <stddef.h>

struct line;

/* Loses that part of all segments, and delays each by up to so many microseconds. 0, or a
 * negative errno with the reason. */
int line_start(struct line **line, double loss, unsigned delay_us, char *reason,
	       size_t reason_size);
/* In the same namespace. What is still on its way arrives. */
void line_end(struct line *line);

#endif
