// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - classic: a thread a connection, blocking recv into its own stack, blocking send.
 * What servers did before readiness; here to show what it costs. Kernel floor: 2.6.28 (accept4).
 * Source: pthreads(7), socket(7), shutdown(2); kernel net/ipv4/tcp.c, kernel/fork.c.
 *
 * Kernel bytes an idle connection, those of its thread: kernel stack 16384, struct task_struct
 * 5824, struct pid 192, the user stack's two vm_area_struct 384, its anon_vma 104 and
 * anon_vma_chain 64, an eighth of a page of page table 512. (What vmalloc notes of a kernel
 * stack, about 200, is charged to no memory cgroup.)
 *
 * A connection's thread takes a turn for each upcall (turns.h), never while in recv or send.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reactors/engine.h"
#include "reactors/reactor.h"
#include "reactors/turns.h"

enum {
	RECV_BYTES = 16 * 1024,
	/* A TLS handshake runs on this stack. Only touched pages cost memory. */
	STACK_BYTES = 256 * 1024,
};

/* One a slot, from attach to `closed`, parked or not: the thread is there all the same. `loop`,
 * `slot` and `fd` stay what they are; the rest is used in turns only. */
struct classic_conn {
	struct reactor_loop *loop;
	const void *pending; /* the caller's bytes being sent; NULL: none */
	size_t pending_len;
	pthread_t receiver;
	pthread_t sender; /* started last by a send from elsewhere */
	uint32_t slot;
	uint32_t next_done;
	int fd;
	int send_error;   /* of the last failed send */
	uint8_t threads;  /* running: the receiver, or both */
	bool sender_made; /* `sender` is to be joined */
	bool gated;
	bool closing;
};

struct classic_engine {
	struct turns turns;
	pthread_attr_t attr;
	struct classic_conn *conns; /* slot_max */
	int wake_fd;
	int listen_fd; /* the core's; -1: none */
	bool accept_open;
	bool polling;         /* `run` is in ppoll */
	bool news;            /* an upcall was made since ppoll returned */
	uint32_t upcall_slot; /* whose thread is in an upcall */
	uint32_t done_head;   /* connections without threads, to be closed */
};

/* `run` returns when something happened. One write serves many upcalls. */
static void tell_news(struct classic_engine *engine)
{
	if (!engine->news && engine->polling)
		engine_wake(engine->wake_fd);
	engine->news = true;
}

static void upcall_received(struct classic_conn *conn, const uint8_t *bytes, ssize_t n)
{
	struct classic_engine *engine = conn->loop->engine;

	engine->upcall_slot = conn->slot;
	conn->loop->up->received(conn->loop, conn->slot, bytes, n);
	engine->upcall_slot = ENGINE_NO_SLOT;
	tell_news(engine);
}

static void upcall_sent(struct classic_conn *conn, int error)
{
	struct classic_engine *engine = conn->loop->engine;

	engine->upcall_slot = conn->slot;
	conn->loop->up->sent(conn->loop, conn->slot, error);
	engine->upcall_slot = ENGINE_NO_SLOT;
	tell_news(engine);
}

static int send_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n < 0) /* never EINTR: signals are blocked */
			return -errno;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Called in a turn, which it leaves to send; by one thread a connection. A
 * `sent` upcall may ask for the next send. */
static void send_pending(struct classic_conn *conn)
{
	struct classic_engine *engine = conn->loop->engine;

	while (conn->pending && !conn->closing) {
		const void *bytes = conn->pending;
		size_t len = conn->pending_len;
		int error;

		turns_leave(&engine->turns);
		error = send_all(conn->fd, bytes, len);
		turns_enter(&engine->turns);
		conn->loop->counters.syscalls++;
		if (conn->closing)
			return;
		conn->pending = NULL;
		if (error)
			conn->send_error = error;
		upcall_sent(conn, error);
	}
}

/*
 * What recv brought; false when the thread is to end. Called in a turn.
 * Trap: a socket tells its error once. When a send had it, recv says 0, which
 * is not the peer's proper end.
 */
static bool deliver(struct classic_conn *conn, const uint8_t *bytes, ssize_t n)
{
	struct classic_engine *engine = conn->loop->engine;

	conn->loop->counters.syscalls++;
	while (conn->gated && !conn->closing)
		turns_wait(&engine->turns);
	if (conn->closing)
		return false;
	if (n == 0 && conn->send_error)
		n = conn->send_error;
	upcall_received(conn, bytes, n);
	if (conn->threads == 1) /* else the sender has what is pending */
		send_pending(conn);
	while ((n <= 0 || conn->gated) && !conn->closing)
		turns_wait(&engine->turns);
	return !conn->closing;
}

/* The last of a connection's threads hands it to `run`, and touches it no more. */
static void thread_ends(struct classic_conn *conn)
{
	struct classic_engine *engine = conn->loop->engine;

	if (--conn->threads == 0) {
		conn->next_done = engine->done_head;
		engine->done_head = conn->slot;
		tell_news(engine);
	}
	turns_leave(&engine->turns);
}

