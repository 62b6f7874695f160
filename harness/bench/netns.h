/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - a private network for one cell. Sources: network_namespaces(7),
 * user_namespaces(7), netdevice(7).
 */
#ifndef HARNESS_BENCH_NETNS_H
#define HARNESS_BENCH_NETNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Takes the calling process, which must have one thread only, into a network
 * namespace of its own with the loopback interface up; where the caller may not
 * do that directly, inside a user namespace of its own, as root there. It ends
 * with its last process. 0, or a negative errno with the reason and the command
 * that helps: then the caller must end, it may be half inside.
 * Clears the parent-death signal (prctl(2)): set it afterwards.
 *
 * `sockets`: as many the namespace is to hold. Its table of established sockets is made for
 * them where the kernel can (6.2 or later); 0, and before: the machine's one table is shared,
 * in which a million sockets make every segment walk a chain.
 */
int netns_enter(uint64_t sockets, char *reason, size_t reason_size);

/* Runs `inside` (NULL: nothing) in such a network, in a process of its own; what it leaves in
 * `result`, `size` bytes that start as zeros, is copied back. As netns_enter. */
int netns_try(void (*inside)(void *result), void *result, size_t size, char *reason,
	      size_t reason_size);

/* Whether netns_enter would succeed, tried in a process of its own. */
int netns_probe(char *reason, size_t reason_size);

/* Whether a connection to the address (host order) is accepted by anybody. */
bool netns_port_answers(uint32_t addr, uint16_t port);

#endif
