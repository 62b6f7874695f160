// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - c1m: level deep. build-pkg: libmnl
 * Source: harness/docs/deep.md; kernel net/ipv4/tcp_ipv4.c, net/netfilter/xt_socket.c.
 *
 * A parked connection's socket goes in two steps. First it gets the mark that makes the rules
 * hold its packets, and the connection enters the index: from then on whatever arrives comes
 * to this loop, which lets it pass while the socket is there. GRACE_MS later no packet can be
 * left on its way from the rules to the socket, and what the socket says of itself is final:
 * it is read out and closed, unless it turns out not to be idle. Nothing is dropped meanwhile.
 */
#include "reactors/c1m_deep.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "reactors/c1m_index.h"
#include "reactors/c1m_rules.h"
#include "reactors/c1m_service.h"
#include "reactors/engine.h"
#include "reactors/epoll_edge.h"

/* A softirq takes a packet from the rules to its socket in less than a microsecond, or in what
 * a hypervisor lets its CPU wait. */
enum { GRACE_MS = 20 };
/* Sockets dissolved in one turn, so that the other connections have theirs; and two for each that
 * was made since the last, so that they do not become more and more. */
enum { SINKS_PER_TURN = 64, SINKS_PER_WAKE = 2 };
/* Of packets, for the same reason; and how long a connection waits for them at most. */
enum { BATCHES_PER_TURN = 16, DRAIN_MS = 5 };
/* How long a lack of files or memory is remembered; how often it is looked whether there are rules.
 */
enum { PRESSURE_MS = 1000, START_MS = 10 };

enum state {
	AWAKE,    /* or parked for good with its socket */
	IDLE,     /* parked, in the line `idle` */
	LEAVING,  /* parked, in the line `leaving` and in the index; its packets are held */
	DEEP,     /* parked, in the index; no socket */
	DRAINING, /* parked or not, in the line `draining` and in the index; its packets are held */
	BROKEN,   /* parked or not; no socket, and no way to one */
};

static enum state state_of(const struct c1m_record *record)
{
	return record->flags >> C1M_STATE_SHIFT;
}