static void *receiver_main(void *arg)
{
	struct classic_conn *conn = arg;
	struct classic_engine *engine = conn->loop->engine;
	uint8_t bytes[RECV_BYTES];
	bool more;

	do {
		ssize_t n = recv(conn->fd, bytes, sizeof(bytes), 0);

		if (n < 0)
			n = -errno;
		turns_enter(&engine->turns);
		more = deliver(conn, bytes, n);
		if (more)
			turns_leave(&engine->turns);
	} while (more);
	thread_ends(conn);
	return NULL;
}

/*
 * Sends what was asked for outside of the connection's own upcalls. Polls first:
 * the reason why a connect failed is told once, and belongs to the receiver.
 */
static void *sender_main(void *arg)
{
	struct classic_conn *conn = arg;
	struct classic_engine *engine = conn->loop->engine;
	struct pollfd writable = {.fd = conn->fd, .events = POLLOUT};

	poll(&writable, 1, -1);
	turns_enter(&engine->turns);
	if ((writable.revents & (POLLERR | POLLHUP)) && !conn->closing) {
		conn->pending = NULL;
		upcall_sent(conn, -EPIPE);
	}
	send_pending(conn);
	thread_ends(conn);
	return NULL;
}

static void *probe_main(void *arg)
{
	return arg;
}

static int classic_probe(char *reason, size_t reason_size)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, probe_main, NULL);

	if (error) {
		snprintf(reason, reason_size, "cannot start a thread: %s", strerror(error));
		return -error;
	}
	pthread_join(thread, NULL);
	return 0;
}

/* Connection threads block all signals: those are the program's, not theirs. */
static int init_attr(pthread_attr_t *attr)
{
	sigset_t all;
	int error = pthread_attr_init(attr);

	if (error)
		return -error;
	sigfillset(&all);
	error = pthread_attr_setstacksize(attr, STACK_BYTES);
	if (error == 0)
		error = pthread_attr_setsigmask_np(attr, &all);
	if (error)
		pthread_attr_destroy(attr);
	return -error;
}

static int classic_init(struct reactor_loop *loop)
{
	struct classic_engine *engine = loop->engine;
	int error = init_attr(&engine->attr);

	if (error)
		return error;
	engine->listen_fd = -1;
	engine->upcall_slot = engine->done_head = ENGINE_NO_SLOT;
	engine->conns = calloc(loop->slot_max, sizeof(engine->conns[0]));
	if (!engine->conns) {
		error = -ENOMEM;
		goto destroy_attr;
	}
	engine->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (engine->wake_fd < 0) {
		error = -errno;
		goto free_conns;
	}
	turns_init(&engine->turns);
	return 0;
free_conns:
	free(engine->conns);
destroy_attr:
	pthread_attr_destroy(&engine->attr);
	return error;
}

/* All connections are closed, so all threads were joined. */
static void classic_fini(struct reactor_loop *loop)
{
	struct classic_engine *engine = loop->engine;

	turns_destroy(&engine->turns);
	pthread_attr_destroy(&engine->attr);
	close(engine->wake_fd);
	free(engine->conns);
}

static int classic_listen(struct reactor_loop *loop, int fd)
{
	struct classic_engine *engine = loop->engine;
	int error = engine_set_nonblock(fd, true);

	if (error)
		return error;
	engine->listen_fd = fd;
	engine->accept_open = true;
	return 0;
}

/* May be called from a connection's upcall while `run` polls with the old gate. */
static int classic_accept_gate(struct reactor_loop *loop, bool open)
{
	struct classic_engine *engine = loop->engine;

	if (engine->listen_fd < 0)
		return -EINVAL;
	engine->accept_open = open;
	return 0;
}

static int classic_attach(struct reactor_loop *loop, uint32_t slot)
{
	struct classic_engine *engine = loop->engine;
	struct classic_conn *conn = &engine->conns[slot];
	int error = engine_set_nonblock(loop->slots[slot].fd, false);

	if (error)
		return error;
	*conn = (struct classic_conn){
		.loop = loop, .slot = slot, .fd = loop->slots[slot].fd, .threads = 1};
	return -pthread_create(&conn->receiver, &engine->attr, receiver_main, conn);
}

static int classic_recv_gate(struct reactor_loop *loop, uint32_t slot, bool open)
{
	struct classic_engine *engine = loop->engine;
	struct classic_conn *conn = &engine->conns[slot];
	bool opens = open && conn->gated;

	conn->gated = !open;
	if (opens)
		turns_announce(&engine->turns);
	return 0;
}

