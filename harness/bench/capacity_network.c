// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - limits on sockets: addresses to connect from, buffers, backlogs. */
#include "harness/bench/capacity.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/load/plan.h"
#include "harness/measure/text_file.h"

/* The last of three numbers: beyond it the kernel drops what arrives. */
static int64_t read_tcp_pages(const char *proc_root)
{
	char path[PATH_MAX], *text = NULL;
	int64_t most = -1;

	if (!text_format(path, sizeof(path), "%s/sys/net/ipv4/tcp_mem", proc_root) &&
	    !text_read(path, &text) && sscanf(text, "%*d %*d %" SCNd64, &most) != 1)
		most = -1;
	free(text);
	return most;
}

void capacity_read_network(struct capacity *capacity, const char *proc_root)
{
	capacity->tcp_pages = read_tcp_pages(proc_root);
	capacity->conntrack_max = capacity_sysctl(proc_root, "net.netfilter.nf_conntrack_max");
}

static void check_tcp_pages(struct capacity_rows *rows, const struct capacity *capacity,
			    const struct capacity_ask *ask)
{
	/* In a round every socket of the client holds an unread response, and some of the server's
	 * an unread request: each is charged whole pages. 0.7 a socket were measured. */
	int64_t need = capacity_sockets(ask);
	struct capacity_row *row =
		capacity_add(rows, "net.ipv4.tcp_mem, most", capacity->tcp_pages);

	row->gates = true;
	snprintf(row->need, sizeof(row->need), "%" PRId64 " pages", need);
	if (capacity->tcp_pages >= 0 && capacity->tcp_pages < need)
		capacity_lacks(row,
			       "sudo sysctl -w net.ipv4.tcp_mem='%" PRId64 " %" PRId64 " %" PRId64
			       "'",
			       need, need, need);
}

void capacity_check_network(struct capacity_rows *rows, const struct capacity *capacity,
			    const struct capacity_ask *ask)
{
	struct capacity_row *row;

	/* More than any number of connections that can be asked for. */
	row = capacity_add(rows, "sources, address x port", (int64_t)PLAN_CAPACITY);
	snprintf(row->need, sizeof(row->need), "%u", ask->connections);
	row = capacity_add(rows, "net.core.somaxconn", capacity->somaxconn);
	snprintf(row->need, sizeof(row->need), "%u; set in the cell's own network", ask->in_flight);
	if (capacity->somaxconn >= 0 && capacity->somaxconn < ask->in_flight)
		capacity_lacks(row, "lower in_flight: the kernel does not let it be raised");
	check_tcp_pages(rows, capacity, ask);
	row = capacity_add(rows, "conntrack, most", capacity->conntrack_max);
	if (capacity->conntrack_max < 0)
		snprintf(row->now, sizeof(row->now), "not loaded");
	snprintf(row->need, sizeof(row->need), "any: a cell's own network has no rules that track");
}
