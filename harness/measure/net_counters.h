/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/measure/ - TCP counters of a network namespace.
 * Source: proc(5) /proc/net/snmp and /proc/net/netstat, kernel net/ipv4/proc.c.
 *
 * Events since the namespace was made. A healthy cell moves none of them but
 * out_rsts, and that one only when a side closes without a FIN.
 */
#ifndef HARNESS_MEASURE_NET_COUNTERS_H
#define HARNESS_MEASURE_NET_COUNTERS_H

#include <stdint.h>

struct net_counters {
	uint64_t listen_overflows; /* accept queue full; each is also a listen drop */
	uint64_t listen_drops;     /* SYN or final ACK dropped at a listener, any cause */
	uint64_t retrans_segs;     /* segments sent again */
	uint64_t out_rsts;         /* segments sent with RST */
	uint64_t tcp_timeouts;     /* retransmission timers that fired */
};

/*
 * net_dir holds snmp and netstat: "/proc/net" for the caller's namespace,
 * "/proc/<pid>/net" for that of another process. Returns 0, a negative errno of
 * open, -EBADMSG when names and values do not match, -ENODATA when a counter is
 * not there.
 */
int net_counters_read(const char *net_dir, struct net_counters *counters);

/* after - before. -ERANGE when one went backwards: two namespaces were mixed up. */
int net_counters_delta(const struct net_counters *before, const struct net_counters *after,
		       struct net_counters *delta);

#endif
