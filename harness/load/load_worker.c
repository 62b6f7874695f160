// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - one worker of the load generator. */
#include "harness/load/load_worker.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/common/clock.h"
#include "harness/core/conn.h"
#include "harness/core/keys.h"
#include "harness/load/plan.h"

#define TLS13 0x0304
/* A server that has more to answer is not silent for so long. */
#define WAVE_STALL_MS 250

/* The app's bytes of a connection. */
struct load_conn {
	uint64_t start_ns;         /* of the connect; while it is being established */
	struct response *response; /* while one is expected; ours */
	size_t request_sent;
	bool new_keys; /* the response must come under keys that the server has changed */
};

static struct load_worker *load_worker(const struct worker *worker)
{
	return worker->config.app_data;
}

/* ---- phases ---- */

static void begin_phase(struct load_worker *lw, enum load_phase phase)
{
	lw->phase = phase;
	lw->ok = lw->failed = 0;
	lw->pending = 0;
	lw->last_ns = lw->shared->start_ns;
	lw->failures = (struct tally){0};
}

static void end_phase(struct load_worker *lw)
{
	struct load_shared *shared = lw->shared;

	lw->phase = LOAD_IDLE;
	pthread_mutex_lock(&shared->mutex);
	shared->unfinished--;
	pthread_cond_signal(&shared->ended);
	pthread_mutex_unlock(&shared->mutex);
}

static void count(struct load_worker *lw, const char *failure)
{
	lw->last_ns = clock_now_ns();
	if (failure) {
		lw->failed++;
		tally_add(&lw->failures, failure, 1);
	} else {
		lw->ok++;
	}
}

/* One of the pending results has come. */
static void settle_one(struct load_worker *lw, const char *failure)
{
	count(lw, failure);
	lw->pending--;
}

/* ---- ramp ---- */

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
		count(lw, errno_name(error));
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

static void ramp_on(struct load_worker *lw)
{
	bool wave = lw->waves && !lw->in_flight && lw->started < lw->quota;

	if (lw->waves && lw->in_flight)
		return;
	while (lw->started < lw->quota && lw->in_flight < lw->in_flight_max) {
		if (atomic_load(&lw->shared->halted))
			give_up(lw);
		else
			start_one(lw);
	}
	if (wave)
		await_answers(lw);
	if (lw->started == lw->quota && !lw->in_flight)
		end_phase(lw);
}

