/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - c1m: the packet filter rules of one service in the caller's network namespace, by
 * the program iptables(8). Source: iptables(8), iptables-extensions(8) (socket, mark, NFQUEUE).
 *
 * A chain PARKBENCH-<port>, or PARKBENCH-<port>-client for the side that connects:
 *	-m socket --restore-skmark -m mark ! --mark 0x64656570 -j RETURN
 *	-j NFQUEUE --queue-balance <first>:<last>
 * which INPUT jumps to for TCP to (from) the service's address and port. The first rule lets
 * pass what a socket waits for, unless the socket has the mark: those that are about to be
 * dissolved, and listeners, whose SYNs may be for a connection that is parked. And for as long as
 * the rules are there, the namespace's net.ipv4.ip_early_demux is 0: packets are held first, and
 * get their sockets afterwards.
 */
#ifndef REACTORS_C1M_RULES_H
#define REACTORS_C1M_RULES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define C1M_MARK 0x64656570 /* "deep" */

struct c1m_rules {
	struct sockaddr_in service;
	bool client;
	uint16_t first_queue, queues;
	bool early_demux; /* the namespace had it, and is to have it again */
};

/* 0, or a negative errno with the reason: what iptables said. Nothing is left then. What an
 * earlier process that died has left of the same service is replaced. */
int c1m_rules_add(struct c1m_rules *rules, char *reason, size_t reason_size);
void c1m_rules_remove(const struct c1m_rules *rules);
/* Can such rules be made here? Makes them where no packet comes by, and removes them. */
int c1m_rules_probe(char *reason, size_t reason_size);

#endif
