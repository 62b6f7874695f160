// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - poll: poll(2) over an array of all connections. The baseline: what
 * it costs when the kernel keeps nothing of who waits for what, and is told all of
 * it anew, O(connections), whenever one of them has something.
 * Kernel floor: 2.6.28 (accept4).
 * Source: poll(2); kernel fs/select.c.
 *
 * Kernel bytes an idle connection: none that last. While the worker sleeps in
 * poll there are a struct poll_table_entry 64 and the copy of its pollfd 8, in
 * pages which no memory cgroup is charged for.
 *
 * User bytes a connection, parked or not: its struct pollfd 8, found by slot. The
 * slots in use are dense (freed ones are taken first), and so is the array.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "reactors/engine.h"
#include "reactors/readiness.h"
#include "reactors/reactor.h"

/* Places in the array. */
enum { AT_WAKE, AT_LISTENER, AT_SLOTS };

struct poll_engine {
	struct ready_loop ready;
	int wake_fd;
	uint32_t used;      /* entries that poll is given */
	struct pollfd *fds; /* AT_SLOTS + slot_max; untouched ones cost nothing */
};

static int poll_probe(char *reason, size_t reason_size)
{
	(void)reason, (void)reason_size;
	return 0;
}

/*
 * Brings slot's entry up to date with what its connection waits for. Trap: POLLHUP
 * and POLLERR come unasked, and a reset connection has them for ever: poll passes
 * over an entry with a negative fd.
 */
static int changed(struct reactor_loop *loop, uint32_t slot)
{
	struct poll_engine *engine = loop->engine;
	const struct ready_conn *conn = loop->slots[slot].active;
	struct pollfd *entry = &engine->fds[AT_SLOTS + slot];
	int events =
		(ready_wants_input(conn) ? POLLIN : 0) | (ready_wants_room(conn) ? POLLOUT : 0);

	entry->fd = events ? loop->slots[slot].fd : -1;
	entry->events = (short)events;
	return 0;
}

static int poll_init(struct reactor_loop *loop)
{
	struct poll_engine *engine = loop->engine;

	ready_init(loop, changed);
	engine->fds = calloc((size_t)loop->slot_max + AT_SLOTS, sizeof(engine->fds[0]));
	if (!engine->fds)
		return -ENOMEM;
	engine->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (engine->wake_fd < 0) {
		free(engine->fds);
		return -errno;
	}
	engine->fds[AT_WAKE] = (struct pollfd){.fd = engine->wake_fd, .events = POLLIN};
	engine->used = AT_SLOTS;
	return 0;
}

static void poll_fini(struct reactor_loop *loop)
{
	struct poll_engine *engine = loop->engine;

	close(engine->wake_fd);
	free(engine->fds);
}

static int poll_attach(struct reactor_loop *loop, uint32_t slot)
{
	struct poll_engine *engine = loop->engine;

	while (engine->used <= AT_SLOTS + slot)
		engine->fds[engine->used++].fd = -1;
	return changed(loop, slot);
}

/* The number of entries that have something, or a negative errno. A signal counts
 * as a wake. */
static int wait_events(struct reactor_loop *loop, uint64_t deadline_ns)
{
	struct poll_engine *engine = loop->engine;
	struct timespec left, *timeout = engine_time_left(deadline_ns, &left);
	int n;

	engine->fds[AT_LISTENER] = (struct pollfd){
		.fd = engine->ready.accept_open ? engine->ready.listen_fd : -1, .events = POLLIN};
	n = ppoll(engine->fds, engine->used, timeout, NULL);
	loop->counters.syscalls++;
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n;
}

static int poll_run(struct reactor_loop *loop, uint64_t deadline_ns)
{
	struct poll_engine *engine = loop->engine;
	uint32_t used = engine->used;
	int n = wait_events(loop, ready_closes_due(loop) ? 0 : deadline_ns);
	eventfd_t wakes;

	if (n < 0)
		return n;
	for (uint32_t at = AT_SLOTS; at < used && n > 0; at++) {
		int revents = engine->fds[at].fd < 0 ? 0 : engine->fds[at].revents;

		if (!revents)
			continue;
		n--;
		ready_event(loop, at - AT_SLOTS, revents & (POLLIN | POLLHUP | POLLERR),
			    revents & (POLLOUT | POLLHUP | POLLERR));
	}
	if (engine->fds[AT_LISTENER].revents)
		ready_accept(loop);
	if (engine->fds[AT_WAKE].revents) {
		eventfd_read(engine->wake_fd, &wakes);
		loop->counters.syscalls++;
	}
	ready_finish_closes(loop);
	return 0;
}

static void poll_wake(struct reactor_loop *loop)
{
	const struct poll_engine *engine = loop->engine;

	engine_wake(engine->wake_fd);
}

static const struct reactor_ops poll_ops = {
	.name = "poll",
	.summary = "poll(2) over an array of all connections (the baseline)",
	.kernel_floor = "2.6.28",
	.kernel_conn_bytes = 0,
	.loop_size = sizeof(struct poll_engine),
	.conn_size = sizeof(struct ready_conn),
	.probe = poll_probe,
	.init = poll_init,
	.fini = poll_fini,
	.listen = ready_listen,
	.accept_gate = ready_accept_gate,
	.attach = poll_attach,
	.recv_gate = ready_recv_gate,
	.send = ready_send,
	.park = ready_park,
	.unpark = ready_unpark,
	.close = ready_close,
	.run = poll_run,
	.wake = poll_wake,
};

__attribute__((constructor)) static void register_poll(void)
{
	reactor_register(&poll_ops);
}
