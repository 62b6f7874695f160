// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - the load generator: phases over workers. */
#include "harness/load/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/common/clock.h"
#include "harness/load/load_worker.h"
#include "harness/load/memory_guard.h"

/* Connections that are being closed at a time, all workers together. */
#define CLOSING_MAX 4096u
/* Level deep: those that are asked in a round, or closed. Each waits for its turn at the server to
 * be acknowledged, and a kernel that waits for longer than it is used to sends its last segment
 * once more (a tail loss probe): that of a FIN would find nobody, and draw an RST. */
#define AWAKE_MAX 256u
/* How often the memory floor is looked at. */
#define GUARD_NS (100 * NS_PER_MS)
/* A wake takes some tens of microseconds. */
#define WAKE_TICKS_PER_US 10

struct load {
	struct load_config config;
	struct load_shared shared;
	struct worker_call *calls;            /* one a worker: the phase under way */
	struct times handshakes;              /* of all workers, in order; made when asked for */
	struct times wakes;                   /* likewise */
	void (*run)(struct worker *, void *); /* what begins the phase */
	unsigned at_a_time;                   /* most workers in the phase */
	uint64_t guard_ns;                    /* when the memory floor is looked at next */
	unsigned started;
	unsigned stagger_s;
	unsigned begun; /* workers in the phase, or through with it */
	struct load_worker workers[];
};

/* ---- phases ---- */

static void set_off(struct load *load, void (*run)(struct worker *, void *), unsigned at_a_time)
{
	struct load_shared *shared = &load->shared;

	shared->start_ns = clock_now_ns();
	pthread_mutex_lock(&shared->mutex);
	shared->unfinished = load->started;
	pthread_mutex_unlock(&shared->mutex);
	load->run = run;
	load->at_a_time = at_a_time;
	load->stagger_s = 0;
	load->begun = 0;
	load->guard_ns = NS_NEVER;
}

static void begin_next(struct load *load)
{
	unsigned i = load->begun++;

	load->calls[i] = (struct worker_call){.run = load->run};
	worker_post(&load->workers[i].worker, &load->calls[i]);
}

/* Phases that all workers begin at once. */
static void begin(struct load *load, void (*run)(struct worker *, void *))
{
	set_off(load, run, load->started);
	while (load->begun < load->started)
		begin_next(load);
	for (unsigned i = 0; i < load->started; i++)
		worker_wait(&load->workers[i].worker, &load->calls[i]);
}

/* When the next worker may begin: by the stagger; NS_NEVER before another one is through.
 * `unfinished`: of load_shared. */
static uint64_t next_start_ns(const struct load *load, unsigned unfinished)
{
	unsigned under_way = load->begun + unfinished - load->started;
	double share = (double)load->begun / load->started;

	if (load->begun == load->started || under_way >= load->at_a_time)
		return NS_NEVER;
	return load->shared.start_ns + (uint64_t)(load->stagger_s * share * 1e9);
}

static unsigned unfinished(struct load_shared *shared)
{
	unsigned count;

	pthread_mutex_lock(&shared->mutex);
	count = shared->unfinished;
	pthread_mutex_unlock(&shared->mutex);
	return count;
}

static void begin_due(struct load *load)
{
	while (next_start_ns(load, unfinished(&load->shared)) <= clock_now_ns())
		begin_next(load);
}

/* A few times a second: a handshake takes some kilobytes. */
static void guard_memory(struct load *load)
{
	struct load_shared *shared = &load->shared;
	uint64_t bytes, now = clock_now_ns();

	if (now < load->guard_ns)
		return;
	load->guard_ns = now + GUARD_NS;
	if (memory_available(&bytes) || bytes >= load->config.memory_floor_bytes)
		return;
	snprintf(shared->halt_cause, sizeof(shared->halt_cause), "memory guard: %llu MiB left",
		 (unsigned long long)(bytes >> 20));
	atomic_store(&shared->halted, true);
	load->guard_ns = NS_NEVER;
}

void load_ramp(struct load *load)
{
	atomic_store(&load->shared.halted, false);
	set_off(load, load_worker_ramp, load->config.ramping_max);
	load->stagger_s = load->config.stagger_s;
	load->guard_ns = load->config.memory_floor_bytes ? 0 : NS_NEVER;
	guard_memory(load);
	begin_due(load);
}

void load_round(struct load *load)
{
	begin(load, load_worker_round);
}

void load_fetch(struct load *load, uint32_t bytes)
{
	char path[32];

	snprintf(path, sizeof(path), "/%u", bytes);
	request_init(&load->shared.history, path);
	begin(load, load_worker_fetch);
}

void load_key_update(struct load *load)
{
	begin(load, load_worker_key_update);
}

void load_active(struct load *load, double fraction, double seconds)
{
	load->shared.active_fraction = fraction;
	load->shared.active_end_ns = clock_now_ns() + (uint64_t)(seconds * NS_PER_S);
	begin(load, load_worker_active);
}

