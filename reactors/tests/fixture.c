// SPDX-License-Identifier: Apache-2.0
/* reactors/tests/ - a small core for tests of the contract. */
#include "reactors/tests/fixture.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	STEP_NS = 2000000, /* peers are not in the loop's set: look often */
	DEEP_STEPS = 20,   /* for one: a parked connection has lost its socket after them */
	PEER_CHUNK = 64 * 1024,
	CANARY_BYTES = 16,
	CANARY = 0xa5,
};

static uint8_t pattern[BED_PATTERN];

void bed_fill_pattern(void)
{
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)((i * 2654435761u) >> 24);
}

uint64_t bed_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bed_check(struct bed *bed, bool held, const char *fault)
{
	if (!held && bed->fault[0] == '\0')
		snprintf(bed->fault, sizeof(bed->fault), "%s", fault);
}

static void fail_unwritten(struct bed *bed)
{
	static const struct reactor_ops *told;
	const struct reactor_ops *ops = bed->loop.ops;

	if (told == ops) {
		skip();
		return;
	}
	told = ops;
	fail_msg("'%s' of %s answers -ENOSYS: it is not written yet. Write it next; what it "
		 "has to do is said at (*%s) in reactors/reactor.h",
		 bed->unwritten, ops->name, bed->unwritten);
}

int bed_answer(struct bed *bed, const char *op, int answer)
{
	if (answer == -ENOSYS && !bed->unwritten)
		bed->unwritten = op;
	if (bed->unwritten && !bed->in_run)
		fail_unwritten(bed);
	return answer;
}

/* The reactor's private bytes, then ours: a canary, to see that it knows its size. */
static void *new_active(struct bed *bed)
{
	size_t size = bed->loop.ops->conn_size;
	uint8_t *active = calloc(1, size + CANARY_BYTES);

	if (!active)
		abort();
	memset(active + size, CANARY, CANARY_BYTES);
	return active;
}

static void free_active(struct bed *bed, uint32_t slot)
{
	uint8_t *active = bed->loop.slots[slot].active;

	for (size_t i = 0; active && i < CANARY_BYTES; i++)
		bed_check(bed, active[bed->loop.ops->conn_size + i] == CANARY,
			  "the reactor wrote beyond conn_size");
	free(active);
	bed->loop.slots[slot].active = NULL;
}

static void enter_upcall(struct bed *bed)
{
	bed_check(bed, bed->in_run, "an upcall outside of run");
	bed_check(bed, !bed->in_upcall, "an upcall inside of another");
	bed->in_upcall = true;
	bed->upcalls++;
}

int64_t bed_attach(struct bed *bed, int fd)
{
	struct reactor_slot *slots = bed->loop.slots;
	uint32_t slot = 0;
	int error;

	while (slots[slot].fd != REACTOR_FD_FREE)
		slot++;
	slots[slot].fd = fd;
	slots[slot].generation++;
	slots[slot].active = new_active(bed);
	bed->conns[slot] = (struct bed_conn){.end = END_NONE};
	error = bed_answer(bed, "attach", bed->loop.ops->attach(&bed->loop, slot));
	if (error) {
		free_active(bed, slot);
		slots[slot].fd = REACTOR_FD_FREE;
		return error;
	}
	bed->last_slot = slot;
	return slot;
}

static void on_accepted(struct reactor_loop *loop, int fd)
{
	struct bed *bed = loop->core;

	enter_upcall(bed);
	if (fd < 0) {
		bed->accept_error = fd;
		bed->accept_errors++;
	} else {
		bed->accepted++;
		if (bed->hold_accepted)
			bed->held_fd = fd;
		else
			bed_check(bed, bed_attach(bed, fd) >= 0, "attach failed");
		if (bed->accepted == bed->accept_limit)
			bed_answer(bed, "accept_gate", loop->ops->accept_gate(loop, false));
	}
	bed->in_upcall = false;
}

static void on_received(struct reactor_loop *loop, uint32_t slot, const uint8_t *bytes, ssize_t n)
{
	struct bed *bed = loop->core;
	struct bed_conn *conn = &bed->conns[slot];

	enter_upcall(bed);
	bed_check(bed, loop->slots[slot].fd != REACTOR_FD_FREE, "received for a free slot");
	bed_check(bed, !conn->closing, "received after close");
	bed_check(bed, conn->end == END_NONE, "received after the end");
	if (!loop->slots[slot].active)
		conn->parked_upcalls++;
	if (n > 0) {
		bed_check(bed, conn->received + (size_t)n <= sizeof(pattern), "too many bytes");
		bed_check(bed, memcmp(bytes, pattern + conn->received, (size_t)n) == 0,
			  "received other bytes than were sent");
		conn->received += (size_t)n;
	} else {
		conn->end = (int)n;
	}
	if (bed->on_received)
		bed->on_received(bed, slot, n);
	bed->in_upcall = false;
}

static void on_sent(struct reactor_loop *loop, uint32_t slot, int error)
{
	struct bed *bed = loop->core;
	struct bed_conn *conn = &bed->conns[slot];

	enter_upcall(bed);
	bed_check(bed, conn->sending, "sent without a pending send");
	bed_check(bed, !conn->closing, "sent after close");
	conn->sending = false;
	conn->sents++;
	conn->sent_error = error;
	if (bed->on_sent)
		bed->on_sent(bed, slot);
	bed->in_upcall = false;
}

