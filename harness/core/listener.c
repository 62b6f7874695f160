// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - a worker's listener. */
#include "harness/core/listener.h"

#include <errno.h>
#include <unistd.h>

#include "harness/core/worker.h"

/* As large as somaxconn may let it be: the kernel cuts it down. */
#define BACKLOG 65535
/* A full worker comes back with room for this part of what it held, so that it does not come
 * and go with every connection. */
#define ROOM_PART 64

static int bound_socket(const struct sockaddr *address, socklen_t len, bool share, int *out)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1, error;

	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) &&
	    (!share || !setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one))) &&
	    !bind(fd, address, len)) {
		*out = fd;
		return 0;
	}
	error = errno;
	close(fd);
	return -error;
}

int listener_port_free(const struct sockaddr *address, socklen_t len)
{
	int fd = -1, rc = bound_socket(address, len, false, &fd);

	if (!rc)
		close(fd);
	return rc;
}

int listener_open(struct worker *worker)
{
	const struct worker_config *c = &worker->config;
	int fd = -1, rc = bound_socket(c->listen_on, c->listen_on_len, true, &fd);

	if (rc)
		return rc;
	if (c->reactor->bound)
		rc = c->reactor->bound(&worker->loop, fd);
	if (!rc && listen(fd, BACKLOG))
		rc = -errno;
	if (!rc)
		rc = c->reactor->listen(&worker->loop, fd);
	if (rc) {
		close(fd);
		return rc;
	}
	worker->listener = (struct listener){.fd = fd, .open = true};
	if (worker->gate_full)
		c->reactor->accept_gate(&worker->loop, false);
	return 0;
}

/* shutdown(2), because the reactor may hold on to the file for a while yet: a ring does. */
void listener_close(struct worker *worker)
{
	struct listener *listener = &worker->listener;

	if (!listener->open)
		return;
	worker->config.reactor->accept_gate(&worker->loop, false);
	worker->gate_closed = false;
	shutdown(listener->fd, SHUT_RD);
	close(listener->fd);
	listener->open = false;
}

void listener_full(struct worker *worker)
{
	struct listener *listener = &worker->listener;

	if (!listener->open || listener->leave_due)
		return;
	worker->config.reactor->accept_gate(&worker->loop, false);
	worker->gate_closed = false;
	listener->leave_due = true;
}

/* Not in the upcall itself, where the engine is still busy with the listener. The file that it
 * gives up is the one that it comes back with. */
void listener_turn(struct worker *worker)
{
	struct listener *listener = &worker->listener;
	uint32_t in_use = worker->slots.in_use;
	uint32_t room = in_use / ROOM_PART + 1;

	if (!listener->leave_due)
		return;
	listener->leave_due = false;
	listener_close(worker);
	listener->left = true;
	listener->room_below = in_use > room ? in_use - room : 0;
	worker->counters.shed_listeners++;
}

void listener_tick(struct worker *worker)
{
	struct listener *listener = &worker->listener;

	if (listener->left && worker->slots.in_use <= listener->room_below)
		listener_open(worker); /* where it fails, at the next tick */
}
