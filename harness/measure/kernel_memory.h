/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/measure/ - kernel memory of a group of processes, by the best method
 * this system allows.
 * Source: kernel Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst,
 * mm/memcontrol.c, net/ipv4/inet_connection_sock.c; slabinfo(5).
 *
 * Methods, tried in this order:
 *  memcg-v1  a group of our own below the caller's memory cgroup:
 *            memory.kmem.usage_in_bytes + memory.kmem.tcp.usage_in_bytes.
 *            memory.kmem.tcp.limit_in_bytes is written before anybody enters:
 *            until then a v1 group is not charged for accepted sockets.
 *  memcg-v2  memory.stat of our own group: kernel + sock. Before Linux 5.18 there
 *            is no `kernel` line: kernel_stack + pagetables + percpu + vmalloc +
 *            slab instead.
 *  slab      the socket caches of the whole system (slabinfo.h). Server, client
 *            and everybody else together: `system_wide` is set, and a figure for
 *            one side does not follow from it. Report the sum of both sides and
 *            null for each. Leaves out page tables, stacks, and caches which SLUB
 *            merged into another name; counts other processes' dentries.
 *  none      no figure: kernel_meter_read fails, `reason` says why.
 *
 * Before Linux 6.12 neither memcg method is charged for the struct sock of an
 * accepted connection, about 2.4 KB, since it is allocated before accept(2) says
 * who owns it. `misses_accepted` is set there: a server's figure is then only a
 * lower bound. (A vendor's kernel may have the change at an older number.)
 *
 * Both memcg methods count everything the kernel charges to the group: sockets,
 * files, epoll and io_uring objects, and kernel stacks (16 KiB a thread) and page
 * tables (8 B a mapped page) too. Those two are real costs of an engine with a
 * thread or a large mapping a connection; subtract a baseline taken when the
 * server is up and has no connections.
 *
 * Every reading is an absolute number of bytes: only differences of one meter
 * mean something. Memory is charged to the group that a process is in when it
 * allocates and does not move with it: add a process before it makes a socket.
 *
 * A meter is owned by its caller and used by one thread at a time.
 */
#ifndef HARNESS_MEASURE_KERNEL_MEMORY_H
#define HARNESS_MEASURE_KERNEL_MEMORY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/measure/cgroup.h"

enum kernel_method {
	KERNEL_METHOD_NONE,
	KERNEL_METHOD_SLAB,
	KERNEL_METHOD_MEMCG_V1,
	KERNEL_METHOD_MEMCG_V2,
};

struct kernel_roots {
	struct cgroup_roots cgroup;
	const char *slabinfo;   /* /proc/slabinfo */
	const char *os_release; /* /proc/sys/kernel/osrelease: the kernel's version */
};
extern const struct kernel_roots kernel_system_roots;

struct kernel_meter {
	enum kernel_method method;
	bool system_wide;     /* the reading is both sides and everybody else */
	char path[PATH_MAX];  /* the group's directory (ours to remove), or the slabinfo file */
	char reason[1024];    /* why no better method was taken; "" with the memcg methods */
	bool misses_accepted; /* a memcg method on a kernel before 6.12, see above */
};

/* "none", "slab", "memcg-v1" or "memcg-v2". */
const char *kernel_method_name(enum kernel_method method);

/*
 * Chooses a method and makes the group `group_name` where it needs one. An empty
 * group of that name, left by a run that was killed, is taken over. On v2 the
 * group goes below the caller's own or, since a group with processes may not
 * pass controllers on, below the nearest ancestor that allows it; the memory
 * controller stays enabled there. Returns 0, with method `none` too, or -EINVAL
 * for a name that is no directory name.
 */
int kernel_meter_open(struct kernel_meter *meter, const struct kernel_roots *roots,
		      const char *group_name);

/*
 * Puts a process, with all its threads, into the group; its later children are
 * born there. Does nothing with slab and none. -ESRCH when it died, -EACCES.
 */
int kernel_meter_add_pid(const struct kernel_meter *meter, pid_t pid);

/* 0, -ENODATA with method none, or the negative errno of reading. */
int kernel_meter_read(const struct kernel_meter *meter, int64_t *bytes);

/*
 * Removes the group, waiting up to two seconds for its processes to be gone: the
 * caller has ended them. -EBUSY when some remain; close may then be called again.
 */
int kernel_meter_close(struct kernel_meter *meter);

#endif