static void on_closed(struct reactor_loop *loop, uint32_t slot)
{
	struct bed *bed = loop->core;

	enter_upcall(bed);
	bed_check(bed, bed->conns[slot].closing, "closed without a close");
	bed_check(bed, fcntl(loop->slots[slot].fd, F_GETFD) < 0, "closed, but its fd is open");
	free_active(bed, slot);
	loop->slots[slot].fd = REACTOR_FD_FREE;
	bed->closed++;
	bed->in_upcall = false;
}

static const struct reactor_upcalls upcalls = {
	.accepted = on_accepted,
	.received = on_received,
	.sent = on_sent,
	.closed = on_closed,
};

const struct reactor_upcalls *const bed_upcalls = &upcalls;

int bed_send(struct bed *bed, uint32_t slot, size_t len)
{
	struct bed_conn *conn = &bed->conns[slot];
	int status;

	bed_check(bed, conn->queued + len <= sizeof(pattern), "the test sends too much");
	status = bed_answer(bed, "send",
			    bed->loop.ops->send(&bed->loop, slot, pattern + conn->queued, len));
	if (status >= 0)
		conn->queued += len;
	if (status == REACTOR_PENDING)
		conn->sending = true;
	return status;
}

int bed_park(struct bed *bed, uint32_t slot)
{
	int error = bed_answer(bed, "park", bed->loop.ops->park(&bed->loop, slot));

	if (error == 0)
		free_active(bed, slot);
	return error;
}

void bed_unpark(struct bed *bed, uint32_t slot)
{
	int error;

	bed->loop.slots[slot].active = new_active(bed);
	error = bed_answer(bed, "unpark", bed->loop.ops->unpark(&bed->loop, slot));
	bed_check(bed, error == 0, "unpark failed");
}

void bed_close_conn(struct bed *bed, uint32_t slot)
{
	int error;

	if (!bed->loop.slots[slot].active)
		bed_unpark(bed, slot);
	bed->conns[slot].closing = true;
	error = bed_answer(bed, "close", bed->loop.ops->close(&bed->loop, slot));
	bed_check(bed, error == 0, "close failed");
}

void bed_peer_write(struct bed_peer *peer)
{
	while (peer->sent < peer->to_send) {
		ssize_t n = send(peer->fd, pattern + peer->sent, peer->to_send - peer->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0)
			return;
		peer->sent += (size_t)n;
	}
}

static void peer_read(struct bed *bed, struct bed_peer *peer)
{
	static uint8_t bytes[PEER_CHUNK];

	while (peer->end == END_NONE) {
		ssize_t n = recv(peer->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			peer->end = n < 0 ? -errno : 0;
			return;
		}
		bed_check(bed,
			  peer->received + (size_t)n <= sizeof(pattern) &&
				  memcmp(bytes, pattern + peer->received, (size_t)n) == 0,
			  "the peer got other bytes than were sent");
		peer->received += (size_t)n;
	}
}

static void note_pause(struct bed *bed)
{
	uint64_t now = bed_now_ns();

	if (bed->last_step_ns && now - bed->last_step_ns > bed->longest_pause_ns)
		bed->longest_pause_ns = now - bed->last_step_ns;
	bed->last_step_ns = now;
}

void bed_step(struct bed *bed)
{
	int error;

	note_pause(bed);
	for (unsigned i = 0; i < bed->peer_count; i++) {
		struct bed_peer *peer = &bed->peers[i];

		if (peer->fd >= 0)
			bed_peer_write(peer);
		if (peer->fd >= 0 && !peer->deaf)
			peer_read(bed, peer);
	}
	bed->in_run = true;
	error = bed->loop.ops->run(&bed->loop, bed_now_ns() + STEP_NS);
	bed->in_run = false;
	bed_answer(bed, "run", error);
	if (bed->fault[0])
		fail_msg("%s", bed->fault);
	assert_int_equal(error, 0);
}

void bed_steps(struct bed *bed, unsigned count)
{
	if (bed->deep)
		count *= DEEP_STEPS;
	while (count-- > 0)
		bed_step(bed);
}

uint16_t bed_port(int listen_fd)
{
	struct sockaddr_in address = {0};
	socklen_t size = sizeof(address);

	assert_int_equal(getsockname(listen_fd, (struct sockaddr *)&address, &size), 0);
	return ntohs(address.sin_port);
}

int bed_listener(uint16_t *port, int backlog)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, backlog), 0);
	*port = bed_port(fd);
	return fd;
}

int bed_start_connect(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				      .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		assert_int_equal(errno, EINPROGRESS);
	return fd;
}

struct bed_peer *bed_add_peer(struct bed *bed, int fd)
{
	struct bed_peer *peer = &bed->peers[bed->peer_count++];

	assert_true(bed->peer_count <= BED_SLOTS);
	*peer = (struct bed_peer){.fd = fd, .end = END_NONE};
	return peer;
}

/* On loopback the handshake is over when connect returns: the backlog has it. */
struct bed_peer *bed_connect(struct bed *bed)
{
	return bed_add_peer(bed, bed_start_connect(bed_port(bed->listen_fd)));
}

uint32_t bed_pair(struct bed *bed, struct bed_peer **peer)
{
	unsigned accepted = bed->accepted;

	*peer = bed_connect(bed);
	bed_until(bed, bed->accepted == accepted + 1);
	return bed->last_slot;
}

void bed_reset(struct bed_peer *peer)
{
	struct linger now = {.l_onoff = 1, .l_linger = 0};

	assert_int_equal(setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
	close(peer->fd);
	peer->fd = -1;
}