void load_worker_ramp(struct worker *worker, void *unused)
{
	struct load_worker *lw = load_worker(worker);

	(void)unused;
	begin_phase(lw, LOAD_RAMP);
	lw->started = lw->in_flight = 0;
	lw->sample_count = 0;
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

static void on_established(struct worker *worker, struct conn *conn)
{
	struct load_worker *lw = load_worker(worker);
	struct load_conn *lc = conn_app(conn);

	count(lw, NULL);
	lw->samples_us[lw->sample_count++] = (uint32_t)((lw->last_ns - lc->start_ns) / NS_PER_US);
	lw->in_flight--;
	lw->open++;
	note_protocol(lw, conn);
}

/* ---- rounds ---- */

/* The request leaves with the connection's next output. */
static void expect(struct load_worker *lw, struct conn *conn, const struct request *request)
{
	struct load_conn *lc = conn_app(conn);

	lw->pending++;
	lc->response = malloc(sizeof(*lc->response));
	if (!lc->response) {
		conn_close(&lw->worker, conn, "ENOMEM");
		return;
	}
	response_init(lc->response, request);
	lc->request_sent = 0;
}

static void ask(struct load_worker *lw, struct conn *conn)
{
	expect(lw, conn, &lw->shared->request);
	conn_output(&lw->worker, conn);
}

static void for_all_open(struct load_worker *lw, void (*act)(struct load_worker *, struct conn *))
{
	struct worker *worker = &lw->worker;

	for (uint32_t slot = 0; slot < worker->slots.top; slot++) {
		struct conn *conn = conn_is_open(worker, slot) ? keys_wake(worker, slot) : NULL;

		if (conn)
			act(lw, conn);
	}
}

/* Nothing is read before the requests of all workers have left: input is only seen by the
 * reactor's run, which is not called before this returns. */
void load_worker_round(struct worker *worker, void *unused)
{
	struct load_worker *lw = load_worker(worker);

	(void)unused;
	begin_phase(lw, LOAD_ROUND);
	for_all_open(lw, ask);
	pthread_barrier_wait(&lw->shared->sent);
}

/* So many of the open connections, evenly spread over the table. */
static void ask_some(struct load_worker *lw, uint64_t count)
{
	struct worker *worker = &lw->worker;
	uint64_t open = lw->open, seen = 0;

	if (!open)
		return;
	for (uint32_t slot = 0; slot < worker->slots.top; slot++) {
		struct conn *conn;

		if (!conn_is_open(worker, slot))
			continue;
		seen++;
		if (seen * count / open == (seen - 1) * count / open)
			continue;
		conn = keys_wake(worker, slot);
		if (conn)
			ask(lw, conn);
	}
}

void load_worker_active(struct worker *worker, void *unused)
{
	struct load_worker *lw = load_worker(worker);
	double share = lw->shared->active_fraction * (double)lw->open;

	(void)unused;
	begin_phase(lw, LOAD_ACTIVE);
	lw->active = lw->open && share < 1 ? 1 : (uint32_t)(share + 0.5);
	if (lw->active)
		ask_some(lw, lw->active);
}

/* ---- sweeps: bounded, so that what is under way does not count as what a connection keeps
 * ---- */

static void fetch(struct load_worker *lw, struct conn *conn)
{
	expect(lw, conn, &lw->shared->history);
	conn_output(&lw->worker, conn);
}

/* Our KeyUpdate asks for the server's, which it owes us before its next application data
 * (RFC 8446 section 4.6.3): so a request behind ours brings it, however lazy a library is.
 */
static void update_keys(struct load_worker *lw, struct conn *conn)
{
	((struct load_conn *)conn_app(conn))->new_keys = true;
	conn_update_keys(conn);
	ask(lw, conn);
}

static void sweep_on(struct load_worker *lw)
{
	struct worker *worker = &lw->worker;

	while (lw->next < worker->slots.top && lw->pending < lw->in_flight_max) {
		uint32_t slot = lw->next++;
		struct conn *conn = conn_is_open(worker, slot) ? keys_wake(worker, slot) : NULL;

		if (conn)
			lw->act(lw, conn);
	}
	if (!lw->pending)
		end_phase(lw);
}

static void begin_sweep(struct load_worker *lw, void (*act)(struct load_worker *, struct conn *))
{
	begin_phase(lw, LOAD_SWEEP);
	lw->act = act;
	lw->next = 0;
}

void load_worker_fetch(struct worker *worker, void *unused)
{
	(void)unused;
	begin_sweep(load_worker(worker), fetch);
}

void load_worker_key_update(struct worker *worker, void *unused)
{
	(void)unused;
	begin_sweep(load_worker(worker), update_keys);
}

/* ---- requests and responses ---- */

static size_t on_produce(struct worker *worker, struct conn *conn, uint8_t *buf, size_t size)
{
	const struct request *request;
	struct load_conn *lc = conn_app(conn);
	size_t len;

	(void)worker;
	if (!lc->response)
		return 0;
	request = lc->response->request;
	len = request->len - lc->request_sent;
	if (len > size)
		len = size;
	memcpy(buf, request->text + lc->request_sent, len);
	lc->request_sent += len;
	return len;
}

static void forget_response(struct load_conn *lc)
{
	free(lc->response);
	lc->response = NULL;
}

static void on_data(struct worker *worker, struct conn *conn, const uint8_t *bytes, size_t len)
{
	struct load_worker *lw = load_worker(worker);
	struct load_conn *lc = conn_app(conn);

	if (!lc->response) {
		conn_close(worker, conn, "bytes that nobody asked for");
		return;
	}
	if (!response_input(lc->response, bytes, len))
		return;
	if (lc->new_keys && keys_await_update(worker, conn))
		lc->response->wrong = "the server did not update its keys";
	if (lc->response->wrong) {
		conn_close(worker, conn, lc->response->wrong);
		return;
	}
	lc->new_keys = false;
	forget_response(lc);
	conn_progress(conn);
	settle_one(lw, NULL);
	if (lw->phase == LOAD_ACTIVE && lw->last_ns < lw->shared->active_end_ns)
		expect(lw, conn, &lw->shared->request);
}

static bool on_busy(const struct worker *worker, const struct conn *conn)
{
	const struct load_conn *lc = conn_app(conn);

	(void)worker;
	return lc->response != NULL;
}

static void on_idle(struct worker *worker, struct conn *conn)
{
	(void)worker;
	(void)conn;
}

/* ---- close ---- */

static void finish(struct load_worker *lw, struct conn *conn)
{
	lw->pending++;
	conn_end(&lw->worker, conn);
}

/* A few at a time: a connection whose server takes longer than the core lingers would
 * answer the server's last words with a reset. */
static void close_on(struct load_worker *lw)
{
	struct worker *worker = &lw->worker;

	while (lw->close_slot < worker->slots.top && lw->pending < lw->closing_max) {
		uint32_t slot = lw->close_slot++;
		struct conn *conn = conn_is_open(worker, slot) ? keys_wake(worker, slot) : NULL;

		if (conn)
			finish(lw, conn);
	}
	if (!lw->pending)
		end_phase(lw);
}

void load_worker_close(struct worker *worker, void *unused)
{
	struct load_worker *lw = load_worker(worker);

	(void)unused;
	begin_phase(lw, LOAD_CLOSE);
	lw->close_slot = 0;
}

/* ---- the end of a connection, and of a phase ---- */

static void on_gone(struct worker *worker, struct conn *conn, const char *cause)
{
	struct load_worker *lw = load_worker(worker);
	struct load_conn *lc = conn_app(conn);
	const char *why = cause ? cause : "closed by the server";

	if (conn->state == CONN_HANDSHAKE) {
		lw->in_flight--;
		count(lw, why);
		return;
	}
	lw->open--;
	if (lc->response) {
		settle_one(lw, why);
	} else if (lw->phase == LOAD_CLOSE && conn->last_words) {
		settle_one(lw, cause);
	} else {
		lw->dropped++;
		tally_add(&lw->drops, why, 1);
	}
	forget_response(lc);
}

static void on_turn(struct worker *worker)
{
	struct load_worker *lw = load_worker(worker);

	if (lw->phase == LOAD_RAMP)
		ramp_on(lw);
	else if (lw->phase == LOAD_SWEEP)
		sweep_on(lw);
	else if (lw->phase == LOAD_CLOSE)
		close_on(lw);
	else if (lw->phase != LOAD_IDLE && !lw->pending)
		end_phase(lw);
}

const struct app_ops load_app = {
	.conn_size = sizeof(struct load_conn),
	.established = on_established,
	.data = on_data,
	.produce = on_produce,
	.busy = on_busy,
	.idle = on_idle,
	.gone = on_gone,
	.turn = on_turn,
};
