// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - the epoll set of a worker: making it, its listener, waiting, wake.
 * Source: epoll(7), epoll_ctl(2), eventfd(2); kernel fs/eventpoll.c.
 */
#include "reactors/epoll_set.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int ctl(struct reactor_loop *loop, int op, int fd, uint32_t events, uint64_t tag)
{
	const struct epoll_set *set = loop->engine;
	struct epoll_event event = {.events = events, .data.u64 = tag};

	loop->counters.syscalls++;
	return epoll_ctl(set->epoll_fd, op, fd, &event) < 0 ? -errno : 0;
}

int epoll_set_watch(struct reactor_loop *loop, int op, uint32_t slot, uint32_t events)
{
	return ctl(loop, op, loop->slots[slot].fd, events,
		   reactor_slot_tag(loop, REACTOR_OP_CONN, slot));
}

int epoll_set_watch_other(struct reactor_loop *loop, int fd,
			  int (*other)(struct reactor_loop *loop))
{
	struct epoll_set *set = loop->engine;

	set->other = other;
	return ctl(loop, EPOLL_CTL_ADD, fd, EPOLLIN, reactor_tag(REACTOR_OP_OTHER, 0, 0));
}

int epoll_set_probe(char *reason, size_t reason_size)
{
	(void)reason, (void)reason_size;
	return 0;
}

int epoll_set_init(struct reactor_loop *loop, uint32_t trigger,
		   int (*changed)(struct reactor_loop *loop, uint32_t slot))
{
	struct epoll_set *set = loop->engine;
	int error;

	ready_init(loop, changed);
	set->trigger = trigger;
	set->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (set->epoll_fd < 0)
		return -errno;
	set->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (set->wake_fd < 0) {
		error = -errno;
		goto close_epoll;
	}
	/* Edge-triggered always: every write is an edge, so it is never read. */
	error = ctl(loop, EPOLL_CTL_ADD, set->wake_fd, EPOLLIN | EPOLLET,
		    reactor_tag(REACTOR_OP_WAKE, 0, 0));
	if (error == 0)
		return 0;
	close(set->wake_fd);
close_epoll:
	close(set->epoll_fd);
	return error;
}

void epoll_set_fini(struct reactor_loop *loop)
{
	struct epoll_set *set = loop->engine;

	close(set->wake_fd);
	close(set->epoll_fd);
}

void epoll_set_wake(struct reactor_loop *loop)
{
	const struct epoll_set *set = loop->engine;

	engine_wake(set->wake_fd);
}

int epoll_set_listen(struct reactor_loop *loop, int fd)
{
	const struct epoll_set *set = loop->engine;
	int error = ctl(loop, EPOLL_CTL_ADD, fd, EPOLLIN | set->trigger,
			reactor_tag(REACTOR_OP_ACCEPT, 0, 0));

	return error ? error : ready_listen(loop, fd);
}

/* Raises the edge of what the backlog holds. */
static int watch_listener(struct reactor_loop *loop, bool open)
{
	const struct epoll_set *set = loop->engine;

	return ctl(loop, EPOLL_CTL_MOD, set->ready.listen_fd, open ? EPOLLIN | set->trigger : 0,
		   reactor_tag(REACTOR_OP_ACCEPT, 0, 0));
}

/* With no events asked for, a closed gate costs no wakeups. */
int epoll_set_accept_gate(struct reactor_loop *loop, bool open)
{
	int error = ready_accept_gate(loop, open);

	return error ? error : watch_listener(loop, open);
}

/*
 * Trap: at EMFILE the connection stays in the backlog. Level-triggered, the
 * listener would be told of without end, were it not for the gate that closes;
 * edge-triggered its edge is spent, and comes back only when the gate opens.
 */
static int accept_some(struct reactor_loop *loop)
{
	const struct epoll_set *set = loop->engine;

	if (!ready_accept(loop) || !(set->trigger & EPOLLET))
		return 0;
	return watch_listener(loop, true);
}

/* The number of events, or a negative errno. A signal counts as a wake. */
static int wait_events(struct reactor_loop *loop, uint64_t deadline_ns)
{
	struct epoll_set *set = loop->engine;
	struct timespec left, *timeout = engine_time_left(deadline_ns, &left);
	int n = -1, timeout_ms = -1;

	loop->counters.syscalls++;
	if (!set->old_kernel) {
		n = epoll_pwait2(set->epoll_fd, set->events, EPOLL_SET_EVENTS_PER_TURN, timeout,
				 NULL);
		/* Sandboxes that do not know the call answer EPERM. */
		set->old_kernel = n < 0 && (errno == ENOSYS || errno == EPERM);
	}
	if (set->old_kernel) {
		if (timeout && left.tv_sec < 1000000) /* rounded up: never early */
			timeout_ms = (int)(left.tv_sec * 1000 + (left.tv_nsec + 999999) / 1000000);
		n = epoll_wait(set->epoll_fd, set->events, EPOLL_SET_EVENTS_PER_TURN, timeout_ms);
	}
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n;
}

/*
 * close(2) takes an fd out of the set, but only with the last copy of it: events
 * of one that lives on in a forked child are stale by their tag.
 */
int epoll_set_run(struct reactor_loop *loop, uint64_t deadline_ns,
		  int (*conn_event)(struct reactor_loop *loop, uint32_t slot, uint32_t events))
{
	const struct epoll_set *set = loop->engine;
	int n = wait_events(loop, ready_closes_due(loop) ? 0 : deadline_ns);
	int error = n < 0 ? n : 0;

	for (int i = 0; i < n && error == 0; i++) {
		uint64_t tag = set->events[i].data.u64;

		if (reactor_tag_op(tag) == REACTOR_OP_ACCEPT)
			error = accept_some(loop);
		else if (reactor_tag_op(tag) == REACTOR_OP_OTHER)
			error = set->other(loop);
		else if (reactor_tag_op(tag) != REACTOR_OP_CONN)
			continue;
		else if (reactor_tag_fresh(loop, tag))
			error = conn_event(loop, reactor_tag_slot(tag), set->events[i].events);
		else
			loop->counters.stale_events++;
	}
	ready_finish_closes(loop);
	return error;
}
