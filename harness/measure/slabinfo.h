/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/measure/ - the kernel's caches that hold sockets and what reactors add, system wide.
 * Source: slabinfo(5), kernel mm/slub.c.
 */
#ifndef HARNESS_MEASURE_SLABINFO_H
#define HARNESS_MEASURE_SLABINFO_H

#include <stdint.h>

/*
 * Bytes of active objects in the caches an idle connection uses: active_objs *
 * objsize, summed over TCP, TCPv6, their request and time-wait socks,
 * sock_inode_cache, filp, dentry, eventpoll_epi, eventpoll_pwq, tcp_bind*_bucket,
 * skbuff_*, io_kiocb and all kmalloc-*. Returns 0, -EACCES (the file is root's),
 * -ENOENT, or -EBADMSG.
 */
int slabinfo_socket_bytes(const char *slabinfo_path, int64_t *bytes);

/*
 * The same of the caches in which a reactor's own objects lie: eventpoll_*, ep_head, io_kiocb,
 * task_struct and all kmalloc-*. Also counts what the kernel charges to no memory cgroup, as the
 * buffers of io_uring's armed requests.
 */
int slabinfo_reactor_bytes(const char *slabinfo_path, int64_t *bytes);

#endif
