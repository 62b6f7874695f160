// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - one worker of the load generator. */
#include "harness/load/load_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/common/clock.h"
#include "harness/core/conn.h"
#include "harness/core/keys.h"
#include "harness/load/load_phase.h"

/* ---- phases ---- */

void load_phase_begin(struct load_worker *lw, enum load_phase phase)
{
	lw->phase = phase;
	lw->ok = lw->failed = 0;
	lw->pending = 0;
	lw->last_ns = lw->shared->start_ns;
	lw->failures = (struct tally){0};
}

void load_phase_end(struct load_worker *lw)
{
	struct load_shared *shared = lw->shared;

	lw->phase = LOAD_IDLE;
	pthread_mutex_lock(&shared->mutex);
	shared->unfinished--;
	pthread_cond_signal(&shared->ended);
	pthread_mutex_unlock(&shared->mutex);
}

bool load_socket_free(const struct load_worker *lw)
{
	const struct worker *worker = &lw->worker;

	return worker->slots.in_use - worker->loop.counters.deep_now < lw->sockets_max;
}

void load_count(struct load_worker *lw, const char *failure)
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
	load_count(lw, failure);
	lw->pending--;
}

/* ---- rounds ---- */

void load_expect(struct load_worker *lw, struct conn *conn, const struct request *request)
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
	load_expect(lw, conn, &lw->shared->request);
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
	load_phase_begin(lw, LOAD_ACTIVE);
	lw->active = lw->open && share < 1 ? 1 : (uint32_t)(share + 0.5);
	if (lw->active)
		ask_some(lw, lw->active);
}

/* ---- sweeps: bounded, so that what is under way does not count as what a connection keeps
 * ---- */

static void fetch(struct load_worker *lw, struct conn *conn)
{
	load_expect(lw, conn, &lw->shared->history);
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

	while (lw->next < worker->slots.top && lw->pending < lw->sweep_max &&
	       load_socket_free(lw)) {
		uint32_t slot = lw->next++;
		struct conn *conn = conn_is_open(worker, slot) ? keys_wake(worker, slot) : NULL;

		if (conn)
			lw->act(lw, conn);
	}
	if (!lw->pending && lw->next >= worker->slots.top)
		load_phase_end(lw);
}

static void begin_sweep(struct load_worker *lw, uint32_t max,
			void (*act)(struct load_worker *, struct conn *))
{
	load_phase_begin(lw, LOAD_SWEEP);
	lw->act = act;
	lw->sweep_max = max;
	lw->next = 0;
}

void load_worker_fetch(struct worker *worker, void *unused)
{
	(void)unused;
	begin_sweep(load_worker(worker), load_worker(worker)->in_flight_max, fetch);
}

void load_worker_key_update(struct worker *worker, void *unused)
{
	(void)unused;
	begin_sweep(load_worker(worker), load_worker(worker)->in_flight_max, update_keys);
}

/* Nothing is read before the requests of all workers have left: input is only seen by the
 * reactor's run, which is not called before this returns. At level deep only so many are awake
 * at a time: for all of them there may be no files. */
void load_worker_round(struct worker *worker, void *unused)
{
	struct load_worker *lw = load_worker(worker);

	(void)unused;
	if (worker->config.tls_config.park == PARK_DEEP) {
		begin_sweep(lw, lw->awake_max, ask);
		return;
	}
	load_phase_begin(lw, LOAD_ROUND);
	for_all_open(lw, ask);
	pthread_barrier_wait(&lw->shared->sent);
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
		load_expect(lw, conn, &lw->shared->request);
	else if (lw->phase == LOAD_WAKES)
		load_wakes_answered(lw);
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

	while (lw->close_slot < worker->slots.top && lw->pending < lw->closing_max &&
	       load_socket_free(lw)) {
		uint32_t slot = lw->close_slot++;
		struct conn *conn = conn_is_open(worker, slot) ? keys_wake(worker, slot) : NULL;

		if (conn)
			finish(lw, conn);
	}
	if (!lw->pending && lw->close_slot >= worker->slots.top)
		load_phase_end(lw);
}

void load_worker_close(struct worker *worker, void *unused)
{
	struct load_worker *lw = load_worker(worker);

	(void)unused;
	load_phase_begin(lw, LOAD_CLOSE);
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
		load_count(lw, why);
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
		load_ramp_turn(lw);
	else if (lw->phase == LOAD_SWEEP)
		sweep_on(lw);
	else if (lw->phase == LOAD_WAKES)
		load_wakes_turn(lw);
	else if (lw->phase == LOAD_CLOSE)
		close_on(lw);
	else if (lw->phase != LOAD_IDLE && !lw->pending)
		load_phase_end(lw);
}

const struct app_ops load_app = {
	.conn_size = sizeof(struct load_conn),
	.established = load_ramp_established,
	.data = on_data,
	.produce = on_produce,
	.busy = on_busy,
	.idle = on_idle,
	.gone = on_gone,
	.turn = on_turn,
};