static void enter(struct c1m_record *record, enum state state)
{
	record->flags &= (1 << C1M_STATE_SHIFT) - 1;
	record->flags |= (uint8_t)(state << C1M_STATE_SHIFT);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t now_ms(void)
{
	return (uint32_t)(now_ns() / 1000000);
}

/* ---- lines ---- */

static void line_up(struct c1m_deep *deep, struct c1m_line *line, uint32_t slot)
{
	struct c1m_record *record = &deep->records[slot];

	record->wait.before = line->last;
	record->wait.after = ENGINE_NO_SLOT;
	record->wait.since_ms = now_ms();
	if (line->last == ENGINE_NO_SLOT)
		line->first = slot;
	else
		deep->records[line->last].wait.after = slot;
	line->last = slot;
}

static void step_out(struct c1m_deep *deep, struct c1m_line *line, uint32_t slot)
{
	const struct c1m_record *record = &deep->records[slot];

	if (record->wait.before == ENGINE_NO_SLOT)
		line->first = record->wait.after;
	else
		deep->records[record->wait.before].wait.after = record->wait.after;
	if (record->wait.after == ENGINE_NO_SLOT)
		line->last = record->wait.before;
	else
		deep->records[record->wait.after].wait.before = record->wait.before;
}

/* Milliseconds until the first of the line has waited for `wait_ms`; negative: since then.
 * INT32_MAX: the line is empty. */
static int32_t line_due(const struct c1m_deep *deep, const struct c1m_line *line, uint32_t wait_ms)
{
	if (line->first == ENGINE_NO_SLOT)
		return INT32_MAX;
	return (int32_t)(deep->records[line->first].wait.since_ms + wait_ms - now_ms());
}

/* Where a socket could not be made, those of idle connections are worth more than the time
 * that they save. And none may go before its packets would be held. */
static int32_t idle_due(const struct c1m_deep *deep)
{
	bool pressed = now_ms() - deep->pressed_ms < PRESSURE_MS && deep->idle_ms > GRACE_MS;
	int32_t due = line_due(deep, &deep->idle, pressed ? GRACE_MS : deep->idle_ms);

	return due < START_MS && !c1m_service_ready(deep->service) ? START_MS : due;
}

uint64_t c1m_deep_due_ns(const struct c1m_deep *deep)
{
	int32_t idle = idle_due(deep);
	int32_t leaving = line_due(deep, &deep->leaving, GRACE_MS);
	int32_t draining = line_due(deep, &deep->draining, 0);
	int32_t due = idle < leaving ? idle : leaving;

	due = draining < due ? draining : due;
	if (due == INT32_MAX)
		return UINT64_MAX;
	return now_ns() + (due > 0 ? (uint64_t)due * 1000000 : 0);
}

/* ---- from a socket to a record ---- */

static void mark(struct reactor_loop *loop, uint32_t slot, unsigned value)
{
	C1M_CALL(setsockopt(loop->slots[slot].fd, SOL_SOCKET, SO_MARK, &value, sizeof(value)));
}

static void go_idle(struct c1m_deep *deep, uint32_t slot)
{
	enter(&deep->records[slot], IDLE);
	line_up(deep, &deep->idle, slot);
}

/*
 * Segments that come straight to the socket should not overtake those that are held: the mark
 * stays, and other loops go on to bring us what they find of the connection, until our queue has
 * been empty. But for DRAIN_MS at most, since order is a matter of speed alone; which is why
 * nobody waits for what other loops may still have, either.
 */
static void drain(struct c1m_deep *deep, uint32_t slot)
{
	enter(&deep->records[slot], DRAINING);
	line_up(deep, &deep->draining, slot);
}

/* Nothing of it is held any more. */
static void let_come(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot)
{
	c1m_index_remove(c1m_handle(deep->space, slot));
	mark(loop, slot, 0);
	enter(&deep->records[slot], AWAKE);
}

static void drained(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot)
{
	step_out(deep, &deep->draining, slot);
	let_come(deep, loop, slot);
}

/* Keeps its socket until it is parked the next time. */
static void keep(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot)
{
	enter(&deep->records[slot], AWAKE);
	loop->counters.deep_kept++;
}

/* In the index before it is marked: packets that are held find it there. */
static void prepare_to_leave(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot)
{
	struct c1m_record *record = &deep->records[slot];
	int fd = loop->slots[slot].fd;
	int error = record->flags & C1M_NAMED ? 0 : c1m_tcp_name(fd, record);

	step_out(deep, &deep->idle, slot);
	if (!error)
		error = c1m_tcp_settled(fd);
	if (error == -EAGAIN) {
		go_idle(deep, slot);
		return;
	}
	if (error) {
		keep(deep, loop, slot);
		return;
	}
	enter(record, LEAVING);
	line_up(deep, &deep->leaving, slot);
	c1m_index_insert(c1m_handle(deep->space, slot));
	mark(loop, slot, C1M_MARK);
}

static void break_off(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot)
{
	c1m_index_remove(c1m_handle(deep->space, slot));
	enter(&deep->records[slot], BROKEN);
	loop->slots[slot].fd = REACTOR_FD_DEEP;
	loop->up->received(loop, slot, NULL, -ECONNABORTED);
}

static void leave(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot)
{
	struct c1m_record *record = &deep->records[slot];
	uint64_t start = now_ns();
	int error;

	step_out(deep, &deep->leaving, slot);
	error = c1m_tcp_read_out(loop->slots[slot].fd, record);
	if (!error) {
		enter(record, DEEP);
		loop->slots[slot].fd = REACTOR_FD_DEEP;
		loop->counters.deep_now++;
		loop->counters.deep_parked++;
		loop->counters.deep_parked_ns += now_ns() - start;
	} else if (error == -ECONNABORTED) {
		break_off(deep, loop, slot);
	} else {
		drain(deep, slot);
	}
}

static void sink(struct c1m_deep *deep, struct reactor_loop *loop)
{
	uint32_t most = SINKS_PER_TURN + SINKS_PER_WAKE * deep->woken;

	for (uint32_t i = 0; i < most && line_due(deep, &deep->leaving, GRACE_MS) <= 0; i++)
		leave(deep, loop, deep->leaving.first);
	for (uint32_t i = 0; i < most && idle_due(deep) <= 0; i++)
		prepare_to_leave(deep, loop, deep->idle.first);
	deep->woken = 0;
}

/* ---- and back ---- */

/*
 * Its packets are held while it is being made: half a socket would answer them, with a timestamp of
 * its own, after which the peer would drop all that comes from the whole one. It is in the set
 * before it can receive anything.
 */
static int restore(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot)
{
	uint64_t start = now_ns();
	int fd = c1m_blanks_take(&deep->blanks, C1M_MARK);
	int error = fd < 0 ? fd : c1m_tcp_restore(fd, &deep->records[slot]);

	if (error)
		return error;
	loop->slots[slot].fd = fd;
	error = epoll_edge_attach(loop, slot);
	if (error) {
		c1m_tcp_discard(fd);
		loop->slots[slot].fd = REACTOR_FD_DEEP;
		return error;
	}
	loop->counters.deep_now--;
	loop->counters.deep_woken++;
	deep->woken++;
	loop->counters.deep_woken_ns += now_ns() - start;
	return 0;
}

int c1m_deep_unparked(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot)
{
	struct c1m_record *record = &deep->records[slot];
	int error;

	switch (state_of(record)) {
	case IDLE:
		step_out(deep, &deep->idle, slot);
		enter(record, AWAKE);
		return 0;
	case LEAVING:
		step_out(deep, &deep->leaving, slot);
		drain(deep, slot);
		return 0;
	case DEEP:
		/* We speak first: nothing is held that could be overtaken, as far as we know, and
		 * the peer's answer need not wait for our next turn. */
		error = restore(deep, loop, slot);
		if (error)
			deep->pressed_ms = now_ms();
		else
			let_come(deep, loop, slot);
		return error;
	default:
		return 0;
	}
}

void c1m_deep_attached(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot)
{
	deep->records[slot].flags = 0; /* also unnamed */
	/* It has its listener's. */
	if (!deep->client)
		mark(loop, slot, 0);
}

void c1m_deep_parked(struct c1m_deep *deep, uint32_t slot)
{
	if (state_of(&deep->records[slot]) != DRAINING)
		go_idle(deep, slot);
}

void c1m_deep_closing(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot)
{
	struct c1m_record *record = &deep->records[slot];

	if (state_of(record) == DRAINING)
		drained(deep, loop, slot);
	if (state_of(record) == DEEP) {
		c1m_index_remove(c1m_handle(deep->space, slot));
		loop->counters.deep_now--;
	}
	*record = (struct c1m_record){0};
}

/* ---- packets that were held ---- */

struct held {
	struct c1m_queue *queue;
	uint32_t id;
};

/* No parked connection's: the kernel may have a socket for it by now, or a listener, or an
 * answer of its own. The index is locked, so that the socket can't leave before the packet
 * has got there. */
static void let_pass(void *arg)
{
	const struct held *held = arg;

	c1m_queue_accept(held->queue, held->id);
}

/* What has come is read before anything else is done: somebody waits for the answer. */
static int wake(struct c1m_deep *deep, struct reactor_loop *loop, uint32_t slot, uint32_t id)
{
	bool was_deep = state_of(&deep->records[slot]) == DEEP;
	int error = was_deep ? restore(deep, loop, slot) : 0;

	if (error) {
		deep->pressed_ms = now_ms();
		loop->counters.deep_dropped++;
		c1m_queue_drop(&deep->queue, id);
		return 0;
	}
	if (was_deep)
		drain(deep, slot);
	c1m_queue_accept(&deep->queue, id);
	return was_deep ? epoll_edge_event(loop, slot, EPOLLIN) : 0;
}

/* The kernel spreads packets over the queues as it likes; the connection's own loop gets it. */
static int sort(struct c1m_deep *deep, struct reactor_loop *loop, const struct c1m_packet *packet)
{
	struct held held = {&deep->queue, packet->id};
	uint32_t handle = c1m_index_find(&packet->tuple, let_pass, &held);

	if (handle == C1M_NOBODY)
		return 0;
	if (c1m_handle_space(handle) == deep->space)
		return wake(deep, loop, c1m_handle_slot(handle), packet->id);
	c1m_queue_forward(&deep->queue, packet->id, c1m_index_queue(c1m_handle_space(handle)));
	return 0;
}

int c1m_deep_packets(struct c1m_deep *deep, struct reactor_loop *loop)
{
	struct c1m_packet packets[C1M_QUEUE_BATCH];
	int count = c1m_queue_read(&deep->queue, packets);
	int error = 0;

	if (count == -ENOBUFS) {
		loop->counters.deep_dropped++;
		return 1; /* there are more than enough */
	}
	for (int i = 0; i < count && !error; i++)
		error = sort(deep, loop, &packets[i]);
	return error ? error : count;
}

/* 1: nothing is held; 0: there may be more; or a negative errno. */
static int empty_queue(struct c1m_deep *deep, struct reactor_loop *loop)
{
	for (int i = 0; i < BATCHES_PER_TURN; i++) {
		int count = c1m_deep_packets(deep, loop);

		if (count <= 0)
			return count < 0 ? count : 1;
	}
	return 0;
}

/* A connection that is parked by then is idle, as far as the core has seen what they brought. */
static int drain_all(struct c1m_deep *deep, struct reactor_loop *loop)
{
	int empty = 0;

	if (deep->draining.first != ENGINE_NO_SLOT)
		empty = empty_queue(deep, loop);
	while (line_due(deep, &deep->draining, empty > 0 ? 0 : DRAIN_MS) <= 0) {
		uint32_t slot = deep->draining.first;

		drained(deep, loop, slot);
		if (!loop->slots[slot].active)
			go_idle(deep, slot);
	}
	return empty < 0 ? empty : 0;
}

int c1m_deep_turn(struct c1m_deep *deep, struct reactor_loop *loop)
{
	int error;

	sink(deep, loop);
	error = drain_all(deep, loop);
	if (loop->counters.deep_now)
		c1m_blanks_fill(&deep->blanks, C1M_MARK);
	loop->counters.syscalls += c1m_calls;
	c1m_calls = 0;
	return error;
}

/* ---- begin and end ---- */

static size_t records_bytes(const struct reactor_loop *loop)
{
	return (size_t)loop->slot_max * sizeof(struct c1m_record);
}

int c1m_deep_listens(int listen_fd)
{
	unsigned value = C1M_MARK;

	return setsockopt(listen_fd, SOL_SOCKET, SO_MARK, &value, sizeof(value)) ? -errno : 0;
}

static int say(char *reason, size_t size, const char *what, int error)
{
	snprintf(reason, size, "%s: %s", what, strerror(-error));
	return error;
}

int c1m_deep_init(struct c1m_deep *deep, struct reactor_loop *loop,
		  const struct reactor_deep *config, char *reason, size_t reason_size)
{
	void *records = MAP_FAILED;
	int error;

	if (loop->slot_max <= C1M_SPACE_SLOTS)
		records = mmap(NULL, records_bytes(loop), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (records == MAP_FAILED)
		return say(reason, reason_size, "TCP records", -ENOMEM);
	madvise(records, records_bytes(loop), MADV_DONTDUMP);
	deep->records = records;
	deep->idle = deep->leaving = deep->draining =
		(struct c1m_line){ENGINE_NO_SLOT, ENGINE_NO_SLOT};
	deep->client = config->client;
	deep->idle_ms = (uint32_t)(config->idle_ns / 1000000);
	deep->pressed_ms = now_ms() - PRESSURE_MS;
	error = c1m_service_join(&deep->service, config, &deep->queue, reason, reason_size);
	if (error)
		goto no_service;
	error = c1m_index_open(records, deep->queue.number);
	if (error < 0) {
		say(reason, reason_size, "the index of parked connections", error);
		goto no_space;
	}
	deep->space = (uint32_t)error;
	return 0;

no_space:
	c1m_service_leave(deep->service, &deep->queue);
no_service:
	munmap(records, records_bytes(loop));
	deep->records = NULL;
	return error;
}

void c1m_deep_fini(struct c1m_deep *deep, const struct reactor_loop *loop)
{
	c1m_blanks_close(&deep->blanks);
	c1m_service_leave(deep->service, &deep->queue);
	c1m_index_close(deep->space);
	munmap(deep->records, records_bytes(loop));
}