/* The receiver sleeps in recv: send what fits, and leave the rest to a thread. */
static int send_from_elsewhere(struct classic_conn *conn, const uint8_t *buf, size_t len)
{
	struct classic_engine *engine = conn->loop->engine;
	ssize_t n = send(conn->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	int error;

	conn->loop->counters.syscalls++;
	if (n < 0 && errno != EAGAIN) {
		conn->send_error = -errno;
		return -errno;
	}
	if (n < 0)
		n = 0;
	if ((size_t)n == len)
		return REACTOR_DONE;
	if (conn->sender_made) /* its last turn is over */
		pthread_join(conn->sender, NULL);
	error = pthread_create(&conn->sender, &engine->attr, sender_main, conn);
	conn->sender_made = error == 0;
	if (error)
		return -error;
	conn->threads++;
	conn->pending = buf + n;
	conn->pending_len = len - (size_t)n;
	return REACTOR_PENDING;
}

static int classic_send(struct reactor_loop *loop, uint32_t slot, const void *buf, size_t len)
{
	struct classic_engine *engine = loop->engine;
	struct classic_conn *conn = &engine->conns[slot];

	if (conn->pending || conn->closing)
		return -EBUSY;
	if (engine->upcall_slot != slot)
		return send_from_elsewhere(conn, buf, len);
	conn->pending = buf; /* this very thread sends it after the upcall */
	conn->pending_len = len;
	return REACTOR_PENDING;
}

static int classic_park(struct reactor_loop *loop, uint32_t slot)
{
	const struct classic_engine *engine = loop->engine;
	const struct classic_conn *conn = &engine->conns[slot];

	return conn->pending || conn->gated || conn->closing ? -EBUSY : 0;
}

static int classic_unpark(struct reactor_loop *loop, uint32_t slot)
{
	(void)loop, (void)slot;
	return 0;
}

/*
 * Trap: close(2) does not end another thread's recv or send, shutdown(2) does.
 * It isn't needed, nor called, when the only thread is the one that calls here.
 */
static int classic_close(struct reactor_loop *loop, uint32_t slot)
{
	struct classic_engine *engine = loop->engine;
	struct classic_conn *conn = &engine->conns[slot];

	if (conn->closing)
		return 0;
	conn->closing = true;
	if (engine->upcall_slot == slot && conn->threads == 1)
		return 0;
	shutdown(conn->fd, SHUT_RDWR);
	loop->counters.syscalls++;
	turns_announce(&engine->turns);
	return 0;
}

static void finish_closes(struct reactor_loop *loop)
{
	struct classic_engine *engine = loop->engine;

	while (engine->done_head != ENGINE_NO_SLOT) {
		struct classic_conn *conn = &engine->conns[engine->done_head];

		engine->done_head = conn->next_done;
		pthread_join(conn->receiver, NULL);
		if (conn->sender_made)
			pthread_join(conn->sender, NULL);
		close(conn->fd);
		loop->counters.syscalls++;
		loop->up->closed(loop, conn->slot);
	}
}

/* The wait, and the only time at which threads may make upcalls. */
static int poll_unlocked(struct reactor_loop *loop, struct pollfd fds[2], uint64_t deadline_ns)
{
	struct classic_engine *engine = loop->engine;
	struct timespec left, *timeout = engine_time_left(deadline_ns, &left);
	int error = 0;

	engine->polling = true;
	pthread_mutex_unlock(&engine->turns.lock);
	if (ppoll(fds, 2, timeout, NULL) < 0)
		error = -errno;
	pthread_mutex_lock(&engine->turns.lock);
	engine->polling = engine->news = false;
	loop->counters.syscalls++;
	return error == -EINTR ? 0 : error;
}

static int classic_run(struct reactor_loop *loop, uint64_t deadline_ns)
{
	struct classic_engine *engine = loop->engine;
	struct pollfd fds[2] = {{.fd = engine->wake_fd, .events = POLLIN}, {.events = POLLIN}};
	eventfd_t wakes;
	bool happened;
	int error;

	turns_admit(&engine->turns);
	happened = engine->news || engine->done_head != ENGINE_NO_SLOT;
	fds[1].fd = engine->accept_open ? engine->listen_fd : -1;
	error = poll_unlocked(loop, fds, happened ? 0 : deadline_ns);
	if (error)
		return error;
	if (fds[0].revents) {
		eventfd_read(engine->wake_fd, &wakes);
		loop->counters.syscalls++;
	}
	if (fds[1].revents)
		engine_accept_some(loop, engine->listen_fd, SOCK_CLOEXEC, &engine->accept_open);
	finish_closes(loop);
	return 0;
}

static void classic_wake(struct reactor_loop *loop)
{
	const struct classic_engine *engine = loop->engine;

	engine_wake(engine->wake_fd);
}

static const struct reactor_ops classic_ops = {
	.name = "classic",
	.summary = "a thread a connection, blocking recv and send",
	.kernel_floor = "2.6.28",
	.kernel_conn_bytes = 23464,
	.caps = REACTOR_CAP_THREADS,
	.loop_size = sizeof(struct classic_engine),
	.conn_size = 0,
	.probe = classic_probe,
	.init = classic_init,
	.fini = classic_fini,
	.listen = classic_listen,
	.accept_gate = classic_accept_gate,
	.attach = classic_attach,
	.recv_gate = classic_recv_gate,
	.send = classic_send,
	.park = classic_park,
	.unpark = classic_unpark,
	.close = classic_close,
	.run = classic_run,
	.wake = classic_wake,
};

__attribute__((constructor)) static void register_classic(void)
{
	reactor_register(&classic_ops);
}
