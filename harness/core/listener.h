/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/core/ - a worker's listener: one of a SO_REUSEPORT group, which the worker leaves
 * when its table of open files or its slots are full, and joins again when there is room.
 * Whoever waits in the backlog of one that leaves goes to another worker where
 * net.ipv4.tcp_migrate_req is 1, and is reset at once where it is 0 or nobody else is left:
 * nobody hangs. Source: socket(7), shutdown(2); kernel net/ipv4/inet_connection_sock.c,
 * Documentation/networking/ip-sysctl.rst.
 *
 * Functions of the worker's thread, listener_port_free apart.
 */
#ifndef HARNESS_CORE_LISTENER_H
#define HARNESS_CORE_LISTENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct worker;

/* A worker that has left the group looks once a tick whether it can come back. Zeroed: no
 * listener. */
struct listener {
	int fd;
	bool open;           /* `fd` is in the group */
	bool leave_due;      /* full: leaves before the next turn */
	bool left;           /* comes back as soon as... */
	uint32_t room_below; /* ...no more connections than this are left */
};

/* SO_REUSEPORT lets a second server share a port in silence, so this binds it without. 0,
 * -EADDRINUSE, or another negative errno. */
int listener_port_free(const struct sockaddr *address, socklen_t len);
/* Opens the worker's listener and gives it to the reactor. 0, or a negative errno. */
int listener_open(struct worker *worker);
/* Accepts nothing more and leaves the group. Idempotent. */
void listener_close(struct worker *worker);
/* The worker can hold no more than it does: leaves at the end of this turn. */
void listener_full(struct worker *worker);
/* After each turn, and once a tick. */
void listener_turn(struct worker *worker);
void listener_tick(struct worker *worker);

#endif
