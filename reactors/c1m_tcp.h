/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - c1m: the TCP state of a connection without a socket. Source: kernel
 * net/ipv4/tcp.c (TCP_REPAIR), include/uapi/linux/tcp.h; CRIU's libsoccr and passt
 * take connections from one socket to another in the same way.
 */
#ifndef REACTORS_C1M_TCP_H
#define REACTORS_C1M_TCP_H

#include <stdint.h>

/* Which connection a packet belongs to, seen from our end; network byte order. */
struct c1m_tuple {
	uint32_t local_addr, peer_addr;
	uint16_t local_port, peer_port;
};

enum c1m_flags {
	C1M_NAMED = 1 << 0, /* the tuple is there */
	C1M_SACK = 1 << 1,
	C1M_TIMESTAMPS = 1 << 2,
	C1M_NODELAY = 1 << 3,
	C1M_STATE_SHIFT = 5, /* the three bits above are c1m_deep.c's */
};

/* At each slot of a loop. */
struct c1m_record {
	struct c1m_tuple tuple;
	uint32_t next; /* c1m_index.c's */
	union {
		struct {
			uint32_t send_seq, recv_seq; /* of the next byte each way */
			uint32_t snd_wl1, snd_wnd, max_window, rcv_wnd; /* tcp_repair_window */
			uint32_t timestamp; /* ours, as it was at time 0 of the clock */
		} tcp;
		struct {
			uint32_t before, after; /* slots in c1m_deep.c's queues */
			uint32_t since_ms;
		} wait; /* while there still is a socket */
	};
	uint16_t mss;
	uint8_t wscales; /* the peer's, ours << 4; 0 where none were negotiated */
	uint8_t flags;
};

_Static_assert(sizeof(struct c1m_record) == 48, "level deep promises 48 bytes of TCP state");

/* System calls of this thread for level deep, until c1m_deep.c counts them as its loop's. */
extern _Thread_local uint64_t c1m_calls;
#define C1M_CALL(call) (c1m_calls++, (call))

/* Can the caller repair sockets? Tried on one that is not connected. 0, or a negative errno. */
int c1m_tcp_probe(int fd);
/* Fills in the tuple. 0; -EAFNOSUPPORT: not IPv4; or another negative errno. */
int c1m_tcp_name(int fd, struct c1m_record *record);
/* 0: established, with nothing unread, unsent or unacknowledged in either direction, as far as
 * the socket can tell. -EAGAIN: not now. -EOPNOTSUPP: it has what a record can not hold. */
int c1m_tcp_settled(int fd);
/*
 * The socket becomes record->tcp, and is closed without a packet. 0 then; -EAGAIN,
 * -EOPNOTSUPP: as above, and the socket is as it was. -ECONNABORTED: it is closed, but
 * bytes had come in at the last moment, which are lost: the connection is broken.
 */
int c1m_tcp_read_out(int fd, struct c1m_record *record);
/* What can be done for c1m_tcp_restore before it is known for whom: a socket in repair mode, not
 * blocking, with that SO_MARK. Or a negative errno. */
int c1m_tcp_blank(unsigned mark);
/* The blank sockets of a loop, made while nobody waits for them: a few, for wakes that come
 * singly. */
struct c1m_blanks {
	int fds[8];
	uint32_t count;
};
/* As many as there can be; not even one is no error. */
void c1m_blanks_fill(struct c1m_blanks *blanks, unsigned mark);
/* One of them, or else a new one; or a negative errno. */
int c1m_blanks_take(struct c1m_blanks *blanks, unsigned mark);
void c1m_blanks_close(struct c1m_blanks *blanks);
/* A blank socket comes to that state; nothing is sent. 0; or a negative errno, and it is closed. */
int c1m_tcp_restore(int blank, const struct c1m_record *record);
/* Closes a socket, blank or not, without a packet. */
void c1m_tcp_discard(int fd);

#endif
