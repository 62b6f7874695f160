// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - a worker: its thread, loop and deadlines. */
#include "harness/core/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/common/clock.h"
#include "harness/core/conn.h"
#include "harness/core/keys.h"
#include "harness/core/mailbox.h"
#include "harness/core/trim.h"

/* Deadlines are kept in ticks of a second, in 16 bits: good for nine hours. */
#define TICK_NS NS_PER_S
/* When connections that have expired wait for their turn to be ended. */
#define RETRY_NS (10 * NS_PER_MS)
/* A worker is quiet when nothing happened for this long. */
#define QUIET_NS (200 * NS_PER_MS)

/* Level deep: connections that are to be ended get their sockets back a few at a time: neither
 * files nor memory for all of them are needed, and their peers' answers do not wait until they
 * are repeated. */
#define AWAKE_MAX 1024
#define WAKES_PER_TURN 64

/* The workers share the files of the process; half of them are for this. */
static uint32_t awake_max(const struct worker_config *config)
{
	uint32_t workers = config->deep.loops ? config->deep.loops : 1;
	struct rlimit files = {.rlim_cur = RLIM_INFINITY};
	uint64_t share;

	getrlimit(RLIMIT_NOFILE, &files);
	share = files.rlim_cur / 2 / workers;
	return share < AWAKE_MAX ? (uint32_t)share + 1 : AWAKE_MAX;
}

static bool room_to_wake(const struct worker *worker)
{
	return worker->slots.in_use - worker->loop.counters.deep_now < worker->awake_max;
}

/* ---- deadlines ---- */

static uint16_t tick_now(const struct worker *worker)
{
	return (uint16_t)((clock_now_ns() - worker->epoch_ns) / TICK_NS + 1);
}

void worker_deadline(struct worker *worker, uint32_t slot, unsigned seconds)
{
	struct reactor_slot *s = &worker->slots.table[slot];
	uint16_t tick;

	if (s->deadline)
		worker->deadlines--;
	s->deadline = 0;
	if (!seconds)
		return;
	/* One more: the current tick is already under way. 0 stands for none. */
	tick = (uint16_t)(tick_now(worker) + seconds + 1);
	s->deadline = tick ? tick : 1;
	worker->deadlines++;
}

static void expire(struct worker *worker)
{
	uint16_t now = tick_now(worker);

	for (uint32_t slot = 0; slot < worker->slots.top && worker->deadlines; slot++) {
		const struct reactor_slot *s = &worker->slots.table[slot];

		if (!s->deadline || (int16_t)(now - s->deadline) < 0)
			continue;
		if (s->fd == REACTOR_FD_DEEP && !room_to_wake(worker)) {
			worker->next_tick_ns = clock_now_ns() + RETRY_NS;
			return;
		}
		worker_deadline(worker, slot, 0);
		conn_expired(worker, slot);
	}
}

static void tick(struct worker *worker)
{
	uint64_t now = clock_now_ns();

	if (now < worker->next_tick_ns)
		return;
	worker->next_tick_ns = now + TICK_NS;
	if (worker->deadlines)
		expire(worker);
	listener_tick(worker);
	if (worker->gate_closed && !worker->stopping) {
		worker->gate_closed = false;
		if (!worker->gate_full)
			worker->config.reactor->accept_gate(&worker->loop, true);
	}
}

/* What handshakes, bursts of sends and closed connections freed goes back to the kernel once the
 * worker falls quiet, except at level hold, which keeps everything as the allocator has it, and
 * where it is not wanted. */
static void trim(struct worker *worker)
{
	if (!worker->trim_due)
		return;
	/* The clock, not two turns alike: a turn may be about something that no upcall tells of,
	 * such as the packet that makes a socket again at level deep. */
	if (worker->activity != worker->quiet_mark || !worker->quiet_at_ns) {
		worker->quiet_mark = worker->activity;
		worker->quiet_at_ns = clock_now_ns() + QUIET_NS;
		return;
	}
	if (clock_now_ns() < worker->quiet_at_ns)
		return;
	worker->trim_due = false;
	worker->quiet_at_ns = 0;
	if (worker->config.tls_config.park == PARK_HOLD || worker->config.no_trim)
		return;
	outbuf_drain(&worker->outbufs);
	keys_give_back(worker);
	slots_give_back(&worker->slots);
	trim_memory();
}

/* ---- the thread ---- */

