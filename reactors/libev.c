// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - libev: the event library, used as its users do: an ev_io a connection,
 * ev_async to be woken, ev_timer for the deadline. Level-triggered epoll is below;
 * beside epoll_lt it shows what the library adds.
 * build-lib: ev
 * Kernel floor: 2.6.28 (accept4).
 * Source: ev(3), libev 4.33 ev_epoll.c; kernel fs/eventpoll.c.
 *
 * Kernel bytes an idle connection: struct epitem 128, struct eppoll_entry 72,
 * struct epitems_head 16.
 *
 * User bytes a connection, parked or not: a started watcher has to stay where it
 * is until it is stopped, so all lie in an array by slot (struct ev_io 48); and each
 * loop has a table by fd (16 an entry, doubled as it grows), which spans the fds of
 * the other workers too. libev can not do without either.
 *
 * Traps: libev answers a system call that must not fail (epoll_wait) by a message
 * and abort(3). It tells HUP and ERR as both readable and writable, and leaves an fd
 * in the kernel's set whose watcher was stopped, until it is told of it once more.
 */
#include <errno.h>
#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "reactors/engine.h"
#include "reactors/readiness.h"
#include "reactors/reactor.h"

struct libev_engine {
	struct ready_loop ready;
	struct ev_loop *ev;
	struct ev_async wake;
	struct ev_timer deadline;
	struct ev_io listener;
	struct ev_io *watchers; /* slot_max; untouched ones cost nothing */
};

static int libev_probe(char *reason, size_t reason_size)
{
	if (ev_version_major() != EV_VERSION_MAJOR || ev_version_minor() < EV_VERSION_MINOR) {
		snprintf(reason, reason_size, "built for libev %d.%d, but %d.%d answers",
			 EV_VERSION_MAJOR, EV_VERSION_MINOR, ev_version_major(),
			 ev_version_minor());
		return -ENOTSUP;
	}
	if (!(ev_supported_backends() & EVBACKEND_EPOLL)) {
		snprintf(reason, reason_size, "this libev has no epoll backend");
		return -ENOTSUP;
	}
	return 0;
}

/*
 * Brings slot's watcher up to date with what its connection waits for. libev calls
 * epoll_ctl later, in ev_run; it is counted here. A watcher has to be stopped before
 * its fd is closed.
 */
static int changed(struct reactor_loop *loop, uint32_t slot)
{
	struct libev_engine *engine = loop->engine;
	const struct ready_conn *conn = loop->slots[slot].active;
	struct ev_io *watcher = &engine->watchers[slot];
	int now = ev_is_active(watcher) ? watcher->events : 0;
	int events =
		(ready_wants_input(conn) ? EV_READ : 0) | (ready_wants_room(conn) ? EV_WRITE : 0);

	if (events == now)
		return 0;
	ev_io_stop(engine->ev, watcher);
	ev_io_modify(watcher, events);
	if (events)
		ev_io_start(engine->ev, watcher);
	loop->counters.syscalls++;
	return 0;
}

/* Both do all they have to by ending ev_run's wait. */
static void on_wake(struct ev_loop *ev, struct ev_async *watcher, int revents)
{
	(void)ev, (void)watcher, (void)revents;
}

static void on_deadline(struct ev_loop *ev, struct ev_timer *watcher, int revents)
{
	(void)ev, (void)watcher, (void)revents;
}

static void on_listener(struct ev_loop *ev, struct ev_io *watcher, int revents)
{
	(void)watcher, (void)revents;
	ready_accept(ev_userdata(ev)); /* what is left is told again */
}

static int libev_init(struct reactor_loop *loop)
{
	struct libev_engine *engine = loop->engine;
	struct ev_async *wake = &engine->wake;
	struct ev_timer *deadline = &engine->deadline;

	ready_init(loop, changed);
	engine->watchers = calloc(loop->slot_max, sizeof(engine->watchers[0]));
	if (!engine->watchers)
		return -ENOMEM;
	/* NOENV: the environment must not choose what is being measured. */
	engine->ev = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
	if (!engine->ev) {
		free(engine->watchers);
		return -ENOMEM;
	}
	ev_set_userdata(engine->ev, loop);
	ev_async_init(wake, on_wake);
	ev_async_start(engine->ev, wake);
	ev_init(deadline, on_deadline);
	return 0;
}

