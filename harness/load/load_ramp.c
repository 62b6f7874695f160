// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - the ramp of one worker: connects and handshakes, so many at a time. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/common/clock.h"
#include "harness/core/conn.h"
#include "harness/load/load_phase.h"
#include "harness/load/plan.h"

#define TLS13 0x0304
/* A server that has more to answer is not silent for so long. */
#define WAVE_STALL_MS 250

/* A signal (a worker with its own table of open files is woken by one) does not end a connect
 * but the wait for it. */
static int await_connected(int fd, unsigned timeout_s)
{
	struct pollfd connecting = {.fd = fd, .events = POLLOUT};
	int error = ETIMEDOUT;
	socklen_t len = sizeof(error);
	int rc;

	do
		rc = poll(&connecting, 1, (int)(timeout_s * 1000));
	while (rc < 0 && errno == EINTR);
	if (rc > 0)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	errno = error;
	return error ? -1 : 0;
}

static int connect_to(int fd, const struct load_worker *lw)
{
	int rc = connect(fd, (const struct sockaddr *)&lw->server, sizeof(lw->server));

	if (rc < 0 && errno == EINTR)
		rc = await_connected(fd, lw->worker.config.handshake_timeout_s);
	return rc;
}

/* Blocking, because on the loopback it never has to wait, and because with `plain` nothing but
 * the end of the connect says that the connection is there. The time-out bounds it all the
 * same: a SYN that is dropped is repeated only after a second. */
static int connect_from(const struct load_worker *lw, const struct sockaddr_in *source, int *error)
{
	const struct timeval timeout = {.tv_sec = lw->worker.config.handshake_timeout_s};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1;

	*error = errno;
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	/* An earlier run may have left the tuple in TIME_WAIT. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!bind(fd, (const struct sockaddr *)source, sizeof(*source)) && !connect_to(fd, lw))
		return fd;
	/* What connect(2) says when SO_SNDTIMEO ran out. */
	*error = errno == EINPROGRESS ? ETIMEDOUT : errno;
	close(fd);
	return -1;
}

static void start_one(struct load_worker *lw)
{
	struct worker *worker = &lw->worker;
	uint64_t start_ns = clock_now_ns();
	struct sockaddr_in source;
	struct conn *conn = NULL;
	int fd, error;

	plan_source(&lw->server, lw->first + lw->started++, &source);
	fd = connect_from(lw, &source, &error);
	if (fd >= 0)
		conn = conn_open(worker, fd, &error);
	if (!conn) {
		load_count(lw, errno_name(error));
		return;
	}
	((struct load_conn *)conn_app(conn))->start_ns = start_ns;
	lw->in_flight++;
	conn_output(worker, conn);
}

/* Those not yet tried are failures. */
static void give_up(struct load_worker *lw)
{
	uint32_t left = lw->quota - lw->started;

	lw->failed += left;
	tally_add(&lw->failures, lw->shared->halt_cause, left);
	lw->started = lw->quota;
}

/* Every socket that handshakes; how many. */
static nfds_t list_handshaking(const struct worker *worker, struct pollfd *fds)
{
	nfds_t count = 0;

	for (uint32_t slot = 0; slot < worker->slots.top; slot++)
		if (worker->slots.table[slot].fd >= 0 && !conn_is_open(worker, slot))
			fds[count++] = (struct pollfd){.fd = worker->slots.table[slot].fd,
						       .events = POLLIN};
	return count;
}

/* Until the server has answered everyone, or, having closed its gate, answers nobody any
 * more. Nothing is read meanwhile, so that none of the handshakes can end. */
static void await_answers(struct load_worker *lw)
{
	struct pollfd *fds = calloc(lw->in_flight + 1, sizeof(*fds));
	nfds_t left = fds ? list_handshaking(&lw->worker, fds) : 0;

	while (left && poll(fds, left, WAVE_STALL_MS) > 0) {
		nfds_t still = 0;

		for (nfds_t i = 0; i < left; i++)
			if (!fds[i].revents)
				fds[still++] = fds[i];
		left = still;
	}
	free(fds);
}

void load_ramp_turn(struct load_worker *lw)
{
	bool wave = lw->waves && !lw->in_flight && lw->started < lw->quota;

	if (lw->waves && lw->in_flight)
		return;
	while (lw->started < lw->quota && lw->in_flight < lw->in_flight_max &&
	       load_socket_free(lw)) {
		if (atomic_load(&lw->shared->halted))
			give_up(lw);
		else
			start_one(lw);
	}
	if (wave)
		await_answers(lw);
	if (lw->started == lw->quota && !lw->in_flight)
		load_phase_end(lw);
}

void load_worker_ramp(struct worker *worker, void *unused)
{
	struct load_worker *lw = load_worker(worker);

	(void)unused;
	load_phase_begin(lw, LOAD_RAMP);
	lw->started = lw->in_flight = 0;
	lw->handshakes.count = 0;
}

static void note_protocol(struct load_worker *lw, const struct conn *conn)
{
	struct tls_info info = {0};

	lw->worker.config.tls->info(conn->tls, &info);
	if (info.protocol == TLS13)
		lw->tls13++;
	else if (info.protocol)
		lw->other_protocol++;
	else
		lw->no_protocol++;
}

void load_ramp_established(struct worker *worker, struct conn *conn)
{
	struct load_worker *lw = load_worker(worker);
	struct load_conn *lc = conn_app(conn);

	load_count(lw, NULL);
	times_add(&lw->handshakes, lw->last_ns - lc->start_ns);
	lw->in_flight--;
	lw->open++;
	note_protocol(lw, conn);
}
