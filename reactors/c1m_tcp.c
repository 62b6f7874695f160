// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - c1m: from a TCP socket to its state and back.
 * build-pkg: libmnl
 * Source: kernel net/ipv4/tcp.c, tcp_ipv4.c, ip_sockglue.c; tcp(7), ip(7).
 *
 * linux/tcp.h, not netinet/tcp.h: the latter lacks struct tcp_repair_window.
 */
#include "reactors/c1m_tcp.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Kernel-internal numbers that TCP_INFO and TCP_REPAIR_OPTIONS speak in. */
enum { STATE_ESTABLISHED = 1, KIND_MSS = 2, KIND_WINDOW = 3, KIND_SACK = 4, KIND_TIMESTAMP = 8 };

/* Of tcpi_options, newer than many a linux/tcp.h: timestamps count microseconds. */
#define OPTION_USEC_TS 64

/* What a new socket has room for at once, less than tcp_rmem's default. */
#define ROOM_BYTES 65536u

_Thread_local uint64_t c1m_calls;

static int set(int fd, int option, int value)
{
	return C1M_CALL(setsockopt(fd, IPPROTO_TCP, option, &value, sizeof(value))) ? -errno : 0;
}

static int get(int fd, int option, void *value, socklen_t size)
{
	return C1M_CALL(getsockopt(fd, IPPROTO_TCP, option, value, &size)) ? -errno : 0;
}

/*
 * Ends repair mode without a packet. It has cleared SO_REUSEADDR, which accepted sockets have
 * from their listener and clients that choose their ports set: what is in TIME_WAIT without
 * it keeps the next server from its port.
 */
static int end_repair(int fd)
{
	int error = set(fd, TCP_REPAIR, TCP_REPAIR_OFF_NO_WP), one = 1;

	if (!error && C1M_CALL(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one))))
		error = -errno;
	return error;
}

int c1m_tcp_probe(int fd)
{
	int error = set(fd, TCP_REPAIR, TCP_REPAIR_ON);

	return error ? error : end_repair(fd);
}

int c1m_tcp_name(int fd, struct c1m_record *record)
{
	struct sockaddr_in local = {0}, peer = {0};
	socklen_t local_size = sizeof(local), peer_size = sizeof(peer);

	if (C1M_CALL(getsockname(fd, (struct sockaddr *)&local, &local_size)) ||
	    C1M_CALL(getpeername(fd, (struct sockaddr *)&peer, &peer_size)))
		return -errno;
	if (local.sin_family != AF_INET || peer.sin_family != AF_INET)
		return -EAFNOSUPPORT;
	record->tuple = (struct c1m_tuple){local.sin_addr.s_addr, peer.sin_addr.s_addr,
					   local.sin_port, peer.sin_port};
	record->flags |= C1M_NAMED;
	return 0;
}

/* ---- reading out ---- */

/* Bytes that have come in take memory until they are read, also those behind a hole: these the
 * peer has been told of (SACK), and to take that back costs it a timeout. */
static int holds_input(int fd, bool *holds)
{
	uint32_t memory[SK_MEMINFO_VARS] = {0};
	socklen_t size = sizeof(memory);

	if (C1M_CALL(getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &size)))
		return -errno;
	*holds = memory[SK_MEMINFO_RMEM_ALLOC] != 0;
	return 0;
}

/* ECN can not be switched on again, and the peer would go on to count on it. */
static int judge(int fd, const struct tcp_info *info)
{
	int unacknowledged = 0, error;
	bool unread = true;

	if (info->tcpi_options & (TCPI_OPT_ECN | TCPI_OPT_ECN_SEEN))
		return -EOPNOTSUPP;
	error = holds_input(fd, &unread);
	if (!error && C1M_CALL(ioctl(fd, SIOCOUTQ, &unacknowledged)))
		error = -errno;
	if (error)
		return error;
	if (info->tcpi_state != STATE_ESTABLISHED || info->tcpi_ca_state != TCP_CA_Open ||
	    info->tcpi_unacked || info->tcpi_notsent_bytes || unread || unacknowledged)
		return -EAGAIN;
	return 0;
}

int c1m_tcp_settled(int fd)
{
	struct tcp_info info;
	int error = get(fd, TCP_INFO, &info, sizeof(info));

	return error ? error : judge(fd, &info);
}

static int get_sequence(int fd, int queue, uint32_t *sequence)
{
	int error = set(fd, TCP_REPAIR_QUEUE, queue);

	return error ? error : get(fd, TCP_QUEUE_SEQ, sequence, sizeof(*sequence));
}

/* rcv_wup is how far we have told the peer that we have read: short of recv_seq, an
 * acknowledgement is still due. */
static int read_windows(int fd, struct c1m_record *record)
{
	struct tcp_repair_window window;
	int error = get(fd, TCP_REPAIR_WINDOW, &window, sizeof(window));

	if (error)
		return error;
	if (window.rcv_wup != record->tcp.recv_seq)
		return -EAGAIN;
	record->tcp.snd_wl1 = window.snd_wl1;
	record->tcp.snd_wnd = window.snd_wnd;
	record->tcp.max_window = window.max_window;
	record->tcp.rcv_wnd = window.rcv_wnd;
	return 0;
}