static uint32_t share(uint32_t total, unsigned parts, unsigned part)
{
	return total / parts + (part < total % parts);
}

/* One after the other: the next worker begins when the one before is through. */
int load_wakes(struct load *load, uint32_t count)
{
	int error;

	times_free(&load->wakes);
	error = times_init(&load->wakes, count, WAKE_TICKS_PER_US);
	for (unsigned i = 0; i < load->started && !error; i++) {
		struct times *times = &load->workers[i].wakes;

		times_free(times);
		error = times_init(times, share(count, load->started, i), WAKE_TICKS_PER_US);
	}
	if (error)
		return error;
	set_off(load, load_worker_wakes, 1);
	begin_due(load);
	return 0;
}

void load_close(struct load *load)
{
	begin(load, load_worker_close);
}

struct gathered {
	struct load_result *result;
	uint64_t last_ns;
};

static void add_worker(struct worker *worker, void *arg)
{
	const struct load_worker *lw = worker->config.app_data;
	struct gathered *sum = arg;

	sum->result->ok += lw->ok;
	sum->result->failed += lw->failed;
	sum->result->open += lw->open;
	sum->result->active += lw->active;
	if (lw->last_ns > sum->last_ns)
		sum->last_ns = lw->last_ns;
	tally_merge(&sum->result->failures, &lw->failures);
}

static void gather(struct load *load, struct load_result *result)
{
	struct gathered sum = {.result = result, .last_ns = load->shared.start_ns};

	*result = (struct load_result){0};
	for (unsigned i = 0; i < load->begun; i++)
		worker_call(&load->workers[i].worker, add_worker, &sum);
	result->seconds = (double)(sum.last_ns - load->shared.start_ns) / NS_PER_S;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Sleeps until a worker is through, or until then. Returns how many are not. */
static unsigned await_change(struct load_shared *shared, unsigned before, uint64_t until_ns)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
				       .tv_nsec = (long)(until_ns % NS_PER_S)};
	unsigned left;
	int rc = 0;

	pthread_mutex_lock(&shared->mutex);
	while (shared->unfinished == before && rc != ETIMEDOUT)
		rc = pthread_cond_clockwait(&shared->ended, &shared->mutex, CLOCK_MONOTONIC,
					    &until);
	left = shared->unfinished;
	pthread_mutex_unlock(&shared->mutex);
	return left;
}

static bool await_end(struct load *load, unsigned wait_ms)
{
	uint64_t until_ns = clock_now_ns() + wait_ms * NS_PER_MS;
	unsigned left = unfinished(&load->shared);

	while (left && clock_now_ns() < until_ns) {
		uint64_t wake_ns = earlier(until_ns, next_start_ns(load, left));

		left = await_change(&load->shared, left, earlier(wake_ns, load->guard_ns));
		guard_memory(load);
		begin_due(load);
	}
	return !left;
}

bool load_wait(struct load *load, unsigned wait_ms, struct load_result *result)
{
	bool ended = await_end(load, wait_ms);

	gather(load, result);
	return ended;
}

static void take_dropped(struct worker *worker, void *arg)
{
	struct load_worker *lw = worker->config.app_data;
	struct load_result *result = arg;

	result->failed += lw->dropped;
	result->open += lw->open;
	tally_merge(&result->failures, &lw->drops);
	lw->dropped = 0;
	lw->drops = (struct tally){0};
}

void load_dropped(struct load *load, struct load_result *result)
{
	*result = (struct load_result){0};
	for (unsigned i = 0; i < load->started; i++)
		worker_call(&load->workers[i].worker, take_dropped, result);
	result->ok = result->open;
}

/* ---- what was measured ---- */

const struct times *load_handshakes(struct load *load)
{
	load->handshakes.count = 0;
	for (unsigned i = 0; i < load->started; i++)
		times_append(&load->handshakes, &load->workers[i].handshakes);
	times_sort(&load->handshakes);
	return &load->handshakes;
}

const struct times *load_wake_times(struct load *load)
{
	load->wakes.count = 0;
	for (unsigned i = 0; i < load->started; i++)
		times_append(&load->wakes, &load->workers[i].wakes);
	times_sort(&load->wakes);
	return &load->wakes;
}

const char *load_protocol(const struct load *load)
{
	bool old = false, tls13 = false, none = false;

	for (unsigned i = 0; i < load->started; i++) {
		old |= load->workers[i].other_protocol != 0;
		tls13 |= load->workers[i].tls13 != 0;
		none |= load->workers[i].no_protocol != 0;
	}
	if (old + tls13 + none > 1)
		return "mixed";
	if (old)
		return "older than TLSv1.3";
	return tls13 ? "TLSv1.3" : "none";
}

/* ---- start and end ---- */

