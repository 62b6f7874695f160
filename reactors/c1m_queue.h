/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - c1m: a netfilter queue: packets that the kernel holds until it is told what to do
 * with each. Source: kernel net/netfilter/nfnetlink_queue.c, include/uapi/linux/netfilter/.
 *
 * Thread: the one that opened it. Errors: negative errno.
 */
#ifndef REACTORS_C1M_QUEUE_H
#define REACTORS_C1M_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reactors/c1m_tcp.h"

enum { C1M_QUEUE_BATCH = 64, C1M_QUEUE_MESSAGE_BYTES = 512 };

struct mnl_socket;

struct c1m_queue {
	struct mnl_socket *socket;
	uint16_t number;
	_Alignas(8) uint8_t messages[C1M_QUEUE_BATCH][C1M_QUEUE_MESSAGE_BYTES];
};

struct c1m_packet {
	uint32_t id;
	struct c1m_tuple tuple; /* as the receiver has it */
};

/* -EPERM: somebody else reads that queue, or CAP_NET_ADMIN is missing. */
int c1m_queue_open(struct c1m_queue *queue, uint16_t number);
/* The first multiple of `step` that nobody reads. */
int c1m_queue_open_free(struct c1m_queue *queue, unsigned step);
/* Why one of them has failed, in words, and what helps. */
void c1m_queue_explain(int error, char *reason, size_t reason_size);
/* What it still holds is dropped. */
void c1m_queue_close(struct c1m_queue *queue);
/* Ready when packets are there. */
int c1m_queue_fd(const struct c1m_queue *queue);
/* How many of packets[C1M_QUEUE_BATCH] have come; does not wait. -ENOBUFS: some were dropped
 * for want of room. */
int c1m_queue_read(struct c1m_queue *queue, struct c1m_packet *packets);

/* The packet goes on its way, which it has gone when this returns. */
int c1m_queue_accept(struct c1m_queue *queue, uint32_t id);
int c1m_queue_drop(struct c1m_queue *queue, uint32_t id);
/* It is put into another queue. */
int c1m_queue_forward(struct c1m_queue *queue, uint32_t id, uint16_t number);

#endif