/* As many as may be for now. */
static void stop_some(struct worker *worker)
{
	unsigned wakes = 0;

	for (; worker->stop_next < worker->slots.top; worker->stop_next++) {
		uint32_t slot = worker->stop_next;
		bool deep = worker->slots.table[slot].fd == REACTOR_FD_DEEP;
		struct conn *conn = NULL;

		if (deep && (wakes++ == WAKES_PER_TURN || !room_to_wake(worker)))
			return;
		if (worker->slots.table[slot].fd != REACTOR_FD_FREE)
			conn = keys_wake(worker, slot);
		if (conn)
			worker->stop_with(worker, conn);
	}
}

/* The next of them need not wait for what happens to others. */
static bool stop_due(const struct worker *worker)
{
	return worker->stop_next < worker->slots.top && room_to_wake(worker);
}

static void stop_all(struct worker *worker, void (*stop_with)(struct worker *, struct conn *))
{
	worker->stop_with = stop_with;
	worker->stop_next = 0;
	stop_some(worker);
}

static void cut_off(struct worker *worker, struct conn *conn)
{
	conn_close(worker, conn, "cut off at the stop");
}

void worker_stop(struct worker *worker, unsigned grace_s)
{
	worker->stopping = true;
	worker->next_tick_ns = clock_now_ns() + grace_s * NS_PER_S;
	listener_close(worker);
	worker->listener.left = false;
	stop_all(worker, conn_end);
}

/* While stopping, the next tick is the end of the grace. */
static void go_on_stopping(struct worker *worker)
{
	if (clock_now_ns() < worker->next_tick_ns) {
		stop_some(worker);
		return;
	}
	worker->next_tick_ns = NS_NEVER;
	stop_all(worker, cut_off);
}

static uint64_t next_deadline(const struct worker *worker)
{
	uint64_t deadline = NS_NEVER;

	if (worker->stopping)
		return stop_due(worker) ? 0 : worker->next_tick_ns;
	if (worker->deadlines || worker->gate_closed || worker->listener.left)
		deadline = worker->next_tick_ns;
	if (worker->trim_due) {
		uint64_t quiet = worker->quiet_at_ns;

		quiet = quiet ? quiet : clock_now_ns() + QUIET_NS;
		deadline = quiet < deadline ? quiet : deadline;
	}
	return deadline;
}

static int turn(struct worker *worker)
{
	int rc = worker->config.reactor->run(&worker->loop, next_deadline(worker));

	if (rc)
		return rc;
	listener_turn(worker);
	mailbox_answer(worker);
	if (worker->stopping)
		go_on_stopping(worker);
	else
		tick(worker);
	trim(worker);
	if (worker->config.app->turn)
		worker->config.app->turn(worker);
	return 0;
}

static void worker_ended(struct worker *worker, int error)
{
	pthread_mutex_lock(&worker->mutex);
	worker->error = error;
	worker->stopped = true;
	for (struct worker_call *call = worker->calls; call; call = call->next)
		call->done = true;
	worker->calls = NULL;
	pthread_cond_broadcast(&worker->answered);
	pthread_mutex_unlock(&worker->mutex);
}

struct worker_birth {
	struct worker *worker;
	char *reason;
	size_t reason_size;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	const char *step; /* what failed; NULL: the loop */
	bool ready;
	int error;
};

static void report_birth(struct worker_birth *birth, int error)
{
	pthread_mutex_lock(&birth->mutex);
	birth->error = error;
	birth->ready = true;
	pthread_cond_signal(&birth->changed);
	pthread_mutex_unlock(&birth->mutex);
}

/* Before anything of the worker's is opened. What others have open is no business of its: a
 * copy of a listener or a connection would live on here after its owner closed it. */
static int own_files(void)
{
	sigset_t wakes;

	if (close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_UNSHARE))
		return -errno;
	sigemptyset(&wakes);
	sigaddset(&wakes, SIGURG);
	return -pthread_sigmask(SIG_UNBLOCK, &wakes, NULL);
}

static int start_deep(struct worker *worker, struct worker_birth *birth)
{
	const struct reactor_ops *ops = worker->config.reactor;

	if (worker->config.tls_config.park != PARK_DEEP)
		return 0;
	if (ops->deep)
		return ops->deep(&worker->loop, &worker->config.deep, birth->reason,
				 birth->reason_size);
	snprintf(birth->reason, birth->reason_size,
		 "level deep needs a reactor that has it, such as c1m; %s has not", ops->name);
	return -EOPNOTSUPP;
}

