// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - uring: how bytes arrive (see uring.h): provided buffers, and the two
 * ways of receiving into them. Source: io_uring_register(2), io_uring_enter(2);
 * kernel io_uring/{net,kbuf}.c.
 * build-pkg: liburing >= 2.3
 */
#include "reactors/uring.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define BUFFER_GROUP 0

/* ---- provided buffers ---- */

int uring_register_buffers(struct io_uring *ring, void *provided)
{
	struct io_uring_buf_reg reg = {
		.ring_addr = (uintptr_t)provided,
		.ring_entries = URING_BUFFERS,
		.bgid = BUFFER_GROUP,
	};

	return io_uring_register_buf_ring(ring, &reg, 0);
}

static size_t mapping_bytes(const struct reactor_loop *loop)
{
	return URING_PROVIDED_BYTES + (size_t)URING_BUFFERS * URING_BUFFER_BYTES +
	       (size_t)loop->slot_max * (sizeof(uint32_t) + sizeof(uint8_t));
}

static void give_back(struct uring *uring, unsigned id)
{
	io_uring_buf_ring_add(uring->provided, uring->buffers + id * URING_BUFFER_BYTES,
			      URING_BUFFER_BYTES, (unsigned short)id,
			      io_uring_buf_ring_mask(URING_BUFFERS), 0);
	io_uring_buf_ring_advance(uring->provided, 1);
}

