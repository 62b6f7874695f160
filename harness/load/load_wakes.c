// SPDX-License-Identifier: Apache-2.0
/*
 * harness/load/ - waking parked connections, one at a time, and how long each takes to answer.
 *
 * What our own side does to wake is over before the clock starts: a connection is roused first,
 * its socket made again where there was none (level deep), and asks a pause later. By then our
 * queue of held packets is empty, so that the answer comes straight to the socket, and the
 * server sleeps.
 *
 * They are woken in bursts. Within one the server does not yet park again what was woken before
 * (at level deep: dissolve the socket), and in the rest that follows it does all of that, gives
 * memory back, and has nothing left to do: a wake is on its own.
 */
#include <time.h>

#include "harness/common/clock.h"
#include "harness/core/conn.h"
#include "harness/core/keys.h"
#include "harness/load/load_phase.h"

/* Before each request. */
#define PAUSE_NS NS_PER_MS
#define BURST_NS (WORKER_DEEP_IDLE_MS * NS_PER_MS / 2)
#define REST_NS (WORKER_DEEP_IDLE_MS * NS_PER_MS * 2)

/* A turn of the loop takes place all the same, for what our own parking has to do; a worker that
 * seems quiet would give memory back before each request. */
static void turn_again(struct load_worker *lw)
{
	lw->worker.activity++;
	lw->worker.config.reactor->wake(&lw->worker.loop);
}

/* Not longer than a pause at once: others want to hear of the worker. */
static void rest(uint64_t until_ns)
{
	uint64_t now = clock_now_ns();
	uint64_t wake_ns = until_ns < now + PAUSE_NS ? until_ns : now + PAUSE_NS;
	const struct timespec wake = {.tv_sec = (time_t)(wake_ns / NS_PER_S),
				      .tv_nsec = (long)(wake_ns % NS_PER_S)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
}

static void begin_burst(struct load_lap *lap)
{
	lap->rest_until_ns = clock_now_ns() + REST_NS;
	lap->burst_end_ns = lap->rest_until_ns + BURST_NS;
}

static void begin_lap(struct load_worker *lw)
{
	struct load_lap *lap = &lw->lap;

	lap->open = (uint32_t)lw->open;
	lap->wake = lap->due < lap->open ? lap->due : lap->open;
	lap->credit = lap->next = 0;
	begin_burst(lap);
}

static void rouse_next(struct load_worker *lw)
{
	struct worker *worker = &lw->worker;
	struct load_lap *lap = &lw->lap;

	while (lap->next < worker->slots.top) {
		uint32_t slot = lap->next++;

		if (!conn_is_open(worker, slot))
			continue;
		lap->credit += lap->wake;
		if (lap->credit < lap->open)
			continue;
		lap->credit -= lap->open;
		lap->due--;
		lap->roused = slot;
		keys_wake(worker, slot);
		lap->rest_until_ns = clock_now_ns() + PAUSE_NS;
		return;
	}
	begin_lap(lw);
}

static void ask(struct load_worker *lw)
{
	struct worker *worker = &lw->worker;
	uint32_t slot = lw->lap.roused;
	struct conn *conn = conn_is_open(worker, slot) ? keys_wake(worker, slot) : NULL;

	lw->lap.roused = SLOT_NONE;
	if (!conn) {
		load_count(lw, "lost before it asked");
		return;
	}
	load_expect(lw, conn, &lw->shared->request);
	lw->lap.asked_ns = clock_now_ns();
	conn_output(worker, conn);
}

/* Those that there is no connection for are failures. */
static void give_up(struct load_worker *lw)
{
	lw->failed += lw->lap.due;
	tally_add(&lw->failures, "no connection to wake", lw->lap.due);
	lw->lap.due = 0;
}

void load_wakes_turn(struct load_worker *lw)
{
	struct load_lap *lap = &lw->lap;

	if (lw->pending)
		return;
	if (clock_now_ns() < lap->rest_until_ns)
		rest(lap->rest_until_ns);
	else if (lap->roused != SLOT_NONE)
		ask(lw);
	else if (lap->due && clock_now_ns() >= lap->burst_end_ns)
		begin_burst(lap);
	else if (lap->due && lw->open)
		rouse_next(lw);
	else if (lap->due)
		give_up(lw);
	else
		load_phase_end(lw);
	if (lw->phase == LOAD_WAKES && !lw->pending)
		turn_again(lw);
}

void load_wakes_answered(struct load_worker *lw)
{
	times_add(&lw->wakes, lw->last_ns - lw->lap.asked_ns);
}

void load_worker_wakes(struct worker *worker, void *unused)
{
	struct load_worker *lw = load_worker(worker);

	(void)unused;
	load_phase_begin(lw, LOAD_WAKES);
	lw->lap = (struct load_lap){.due = lw->wakes.room, .roused = SLOT_NONE};
	begin_lap(lw);
}