static void libev_fini(struct reactor_loop *loop)
{
	struct libev_engine *engine = loop->engine;

	ev_io_stop(engine->ev, &engine->listener);
	ev_async_stop(engine->ev, &engine->wake);
	ev_loop_destroy(engine->ev);
	free(engine->watchers);
}

static int libev_listen(struct reactor_loop *loop, int fd)
{
	struct libev_engine *engine = loop->engine;
	struct ev_io *listener = &engine->listener;
	int error = ready_listen(loop, fd);

	if (error)
		return error;
	ev_io_init(listener, on_listener, fd, EV_READ);
	ev_io_start(engine->ev, listener);
	loop->counters.syscalls++;
	return 0;
}

static int libev_accept_gate(struct reactor_loop *loop, bool open)
{
	struct libev_engine *engine = loop->engine;
	int error = ready_accept_gate(loop, open);

	if (error)
		return error;
	if (open)
		ev_io_start(engine->ev, &engine->listener);
	else
		ev_io_stop(engine->ev, &engine->listener);
	loop->counters.syscalls++;
	return 0;
}

/* libev has stopped the watcher: the kernel refused it, for want of memory say. */
static void tell_refused(struct reactor_loop *loop, uint32_t slot)
{
	struct ready_conn *conn = loop->slots[slot].active;

	if (conn && (conn->ended || conn->closing))
		return;
	loop->up->received(loop, slot, NULL, -EIO);
	conn = loop->slots[slot].active;
	if (conn)
		conn->ended = true;
}

static void on_conn(struct ev_loop *ev, struct ev_io *watcher, int revents)
{
	struct reactor_loop *loop = ev_userdata(ev);
	const struct libev_engine *engine = loop->engine;
	uint32_t slot = (uint32_t)(watcher - engine->watchers);

	if (revents & EV_ERROR)
		tell_refused(loop, slot);
	else
		ready_event(loop, slot, revents & EV_READ, revents & EV_WRITE);
}

static int libev_attach(struct reactor_loop *loop, uint32_t slot)
{
	struct libev_engine *engine = loop->engine;
	struct ev_io *watcher = &engine->watchers[slot];

	ev_io_init(watcher, on_conn, loop->slots[slot].fd, 0);
	return changed(loop, slot);
}

static int libev_run(struct reactor_loop *loop, uint64_t deadline_ns)
{
	struct libev_engine *engine = loop->engine;
	struct ev_timer *deadline = &engine->deadline;
	struct timespec left, *timeout = engine_time_left(deadline_ns, &left);
	bool look = ready_closes_due(loop) || (timeout && !left.tv_sec && !left.tv_nsec);

	if (timeout && !look) {
		ev_now_update(engine->ev); /* its clock stood still since the last turn */
		ev_timer_set(deadline, (double)left.tv_sec + (double)left.tv_nsec / 1e9, 0.);
		ev_timer_start(engine->ev, deadline);
	}
	ev_run(engine->ev, look ? EVRUN_NOWAIT : EVRUN_ONCE);
	loop->counters.syscalls++;
	ev_timer_stop(engine->ev, deadline);
	ready_finish_closes(loop);
	return 0;
}

static void libev_wake(struct reactor_loop *loop)
{
	struct libev_engine *engine = loop->engine;

	ev_async_send(engine->ev, &engine->wake);
}

static const struct reactor_ops libev_ops = {
	.name = "libev",
	.summary = "libev, an ev_io a connection, on its epoll backend",
	.kernel_floor = "2.6.28",
	.kernel_conn_bytes = 216,
	.loop_size = sizeof(struct libev_engine),
	.conn_size = sizeof(struct ready_conn),
	.probe = libev_probe,
	.init = libev_init,
	.fini = libev_fini,
	.listen = libev_listen,
	.accept_gate = libev_accept_gate,
	.attach = libev_attach,
	.recv_gate = ready_recv_gate,
	.send = ready_send,
	.park = ready_park,
	.unpark = ready_unpark,
	.close = ready_close,
	.run = libev_run,
	.wake = libev_wake,
};

__attribute__((constructor)) static void register_libev(void)
{
	reactor_register(&libev_ops);
}