int uring_provide(struct reactor_loop *loop)
{
	struct uring *uring = loop->engine;
	uint8_t *memory = mmap(NULL, mapping_bytes(loop), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int error;

	if (memory == MAP_FAILED)
		return -errno;
	uring->provided = (void *)memory;
	uring->buffers = memory + URING_PROVIDED_BYTES;
	uring->starved = (void *)(uring->buffers + URING_BUFFERS * URING_BUFFER_BYTES);
	uring->state = (void *)(uring->starved + loop->slot_max);
	error = uring_register_buffers(&uring->ring, uring->provided);
	if (error) {
		munmap(memory, mapping_bytes(loop));
		return error;
	}
	io_uring_buf_ring_init(uring->provided);
	for (unsigned id = 0; id < URING_BUFFERS; id++)
		give_back(uring, id);
	return 0;
}

void uring_unprovide(struct reactor_loop *loop)
{
	struct uring *uring = loop->engine;

	munmap(uring->provided, mapping_bytes(loop));
}

/* ---- what comes of a receive ---- */

bool uring_wants(const struct reactor_loop *loop, uint32_t slot)
{
	const struct uring_conn *conn = loop->slots[slot].active;

	return !conn || !(conn->closing || conn->ended || conn->gated);
}

static void starve(struct reactor_loop *loop, uint32_t slot)
{
	struct uring *uring = loop->engine;
	uint64_t place = (uint64_t)uring->starved_head + uring->starved_count;

	if (uring->state[slot] & URING_STARVED)
		return;
	uring->state[slot] |= URING_STARVED;
	uring->starved[place % loop->slot_max] = slot;
	uring->starved_count++;
}

/* At the end of a turn, when buffers are back: so many of the starved ask again. If
 * completions not yet looked at hold buffers still, some of them come back here. A
 * slot that stands in the queue from a former life is harmless. */
void uring_feed(struct reactor_loop *loop)
{
	struct uring *uring = loop->engine;

	for (unsigned i = uring->reads_out; i < URING_BUFFERS && uring->starved_count; i++) {
		uint32_t slot = uring->starved[uring->starved_head];

		uring->starved_head = (uring->starved_head + 1) % loop->slot_max;
		uring->starved_count--;
		uring->state[slot] &= ~URING_STARVED;
		if (loop->slots[slot].fd >= 0 && uring_wants(loop, slot))
			uring->kind->ask(loop, slot);
	}
}

static bool tell(struct reactor_loop *loop, uint32_t slot, const uint8_t *bytes, ssize_t n)
{
	struct uring_conn *conn = loop->slots[slot].active;

	/* A send that failed took the socket's error away from the receive. */
	if (conn && conn->send_error && conn->send_error != -EPIPE && (n == 0 || n == -ENOTCONN))
		n = conn->send_error;
	loop->up->received(loop, slot, bytes, n);
	conn = loop->slots[slot].active; /* parked or unparked meanwhile */
	if (n <= 0 && conn)
		conn->ended = true;
	return n > 0;
}

bool uring_deliver(struct reactor_loop *loop, const struct io_uring_cqe *cqe)
{
	struct uring *uring = loop->engine;
	uint32_t slot = reactor_tag_slot(cqe->user_data);
	const struct uring_conn *conn = loop->slots[slot].active;
	unsigned id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
	bool goes_on = true;

	if (conn && (conn->closing || conn->ended))
		goes_on = false;
	else if (cqe->res == -ENOBUFS)
		starve(loop, slot);
	else if (cqe->res != -ECANCELED && !uring_transient(cqe->res))
		goes_on = tell(loop, slot, uring->buffers + id * URING_BUFFER_BYTES, cqe->res);
	if (cqe->flags & IORING_CQE_F_BUFFER)
		give_back(uring, id);
	return goes_on;
}

/* ---- receive: one multishot request for many receives ---- */

void uring_stream_ask(struct reactor_loop *loop, uint32_t slot)
{
	struct uring *uring = loop->engine;
	struct io_uring_sqe *sqe;

	if (uring->state[slot] & (URING_WATCHED | URING_STARVED))
		return;
	uring->state[slot] |= URING_WATCHED;
	sqe = uring_sqe(loop, reactor_slot_tag(loop, REACTOR_OP_CONN, slot));
	io_uring_prep_recv_multishot(sqe, -1, NULL, 0, 0);
	uring_aim(loop, sqe, slot);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = BUFFER_GROUP;
}

int uring_stream_attach(struct reactor_loop *loop, uint32_t slot)
{
	int error = uring_attach(loop, slot);

	if (error == 0)
		uring_stream_ask(loop, slot);
	return error;
}

/* Without F_MORE the request is over, whatever its result: no buffer was left, no
 * room for completions, or the gate was closed and may be open again. */
void uring_stream_event(struct reactor_loop *loop, const struct io_uring_cqe *cqe)
{
	struct uring *uring = loop->engine;
	uint32_t slot = reactor_tag_slot(cqe->user_data);

	if (!(cqe->flags & IORING_CQE_F_MORE))
		uring->state[slot] &= ~URING_WATCHED;
	if (uring_deliver(loop, cqe) && uring_wants(loop, slot))
		uring_stream_ask(loop, slot);
}

int uring_stream_gate(struct reactor_loop *loop, uint32_t slot, bool open)
{
	const struct uring *uring = loop->engine;
	struct uring_conn *conn = loop->slots[slot].active;

	if (conn->gated == !open)
		return 0;
	conn->gated = !open;
	if (!open && uring->state[slot] & URING_WATCHED)
		uring_cancel(loop, reactor_slot_tag(loop, REACTOR_OP_CONN, slot));
	if (open && uring_wants(loop, slot))
		uring_stream_ask(loop, slot);
	return 0;
}

/* ---- receive: one request a time, of slots that are ready ---- */

void uring_read(struct reactor_loop *loop, uint32_t slot)
{
	struct uring *uring = loop->engine;
	uint8_t *state = &uring->state[slot];
	struct io_uring_sqe *sqe;

	*state |= URING_DUE;
	if (*state & URING_READING || !uring_wants(loop, slot))
		return;
	if (uring->reads_out == URING_BUFFERS) {
		starve(loop, slot);
		return;
	}
	*state = (*state & ~URING_DUE) | URING_READING;
	uring->reads_out++;
	sqe = uring_sqe(loop, reactor_slot_tag(loop, URING_OP_READ, slot));
	io_uring_prep_recv(sqe, -1, NULL, URING_BUFFER_BYTES, MSG_DONTWAIT);
	uring_aim(loop, sqe, slot);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = BUFFER_GROUP;
}

void uring_ready(struct reactor_loop *loop, uint32_t slot, bool ends)
{
	struct uring *uring = loop->engine;

	if (ends)
		uring->state[slot] |= URING_ENDS;
	uring_read(loop, slot);
}

/* A receive that filled its buffer may have left bytes behind. */
void uring_on_read(struct reactor_loop *loop, const struct io_uring_cqe *cqe)
{
	struct uring *uring = loop->engine;
	uint32_t slot = reactor_tag_slot(cqe->user_data);

	uring->state[slot] &= ~URING_READING;
	uring->reads_out--;
	if (cqe->res == URING_BUFFER_BYTES || cqe->flags & IORING_CQE_F_SOCK_NONEMPTY ||
	    (cqe->res > 0 && uring->state[slot] & URING_ENDS))
		uring->state[slot] |= URING_DUE;
	if (!uring_deliver(loop, cqe))
		return;
	if (uring->state[slot] & URING_DUE)
		uring_read(loop, slot);
	else if (uring->kind->drained && !(uring->state[slot] & URING_STARVED))
		uring->kind->drained(loop, slot);
}

int uring_read_gate(struct reactor_loop *loop, uint32_t slot, bool open)
{
	const struct uring *uring = loop->engine;
	struct uring_conn *conn = loop->slots[slot].active;

	conn->gated = !open;
	if (uring->state[slot] & URING_DUE)
		uring_read(loop, slot);
	return 0;
}