/* Its part of so many, and one at least. */
static uint32_t share_or_one(uint32_t total, unsigned parts, unsigned part)
{
	uint32_t mine = share(total, parts, part);

	return mine ? mine : 1;
}

/* Also where a connection keeps its socket: there it bounds nothing. */
static uint32_t sockets_max(const struct load_config *c, unsigned part)
{
	struct rlimit files = {0};
	uint32_t most = LOAD_DEEP_SOCKETS_MAX;

	if (c->park != PARK_DEEP)
		return UINT32_MAX;
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur / 2 < most)
		most = (uint32_t)files.rlim_cur / 2;
	return share_or_one(most, c->sizing.workers, part);
}

static void plan_worker(struct load *load, unsigned i)
{
	const struct load_config *c = &load->config;
	struct load_worker *lw = &load->workers[i];
	const struct load_worker *before = i ? &load->workers[i - 1] : NULL;

	lw->shared = &load->shared;
	lw->server = c->server;
	lw->first = before ? before->first + before->quota : c->first;
	lw->quota = share(c->sizing.connections, c->sizing.workers, i);
	lw->in_flight_max = share_or_one(c->in_flight, c->ramping_max, i % c->ramping_max);
	lw->waves = c->waves;
	lw->sockets_max = sockets_max(c, i);
	lw->awake_max = share_or_one(AWAKE_MAX, c->sizing.workers, i);
	lw->closing_max = c->park == PARK_DEEP ? lw->awake_max
					       : share_or_one(CLOSING_MAX, c->sizing.workers, i);
}

static int start_worker(struct load *load, char *reason, size_t reason_size)
{
	const struct load_config *c = &load->config;
	struct load_worker *lw = &load->workers[load->started];
	struct worker_config config = {
		/* c1m is epoll, and can do what level deep needs. */
		.reactor = reactor_find(c->park == PARK_DEEP ? "c1m" : "epoll"),
		.tls = c->tls,
		.tls_config = {.server = false, .park = c->park},
		.app = &load_app,
		.app_data = lw,
		.own_files = c->sizing.model == WORKER_TABLES,
		.handshake_timeout_s = c->timeout_s,
		.deep = {.service = c->server,
			 .client = true,
			 .loops = c->sizing.workers,
			 .idle_ns = WORKER_DEEP_IDLE_MS * NS_PER_MS},
	};
	int rc;

	plan_worker(load, load->started);
	config.connections_max = lw->quota + 1;
	rc = times_init(&lw->handshakes, lw->quota, 1);
	if (!rc)
		rc = worker_start(&lw->worker, &config, reason, reason_size);
	if (!rc)
		load->started++;
	else
		times_free(&lw->handshakes);
	return rc;
}

static int check(const struct load_config *config, char *reason, size_t reason_size)
{
	if (ntohl(config->server.sin_addr.s_addr) >> 24 != 127) {
		snprintf(reason, reason_size,
			 "the load generator only talks to servers in 127.0.0.0/8");
		return -EINVAL;
	}
	if (config->park == PARK_DEEP && !reactor_find("c1m")) {
		snprintf(reason, reason_size,
			 "level deep needs the reactor c1m, which is not in "
			 "this build: it needs libmnl-dev");
		return -EOPNOTSUPP;
	}
	return 0;
}

int load_start(struct load **out, const struct load_config *config, char *reason,
	       size_t reason_size)
{
	unsigned workers = config->sizing.workers;
	struct load *load;
	int rc = check(config, reason, reason_size);

	if (rc)
		return rc;
	load = calloc(1, sizeof(*load) + workers * sizeof(load->workers[0]));
	if (!load)
		return -ENOMEM;
	load->config = *config;
	load->calls = calloc(workers, sizeof(*load->calls));
	pthread_mutex_init(&load->shared.mutex, NULL);
	pthread_cond_init(&load->shared.ended, NULL);
	pthread_barrier_init(&load->shared.sent, NULL, workers);
	load->guard_ns = NS_NEVER;
	rc = request_init(&load->shared.request, config->path);
	if (rc)
		snprintf(reason, reason_size, "path \"%s\": / or /N is needed", config->path);
	if (!rc)
		rc = times_init(&load->handshakes, config->sizing.connections, 1);
	while (!rc && load->started < workers)
		rc = start_worker(load, reason, reason_size);
	if (rc)
		load_free(load);
	else
		*out = load;
	return rc;
}

static void stop_worker(struct worker *worker, void *arg)
{
	(void)arg;
	worker_stop(worker, 0);
}

void load_free(struct load *load)
{
	for (unsigned i = 0; i < load->started; i++) {
		worker_call(&load->workers[i].worker, stop_worker, NULL);
		worker_join(&load->workers[i].worker);
		times_free(&load->workers[i].handshakes);
		times_free(&load->workers[i].wakes);
	}
	pthread_barrier_destroy(&load->shared.sent);
	times_free(&load->handshakes);
	times_free(&load->wakes);
	free(load->calls);
	free(load);
}
