// SPDX-License-Identifier: Apache-2.0
/* reactors/tests/ - what peers' kernels do not do on request. Source: raw(7), RFC 9293. */
#include "reactors/tests/inject.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct ends {
	struct sockaddr_in local, peer;
};

struct segment {
	struct iphdr ip;
	struct tcphdr tcp;
	uint8_t bytes[1024];
};

static struct ends ends_of(int fd)
{
	struct ends ends = {0};
	socklen_t local = sizeof(ends.local), peer = sizeof(ends.peer);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&ends.local, &local), 0);
	assert_int_equal(getpeername(fd, (struct sockaddr *)&ends.peer, &peer), 0);
	return ends;
}

static void repair(int fd, int how)
{
	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &how, sizeof(how)), 0);
}

static uint32_t sequence(int fd, int queue)
{
	uint32_t value = 0;
	socklen_t size = sizeof(value);

	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof(queue)), 0);
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &value, &size), 0);
	return value;
}

/* RFC 1071; the length is even. */
static uint32_t sum(uint32_t so_far, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i += 2)
		so_far += (uint32_t)at[i] << 8 | at[i + 1];
	return so_far;
}

static uint16_t checksum(const struct segment *s, size_t tcp_len)
{
	uint32_t total = sum(IPPROTO_TCP + (uint32_t)tcp_len, &s->ip.saddr, 8);

	total = sum(total, &s->tcp, tcp_len);
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return htons((uint16_t)~total);
}

static void fill(struct segment *s, int fd, uint8_t flags, int32_t distance, size_t len)
{
	struct ends ends = ends_of(fd);

	*s = (struct segment){
		.ip = {.version = 4,
		       .ihl = 5,
		       .ttl = 64,
		       .protocol = IPPROTO_TCP,
		       .saddr = ends.local.sin_addr.s_addr,
		       .daddr = ends.peer.sin_addr.s_addr},
		.tcp = {.source = ends.local.sin_port,
			.dest = ends.peer.sin_port,
			.doff = 5,
			.syn = !!(flags & INJECT_SYN),
			.rst = !!(flags & INJECT_RST),
			.ack = !!(flags & INJECT_ACK),
			.window = htons(1000)},
	};
	repair(fd, TCP_REPAIR_ON);
	s->tcp.seq = htonl(sequence(fd, TCP_SEND_QUEUE) + (uint32_t)distance);
	if (flags & INJECT_ACK)
		s->tcp.ack_seq = htonl(sequence(fd, TCP_RECV_QUEUE));
	repair(fd, TCP_REPAIR_OFF_NO_WP);
	s->tcp.check = checksum(s, sizeof(s->tcp) + len);
}

void inject_segment(int fd, uint8_t flags, int32_t distance, size_t len)
{
	int raw = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	struct ends ends = ends_of(fd);
	struct segment s;
	size_t all = offsetof(struct segment, bytes) + len;

	assert_true(raw >= 0);
	assert_true(len <= sizeof(s.bytes) && len % 2 == 0);
	fill(&s, fd, flags, distance, len);
	ends.peer.sin_port = 0;
	assert_int_equal(sendto(raw, &s, all, 0, (struct sockaddr *)&ends.peer, sizeof(ends.peer)),
			 all);
	close(raw);
}

void inject_keep_alive(int fd, int seconds, int probes)
{
	int one = 1;

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one)), 0);
	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds)), 0);
	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds)), 0);
	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes)), 0);
}

int inject_rebirth(int *fd)
{
	struct ends ends = ends_of(*fd);
	int reborn = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(reborn >= 0);
	repair(*fd, TCP_REPAIR_ON);
	close(*fd);
	*fd = -1;
	assert_int_equal(bind(reborn, (struct sockaddr *)&ends.local, sizeof(ends.local)), 0);
	if (connect(reborn, (struct sockaddr *)&ends.peer, sizeof(ends.peer)) < 0)
		assert_int_equal(errno, EINPROGRESS);
	return reborn;
}