/*
 * The kernel's clock of TCP timestamps, less its bit 0: since Linux 6.7 that bit of
 * TCP_TIMESTAMP says, in both directions, whether they count microseconds (where a route has
 * the feature tcp_usec_ts) or milliseconds. A record has it in the same place.
 */
static uint32_t timestamp_clock(bool microseconds)
{
	struct timespec now;
	uint64_t value;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (microseconds)
		value = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	else
		value = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	return (uint32_t)value & ~1u;
}

/* How far the clock may have gone on, in its ticks, from when it is read until it is used: not
 * at all, were it not that microseconds always have. */
static uint32_t timestamp_slack(bool microseconds)
{
	return microseconds ? 1000 : 0;
}

/*
 * A timestamp must never step back, or the peer would drop what bears it as a segment of a former
 * lap (PAWS, RFC 7323 section 5). So the clock is read first, since we may lose the CPU before the
 * socket's is, and what the two lose by rounding, and set_timestamp by its slack, is made up for.
 */
static int read_timestamp(int fd, bool microseconds, struct c1m_record *record)
{
	uint32_t clock = timestamp_clock(microseconds), value;
	int error = get(fd, TCP_TIMESTAMP, &value, sizeof(value));

	if (error)
		return error;
	value = (value + timestamp_slack(microseconds) + 2) & ~1u;
	record->tcp.timestamp = (value - clock) | microseconds;
	return 0;
}

static int read_state(int fd, struct c1m_record *record)
{
	struct tcp_info info;
	int error, mss = 0, nodelay = 0;

	if ((error = get(fd, TCP_INFO, &info, sizeof(info))) || (error = judge(fd, &info)) ||
	    (error = get_sequence(fd, TCP_SEND_QUEUE, &record->tcp.send_seq)) ||
	    (error = get_sequence(fd, TCP_RECV_QUEUE, &record->tcp.recv_seq)) ||
	    (error = read_windows(fd, record)) ||
	    (error = read_timestamp(fd, info.tcpi_options & OPTION_USEC_TS, record)) ||
	    (error = get(fd, TCP_MAXSEG, &mss, sizeof(mss))) ||
	    (error = get(fd, TCP_NODELAY, &nodelay, sizeof(nodelay))))
		return error;
	record->mss = (uint16_t)mss; /* in repair mode: the peer's, not what is left of it */
	record->wscales = (uint8_t)(info.tcpi_snd_wscale | info.tcpi_rcv_wscale << 4);
	record->flags &= (uint8_t) ~(C1M_SACK | C1M_TIMESTAMPS | C1M_NODELAY);
	record->flags |= info.tcpi_options & TCPI_OPT_SACK ? C1M_SACK : 0;
	record->flags |= info.tcpi_options & TCPI_OPT_TIMESTAMPS ? C1M_TIMESTAMPS : 0;
	record->flags |= nodelay ? C1M_NODELAY : 0;
	return 0;
}

/* Disconnected in repair mode a socket goes without a packet, and can still be asked what
 * it had received when it went. */
static int leave(int fd, uint32_t recv_seq)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};
	uint32_t last = 0;
	int error = C1M_CALL(connect(fd, &none, sizeof(none))) ? -errno : 0;

	if (!error)
		error = get(fd, TCP_QUEUE_SEQ, &last, sizeof(last));
	C1M_CALL(close(fd));
	return error || last != recv_seq ? -ECONNABORTED : 0;
}

int c1m_tcp_read_out(int fd, struct c1m_record *record)
{
	int error = set(fd, TCP_REPAIR, TCP_REPAIR_ON);

	if (error)
		return error;
	error = read_state(fd, record);
	if (!error)
		return leave(fd, record->tcp.recv_seq);
	end_repair(fd);
	return error;
}

/* ---- making it again ---- */

int c1m_tcp_blank(unsigned mark)
{
	int fd = C1M_CALL(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	int error;

	if (fd < 0)
		return -errno;
	error = C1M_CALL(setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark))) ? -errno : 0;
	if (!error && !(error = set(fd, TCP_NODELAY, 1)) &&
	    !(error = set(fd, TCP_REPAIR, TCP_REPAIR_ON)) &&
	    !(error = set(fd, TCP_REPAIR_QUEUE, TCP_SEND_QUEUE)))
		return fd;
	C1M_CALL(close(fd));
	return error;
}

void c1m_blanks_fill(struct c1m_blanks *blanks, unsigned mark)
{
	while (blanks->count < sizeof(blanks->fds) / sizeof(*blanks->fds)) {
		int fd = c1m_tcp_blank(mark);

		if (fd < 0)
			return;
		blanks->fds[blanks->count++] = fd;
	}
}

