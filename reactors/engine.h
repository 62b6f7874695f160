/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - what more than one engine needs. For the .c files beside it only:
 * the core knows reactor.h alone.
 */
#ifndef REACTORS_ENGINE_H
#define REACTORS_ENGINE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>

#include "reactors/reactor.h"

/* "No slot" in a list linked by slot index. */
#define ENGINE_NO_SLOT UINT32_MAX
#define ENGINE_ACCEPTS_PER_TURN 64

/*
 * The time left until `deadline_ns` in the form that ppoll(2) and epoll_pwait2(2)
 * take: NULL without a deadline, zero when it has passed.
 */
static inline struct timespec *engine_time_left(uint64_t deadline_ns, struct timespec *left)
{
	struct timespec now;
	uint64_t now_ns, left_ns;

	if (deadline_ns == UINT64_MAX)
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	left->tv_sec = (time_t)(left_ns / 1000000000u);
	left->tv_nsec = (long)(left_ns % 1000000000u);
	return left;
}

/*
 * accept(2): on Linux a new socket's pending network error is the result of
 * accept. Such an error, or a peer gone before we came, is the end of one
 * connection and not of the listener.
 */
static inline bool engine_accept_skips(int error)
{
	switch (error) {
	case ECONNABORTED:
	case EINTR:
	case EPROTO:
	case ENOPROTOOPT:
	case ENETDOWN:
	case ENETUNREACH:
	case ENONET:
	case EHOSTDOWN:
	case EHOSTUNREACH:
	case EOPNOTSUPP:
	case EPERM: /* a firewall rule */
		return true;
	default:
		return false;
	}
}

/*
 * The next connection of a non-blocking listener, with accept4's `flags`. -EAGAIN:
 * none waits. Any other negative errno: the listener can not go on for now.
 */
static inline int engine_accept(struct reactor_loop *loop, int listen_fd, int flags)
{
	for (;;) {
		int fd = accept4(listen_fd, NULL, NULL, flags);

		loop->counters.syscalls++;
		if (fd >= 0)
			return fd;
		if (errno == EAGAIN)
			return -EAGAIN;
		loop->counters.accept_errors++;
		if (!engine_accept_skips(errno))
			return -errno;
	}
}

/*
 * What waits in the backlog, up to a bound, so that connections have their turn
 * too; `open` is the engine's accept gate, which any upcall may close. True: the
 * bound was reached, and more may wait.
 */
static inline bool engine_accept_some(struct reactor_loop *loop, int listen_fd, int flags,
				      const bool *open)
{
	for (int i = 0; i < ENGINE_ACCEPTS_PER_TURN; i++) {
		int fd;

		if (!*open)
			return false;
		fd = engine_accept(loop, listen_fd, flags);
		if (fd == -EAGAIN)
			return false;
		if (fd < 0)
			loop->ops->accept_gate(loop, false);
		loop->up->accepted(loop, fd);
		if (fd < 0)
			return false;
	}
	return *open;
}

/* A connection can vanish between readiness and accept: never block in accept. */
static inline int engine_set_nonblock(int fd, bool nonblock)
{
	int flags = fcntl(fd, F_GETFL);
	int wanted = nonblock ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;

	if (flags < 0 || (wanted != flags && fcntl(fd, F_SETFL, wanted) < 0))
		return -errno;
	return 0;
}

/* Wakes whoever waits for the eventfd. Any thread; keeps errno. */
static inline void engine_wake(int wake_fd)
{
	int saved = errno;

	eventfd_write(wake_fd, 1); /* fails only when 2^64 - 2 wakes are unread */
	errno = saved;
}

#endif
