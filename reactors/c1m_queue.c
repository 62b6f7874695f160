// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - c1m: a netfilter queue. Source: kernel net/netfilter/nfnetlink_queue.c; libmnl's
 * examples/netfilter. build-pkg: libmnl
 */
#include "reactors/c1m_queue.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
	HELD_MAX = 1 << 20,       /* packets that the kernel holds; its default is 1,024 */
	RECEIVE_BYTES = 64 << 20, /* of messages about them not yet read */
	HEADER_BYTES = 60 + 4,    /* the longest IP header, then TCP's ports */
	REQUEST_BYTES = 256,
};

/* ---- requests ---- */

static struct nlmsghdr *request(char *buf, uint16_t number, int type)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *generic;

	message->nlmsg_type = (uint16_t)(NFNL_SUBSYS_QUEUE << 8 | type);
	message->nlmsg_flags = NLM_F_REQUEST;
	generic = mnl_nlmsg_put_extra_header(message, sizeof(*generic));
	generic->nfgen_family = AF_UNSPEC;
	generic->version = NFNETLINK_V0;
	generic->res_id = htons(number);
	return message;
}

static int send_message(const struct c1m_queue *queue, const struct nlmsghdr *message)
{
	ssize_t sent = C1M_CALL(mnl_socket_sendto(queue->socket, message, message->nlmsg_len));

	return sent < 0 ? -errno : 0;
}

/* The answer alone is waited for: the rules that bring packets are made later. */
static int ask(struct c1m_queue *queue, struct nlmsghdr *message)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];

	message->nlmsg_flags |= NLM_F_ACK;
	message->nlmsg_seq = (uint32_t)time(NULL);
	if (send_message(queue, message))
		return -errno;
	for (;;) {
		ssize_t n = mnl_socket_recvfrom(queue->socket, buf, sizeof(buf));
		const struct nlmsghdr *answer = (const struct nlmsghdr *)buf;

		if (n < 0)
			return -errno;
		if (answer->nlmsg_type == NLMSG_ERROR)
			return ((const struct nlmsgerr *)mnl_nlmsg_get_payload(answer))->error;
	}
}

static int bind_queue(struct c1m_queue *queue)
{
	const struct nfqnl_msg_config_cmd command = {.command = NFQNL_CFG_CMD_BIND,
						     .pf = htons(AF_INET)};
	char buf[REQUEST_BYTES];
	struct nlmsghdr *message = request(buf, queue->number, NFQNL_MSG_CONFIG);

	mnl_attr_put(message, NFQA_CFG_CMD, sizeof(command), &command);
	return ask(queue, message);
}

/* GSO: packets come whole, as they left, and without a checksum of what nobody alters.
 * Fail-open stays off: it would let packets through to a socket that is not there. */
static int configure(struct c1m_queue *queue)
{
	const struct nfqnl_msg_config_params params = {.copy_range = htonl(HEADER_BYTES),
						       .copy_mode = NFQNL_COPY_PACKET};
	char buf[REQUEST_BYTES];
	struct nlmsghdr *message = request(buf, queue->number, NFQNL_MSG_CONFIG);

	mnl_attr_put(message, NFQA_CFG_PARAMS, sizeof(params), &params);
	mnl_attr_put_u32(message, NFQA_CFG_QUEUE_MAXLEN, htonl(HELD_MAX));
	mnl_attr_put_u32(message, NFQA_CFG_FLAGS, htonl(NFQA_CFG_F_GSO));
	mnl_attr_put_u32(message, NFQA_CFG_MASK, htonl(NFQA_CFG_F_GSO | NFQA_CFG_F_FAIL_OPEN));
	return ask(queue, message);
}