int c1m_blanks_take(struct c1m_blanks *blanks, unsigned mark)
{
	return blanks->count ? blanks->fds[--blanks->count] : c1m_tcp_blank(mark);
}

void c1m_blanks_close(struct c1m_blanks *blanks)
{
	while (blanks->count)
		C1M_CALL(close(blanks->fds[--blanks->count]));
}

/* A blank socket's queue is the one for sending. */
static int set_sequences(int fd, const struct c1m_record *record)
{
	int error;

	if ((error = set(fd, TCP_QUEUE_SEQ, (int)record->tcp.send_seq)) ||
	    (error = set(fd, TCP_REPAIR_QUEUE, TCP_RECV_QUEUE)))
		return error;
	return set(fd, TCP_QUEUE_SEQ, (int)record->tcp.recv_seq);
}

static struct sockaddr_in address(uint32_t addr, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = addr, .sin_port = port};
}

/* Trap: TCP_REPAIR lets bind pass by whoever else has the port (SK_FORCE_REUSE), which
 * SO_REUSEADDR would undo before. */
static int set_ends(int fd, const struct c1m_tuple *tuple)
{
	const struct sockaddr_in local = address(tuple->local_addr, tuple->local_port);
	const struct sockaddr_in peer = address(tuple->peer_addr, tuple->peer_port);

	if (C1M_CALL(bind(fd, (const struct sockaddr *)&local, sizeof(local))) ||
	    C1M_CALL(connect(fd, (const struct sockaddr *)&peer, sizeof(peer))))
		return -errno;
	return 0;
}

/* Trap: connect has chosen a scale for our window, which the kernel applies even where none was
 * negotiated, until it is told that it is 0. */
static int set_options(int fd, const struct c1m_record *record)
{
	uint32_t scales = (record->wscales & 15u) | (uint32_t)(record->wscales >> 4) << 16;
	struct tcp_repair_opt options[4] = {{KIND_MSS, record->mss}, {KIND_WINDOW, scales}};
	unsigned count = 2;

	if (record->flags & C1M_SACK)
		options[count++] = (struct tcp_repair_opt){KIND_SACK, 0};
	if (record->flags & C1M_TIMESTAMPS)
		options[count++] = (struct tcp_repair_opt){KIND_TIMESTAMP, 0};
	if (C1M_CALL(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_OPTIONS, options,
				count * (socklen_t)sizeof(options[0]))))
		return -errno;
	return 0;
}

/* Trap: connect has fixed the segment size for an MSS of 536, and the repair option does
 * not change that; setting IP options, to none, has it worked out again, from the window too. */
static int sync_mss(int fd)
{
	return C1M_CALL(setsockopt(fd, IPPROTO_IP, IP_OPTIONS, "", 0)) ? -errno : 0;
}

static int set_windows(int fd, const struct c1m_record *record)
{
	const struct tcp_repair_window window = {
		.snd_wl1 = record->tcp.snd_wl1,
		.snd_wnd = record->tcp.snd_wnd,
		.max_window = record->tcp.max_window,
		.rcv_wnd = record->tcp.rcv_wnd,
		.rcv_wup = record->tcp.recv_seq,
	};
	int room = (int)record->tcp.rcv_wnd;

	/* The peer may fill the window that it was promised. SO_RCVBUF doubles the value. */
	if (record->tcp.rcv_wnd > ROOM_BYTES)
		C1M_CALL(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)));
	if (C1M_CALL(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_WINDOW, &window, sizeof(window))))
		return -errno;
	return 0;
}

/* The kernel takes the value for one of now: again, if now is later by the time that it does. */
static int set_timestamp(int fd, const struct c1m_record *record)
{
	bool microseconds = record->tcp.timestamp & 1;
	uint32_t clock, now = timestamp_clock(microseconds);
	int error;

	if (!(record->flags & C1M_TIMESTAMPS))
		return 0;
	do {
		clock = now;
		error = set(fd, TCP_TIMESTAMP, (int)(record->tcp.timestamp + clock));
		now = timestamp_clock(microseconds);
	} while (!error && now - clock > timestamp_slack(microseconds));
	return error;
}

static int set_state(int fd, const struct c1m_record *record)
{
	int error;

	if ((error = set_sequences(fd, record)) || (error = set_ends(fd, &record->tuple)) ||
	    (error = set_options(fd, record)) || (error = set_timestamp(fd, record)) ||
	    (error = set_windows(fd, record)) || (error = sync_mss(fd)) ||
	    (!(record->flags & C1M_NODELAY) && (error = set(fd, TCP_NODELAY, 0))))
		return error;
	return end_repair(fd);
}

int c1m_tcp_restore(int blank, const struct c1m_record *record)
{
	int error = set_state(blank, record);

	if (error)
		c1m_tcp_discard(blank);
	return error;
}

void c1m_tcp_discard(int fd)
{
	set(fd, TCP_REPAIR, TCP_REPAIR_ON);
	C1M_CALL(close(fd));
}