static int start_loop(struct worker *worker, struct worker_birth *birth)
{
	const struct reactor_ops *ops = worker->config.reactor;
	int rc;

	if (worker->config.own_files) {
		birth->step = "its own table of open files (kernel 5.9)";
		rc = own_files();
		if (rc)
			return rc;
	}
	birth->step = NULL;
	rc = ops->init(&worker->loop);
	if (rc)
		return rc;
	if (worker->config.listen_on) {
		birth->step = "its listener";
		rc = listener_open(worker);
	}
	if (!rc) {
		birth->step = NULL;
		rc = start_deep(worker, birth);
	}
	if (rc)
		ops->fini(&worker->loop);
	return rc;
}

static void *worker_main(void *arg)
{
	struct worker_birth *birth = arg;
	struct worker *worker = birth->worker;
	int rc = start_loop(worker, birth);

	mailbox_open(rc ? NULL : worker);
	report_birth(birth, rc);
	if (rc)
		return NULL;
	while (!rc && !(worker->stopping && !worker->slots.in_use))
		rc = turn(worker);
	worker_ended(worker, rc);
	mailbox_open(NULL);
	if (!rc)
		worker->config.reactor->fini(&worker->loop);
	return NULL;
}

/* With the signals blocked that are the main thread's. */
static int start_thread(struct worker *worker, struct worker_birth *birth)
{
	sigset_t all, before;
	int rc = worker->config.own_files ? mailbox_allow_signals() : 0;

	if (rc)
		return rc;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	rc = -pthread_create(&worker->thread, NULL, worker_main, birth);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static int await_birth(struct worker *worker, char *reason, size_t reason_size)
{
	struct worker_birth birth = {
		.worker = worker, .reason = reason, .reason_size = reason_size};
	int rc;

	pthread_mutex_init(&birth.mutex, NULL);
	pthread_cond_init(&birth.changed, NULL);
	rc = start_thread(worker, &birth);
	if (rc)
		return rc;
	pthread_mutex_lock(&birth.mutex);
	while (!birth.ready)
		pthread_cond_wait(&birth.changed, &birth.mutex);
	pthread_mutex_unlock(&birth.mutex);
	if (!birth.error)
		return 0;
	pthread_join(worker->thread, NULL);
	if (birth.step)
		snprintf(reason, reason_size, "a worker can not have %s: %s", birth.step,
			 strerror(-birth.error));
	return birth.error;
}

static void release(struct worker *worker)
{
	if (worker->tls_ctx)
		worker->config.tls->ctx_free(worker->tls_ctx);
	outbuf_drain(&worker->outbufs);
	keys_fini(worker);
	slots_fini(&worker->slots);
	if (worker->loop.engine)
		munmap(worker->loop.engine, worker->config.reactor->loop_size);
	free(worker->plain);
}

/* Where calloc writes its zeroes, so that scratch which nobody uses costs memory. */
static void *map_zeroed(size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return bytes == MAP_FAILED ? NULL : bytes;
}

static int prepare(struct worker *worker, char *reason, size_t reason_size)
{
	int rc = slots_init(&worker->slots, worker->config.connections_max);

	if (!rc)
		rc = keys_init(worker, reason, reason_size);
	if (rc)
		return rc;
	worker->plain = malloc(TLS_RECORD_PLAIN_MAX);
	worker->loop = (struct reactor_loop){
		.ops = worker->config.reactor,
		.up = &conn_upcalls,
		.core = worker,
		.slots = worker->slots.table,
		.slot_max = worker->slots.max,
		.engine = map_zeroed(worker->config.reactor->loop_size),
	};
	if (!worker->plain || !worker->loop.engine)
		return -ENOMEM;
	return worker->config.tls->ctx_new(&worker->tls_ctx, &worker->config.tls_config, reason,
					   reason_size);
}

int worker_start(struct worker *worker, const struct worker_config *config, char *reason,
		 size_t reason_size)
{
	int rc;

	memset(worker, 0, sizeof(*worker));
	worker->config = *config;
	worker->epoch_ns = clock_now_ns();
	worker->awake_max = awake_max(config);
	pthread_mutex_init(&worker->mutex, NULL);
	pthread_cond_init(&worker->answered, NULL);
	*reason = '\0';
	rc = prepare(worker, reason, reason_size);
	if (!rc)
		rc = await_birth(worker, reason, reason_size);
	if (rc && !*reason)
		snprintf(reason, reason_size, "a worker on reactor %s can not start: %s",
			 config->reactor->name, strerror(-rc));
	if (rc)
		release(worker);
	return rc;
}

int worker_error(struct worker *worker)
{
	int error;

	pthread_mutex_lock(&worker->mutex);
	error = worker->error;
	pthread_mutex_unlock(&worker->mutex);
	return error;
}

void worker_join(struct worker *worker)
{
	pthread_join(worker->thread, NULL);
	release(worker);
}