/* Beyond net.core.rmem_max only with CAP_NET_ADMIN outside of user namespaces. */
static void make_room(int fd)
{
	int bytes = RECEIVE_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

int c1m_queue_open(struct c1m_queue *queue, uint16_t number)
{
	int error;

	queue->number = number;
	queue->socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	if (!queue->socket)
		return -errno;
	error = mnl_socket_bind(queue->socket, 0, MNL_SOCKET_AUTOPID) ? -errno : 0;
	make_room(c1m_queue_fd(queue));
	if (!error)
		error = bind_queue(queue);
	if (!error)
		error = configure(queue);
	if (error)
		c1m_queue_close(queue);
	return error;
}

int c1m_queue_open_free(struct c1m_queue *queue, unsigned step)
{
	int error = -EPERM;

	for (unsigned number = 0; number <= UINT16_MAX && error == -EPERM; number += step)
		error = c1m_queue_open(queue, (uint16_t)number);
	return error;
}

void c1m_queue_explain(int error, char *reason, size_t reason_size)
{
	snprintf(reason, reason_size, "no netfilter queue: %s; %s", strerror(-error),
		 error == -EPERM
			 ? "level deep needs CAP_NET_ADMIN in its network namespace: run it "
			   "as root, or in one of your own (unshare -Urn)"
			 : "the kernel needs nfnetlink_queue (modprobe nfnetlink_queue)");
}

void c1m_queue_close(struct c1m_queue *queue)
{
	mnl_socket_close(queue->socket);
	queue->socket = NULL;
}

int c1m_queue_fd(const struct c1m_queue *queue)
{
	return mnl_socket_get_fd(queue->socket);
}

/* ---- packets ---- */

/* INPUT is behind the reassembly of fragments: the ports are there. The rules bring nothing
 * but TCP over IPv4; what looks otherwise has a tuple that nobody has. */
static void read_tuple(const uint8_t *header, size_t len, struct c1m_tuple *tuple)
{
	struct iphdr ip;
	size_t ip_len;

	*tuple = (struct c1m_tuple){0};
	if (len < sizeof(ip))
		return;
	memcpy(&ip, header, sizeof(ip));
	ip_len = ip.ihl * 4u;
	if (ip.version != 4 || ip.protocol != IPPROTO_TCP || len < ip_len + 4)
		return;
	tuple->peer_addr = ip.saddr;
	tuple->local_addr = ip.daddr;
	memcpy(&tuple->peer_port, header + ip_len, sizeof(tuple->peer_port));
	memcpy(&tuple->local_port, header + ip_len + 2, sizeof(tuple->local_port));
}

/* False: the message is not about a packet. */
static bool read_packet(const struct nlmsghdr *message, size_t len, struct c1m_packet *packet)
{
	const struct nlattr *attr;
	bool numbered = false;

	if (!mnl_nlmsg_ok(message, (int)len) ||
	    message->nlmsg_type != (NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET))
		return false;
	packet->tuple = (struct c1m_tuple){0};
	mnl_attr_for_each(attr, message, sizeof(struct nfgenmsg))
	{
		const void *payload = mnl_attr_get_payload(attr);

		if (mnl_attr_get_type(attr) == NFQA_PACKET_HDR) {
			memcpy(&packet->id, payload, sizeof(packet->id)); /* its first field */
			packet->id = ntohl(packet->id);
			numbered = true;
		} else if (mnl_attr_get_type(attr) == NFQA_PAYLOAD) {
			read_tuple(payload, mnl_attr_get_payload_len(attr), &packet->tuple);
		}
	}
	return numbered;
}

int c1m_queue_read(struct c1m_queue *queue, struct c1m_packet *packets)
{
	struct mmsghdr headers[C1M_QUEUE_BATCH];
	struct iovec parts[C1M_QUEUE_BATCH];
	int count, found = 0;

	for (int i = 0; i < C1M_QUEUE_BATCH; i++) {
		parts[i] = (struct iovec){queue->messages[i], C1M_QUEUE_MESSAGE_BYTES};
		headers[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
	}
	count = C1M_CALL(
		recvmmsg(c1m_queue_fd(queue), headers, C1M_QUEUE_BATCH, MSG_DONTWAIT, NULL));
	if (count < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (int i = 0; i < count; i++)
		found += read_packet((const struct nlmsghdr *)queue->messages[i],
				     headers[i].msg_len, &packets[found]);
	return found;
}

static int decide(struct c1m_queue *queue, uint32_t id, uint32_t verdict)
{
	const struct nfqnl_msg_verdict_hdr decision = {.verdict = htonl(verdict), .id = htonl(id)};
	char buf[REQUEST_BYTES];
	struct nlmsghdr *message = request(buf, queue->number, NFQNL_MSG_VERDICT);

	mnl_attr_put(message, NFQA_VERDICT_HDR, sizeof(decision), &decision);
	return send_message(queue, message);
}

int c1m_queue_accept(struct c1m_queue *queue, uint32_t id)
{
	return decide(queue, id, NF_ACCEPT);
}

int c1m_queue_drop(struct c1m_queue *queue, uint32_t id)
{
	return decide(queue, id, NF_DROP);
}

int c1m_queue_forward(struct c1m_queue *queue, uint32_t id, uint16_t number)
{
	return decide(queue, id, NF_QUEUE_NR(number));
}
