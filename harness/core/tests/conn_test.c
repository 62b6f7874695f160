// SPDX-License-Identifier: Apache-2.0
/*
 * harness/core/ - the life of one connection against a reactor and a TLS that do what the test
 * says: sends that stay pending, input that comes meanwhile, alerts, ends, deadlines.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/core/conn.h"

/* ---- a reactor that remembers what it was told ---- */

static struct {
	int send_result; /* what the next sends answer */
	char sent[1 << 16];
	size_t sent_len;
	bool gate_open;
	bool close_asked;
	int attach_result;
} fake;

static int fake_attach(struct reactor_loop *loop, uint32_t slot)
{
	(void)loop, (void)slot;
	return fake.attach_result;
}

static int fake_recv_gate(struct reactor_loop *loop, uint32_t slot, bool open)
{
	(void)loop, (void)slot;
	fake.gate_open = open;
	return 0;
}

static int fake_send(struct reactor_loop *loop, uint32_t slot, const void *buf, size_t len)
{
	(void)loop, (void)slot;
	assert_true(fake.sent_len + len <= sizeof(fake.sent));
	memcpy(fake.sent + fake.sent_len, buf, len);
	fake.sent_len += len;
	return fake.send_result;
}

static int fake_close(struct reactor_loop *loop, uint32_t slot)
{
	(void)loop, (void)slot;
	assert_false(fake.close_asked);
	fake.close_asked = true;
	return 0;
}

static const struct reactor_ops fake_reactor = {
	.name = "fake",
	.conn_size = 24,
	.attach = fake_attach,
	.recv_gate = fake_recv_gate,
	.send = fake_send,
	.close = fake_close,
};

/* ---- a TLS whose handshake is one byte H, and which answers X with the alert A ---- */

static int fake_open(struct tls_ctx *ctx, struct tls_session **session)
{
	*session = (struct tls_session *)ctx;
	return 0;
}

static void put(struct tls_io *io, const void *bytes, size_t len)
{
	assert_true(io->out_len + len <= io->out_size);
	memcpy(io->out + io->out_len, bytes, len);
	io->out_len += len;
}

static int fake_handshake(struct tls_session *session, struct tls_io *io)
{
	(void)session;
	if (!io->in_len)
		return -EINPROGRESS;
	io->in_len--;
	if (*io->in++ == 'H')
		return 0;
	put(io, "A", 1);
	return -EPROTO;
}

static int fake_decrypt(struct tls_session *session, struct tls_io *io, uint8_t *plain, size_t size,
			size_t *len)
{
	(void)session;
	*len = io->in_len < size ? io->in_len : size;
	if (!*len)
		return -EINPROGRESS;
	memcpy(plain, io->in, *len);
	io->in += *len;
	io->in_len -= *len;
	if (!memchr(plain, 'X', *len))
		return 0;
	*len = 0;
	put(io, "A", 1);
	return -EPROTO;
}

static int fake_encrypt(struct tls_session *session, struct tls_io *io, const uint8_t *plain,
			size_t len, size_t *used)
{
	(void)session;
	put(io, plain, len);
	*used = len;
	return 0;
}

static int fake_close_notify(struct tls_session *session, struct tls_io *io)
{
	(void)session;
	put(io, "N", 1);
	return 0;
}

static int fake_shed(struct tls_session *session)
{
	(void)session;
	return 0;
}

static void fake_end(struct tls_session *session)
{
	(void)session;
}

static const char *fake_strerror(const struct tls_ctx *ctx)
{
	(void)ctx;
	return "an X came";
}

static const struct tls_ops fake_tls = {
	.open = fake_open,
	.handshake = fake_handshake,
	.decrypt = fake_decrypt,
	.encrypt = fake_encrypt,
	.close_notify = fake_close_notify,
	.shed = fake_shed,
	.close = fake_end,
	.strerror = fake_strerror,
};

/* ---- an app that echoes in capitals, one letter an output ---- */

static struct {
	char queue[1 << 16];
	size_t head, tail;
	unsigned idle, gone;
	char cause[64];
	bool busy;
} echo;

static void app_established(struct worker *worker, struct conn *conn)
{
	(void)worker, (void)conn;
}

static void app_data(struct worker *worker, struct conn *conn, const uint8_t *bytes, size_t len)
{
	(void)worker, (void)conn;
	for (size_t i = 0; i < len && echo.tail < sizeof(echo.queue); i++)
		if (bytes[i] >= 'a')
			echo.queue[echo.tail++] = (char)(bytes[i] - 'a' + 'A');
}

static size_t app_produce(struct worker *worker, struct conn *conn, uint8_t *buf, size_t size)
{
	(void)worker, (void)conn;
	assert_true(size > 0);
	if (echo.head == echo.tail)
		return 0;
	*buf = (uint8_t)echo.queue[echo.head++];
	return 1;
}

static bool app_busy(const struct worker *worker, const struct conn *conn)
{
	(void)worker, (void)conn;
	return echo.busy;
}

static void app_idle(struct worker *worker, struct conn *conn)
{
	(void)worker, (void)conn;
	echo.idle++;
}

static void app_gone(struct worker *worker, struct conn *conn, const char *cause)
{
	(void)worker, (void)conn;
	echo.gone++;
	snprintf(echo.cause, sizeof(echo.cause), "%s", cause ? cause : "properly");
}

static const struct app_ops echo_app = {
	.established = app_established,
	.data = app_data,
	.produce = app_produce,
	.busy = app_busy,
	.idle = app_idle,
	.gone = app_gone,
};

/* ---- the worker, without its thread ---- */

static struct worker worker;

static int setup(void **state)
{
	static struct conn *conn;
	int error, fds[2];

	memset(&fake, 0, sizeof(fake));
	memset(&echo, 0, sizeof(echo));
	memset(&worker, 0, sizeof(worker));
	fake.gate_open = true;
	worker.config = (struct worker_config){.reactor = &fake_reactor,
					       .tls = &fake_tls,
					       .tls_config = {.server = true, .park = PARK_SHED},
					       .app = &echo_app,
					       .handshake_timeout_s = 10,
					       .idle_timeout_s = 100};
	assert_int_equal(slots_init(&worker.slots, 2), 0);
	worker.tls_ctx = (struct tls_ctx *)&worker; /* what fake_open gives out */
	worker.plain = malloc(TLS_RECORD_PLAIN_MAX);
	worker.loop = (struct reactor_loop){
		.ops = &fake_reactor, .core = &worker, .slots = worker.slots.table, .slot_max = 2};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	close(fds[1]);
	conn = conn_open(&worker, fds[0], &error);
	assert_non_null(conn);
	*state = conn;
	return 0;
}

/* Every test ends with the connection closed, told once, and nothing left. */
static int teardown(void **state)
{
	struct conn *conn = *state;
	int fd = worker.slots.table[conn->slot].fd;

	if (conn->state != CONN_CLOSED)
		conn_close(&worker, conn, "end of test");
	assert_true(fake.close_asked);
	assert_int_equal(echo.gone, 1);
	conn_upcalls.closed(&worker.loop, conn->slot);
	close(fd);
	assert_int_equal(worker.slots.in_use, 0);
	assert_int_equal(worker.deadlines, 0);
	assert_int_equal(worker.handshaking, 0);
	outbuf_drain(&worker.outbufs);
	slots_fini(&worker.slots);
	free(worker.plain);
	return 0;
}

static void receive(struct conn *conn, const char *text)
{
	conn_upcalls.received(&worker.loop, conn->slot, (const uint8_t *)text,
			      (ssize_t)strlen(text));
}

static void assert_sent(const char *text)
{
	assert_int_equal(fake.sent_len, strlen(text));
	assert_memory_equal(fake.sent, text, fake.sent_len);
}

/* ---- tests ---- */

static void input_behind_the_handshake_is_not_lost(void **state)
{
	struct conn *conn = *state;

	assert_int_equal(conn->wait, WAIT_HANDSHAKE);
	receive(conn, "Habc");
	assert_int_equal(conn->state, CONN_OPEN);
	assert_sent("ABC");
	assert_int_equal(echo.idle, 1);
	assert_int_equal(conn->wait, WAIT_IDLE);
}

static void answers_keep_their_order_behind_a_pending_send(void **state)
{
	struct conn *conn = *state;

	receive(conn, "H");
	fake.send_result = REACTOR_PENDING;
	receive(conn, "ab");
	assert_sent("AB");
	assert_int_equal(conn->wait, WAIT_SEND);
	receive(conn, "c");
	assert_false(fake.gate_open);
	receive(conn, "d");
	assert_sent("AB");
	conn_upcalls.sent(&worker.loop, conn->slot, 0);
	assert_sent("ABCD");
	assert_false(fake.gate_open);
	fake.send_result = REACTOR_DONE;
	conn_upcalls.sent(&worker.loop, conn->slot, 0);
	assert_true(fake.gate_open);
	assert_null(conn->out);
	assert_null(conn->spill);
	assert_int_equal(conn->wait, WAIT_IDLE);
}

static void input_that_waits_is_bounded(void **state)
{
	static char flood[(1 << 18) + 1];
	struct conn *conn = *state;

	memset(flood, 'a', sizeof(flood) - 1);
	receive(conn, "H");
	fake.send_result = REACTOR_PENDING;
	receive(conn, "a");
	for (int i = 0; i < 4; i++)
		receive(conn, flood);
	assert_int_equal(conn->state, CONN_OPEN);
	receive(conn, "a");
	assert_int_equal(conn->state, CONN_CLOSED);
	assert_string_equal(echo.cause, "input overflow");
}

static void the_end_of_input_waits_for_the_answers(void **state)
{
	struct conn *conn = *state;

	receive(conn, "H");
	fake.send_result = REACTOR_PENDING;
	receive(conn, "a");
	receive(conn, "b");
	conn_upcalls.received(&worker.loop, conn->slot, NULL, 0);
	conn_upcalls.sent(&worker.loop, conn->slot, 0);
	assert_sent("AB");
	conn_upcalls.sent(&worker.loop, conn->slot, 0);
	assert_sent("ABN");
	assert_false(fake.close_asked);
	conn_upcalls.sent(&worker.loop, conn->slot, 0);
	assert_true(fake.close_asked);
	assert_string_equal(echo.cause, "properly");
}

static void an_alert_is_sent_before_the_end(void **state)
{
	struct conn *conn = *state;

	receive(conn, "H");
	receive(conn, "X");
	assert_sent("A");
	assert_int_equal(echo.gone, 1);
	assert_string_equal(echo.cause, "an X came");
	assert_int_equal(conn->state, CONN_LINGER);
	receive(conn, "more noise");
	assert_sent("A");
	conn_upcalls.received(&worker.loop, conn->slot, NULL, 0);
	assert_int_equal(conn->state, CONN_CLOSED);
}

static void a_failed_handshake_gets_its_alert(void **state)
{
	struct conn *conn = *state;

	fake.send_result = REACTOR_PENDING;
	receive(conn, "?");
	assert_sent("A");
	assert_int_equal(conn->state, CONN_ENDING);
	assert_int_equal(worker.handshaking, 0);
	conn_upcalls.sent(&worker.loop, conn->slot, 0);
	assert_int_equal(conn->state, CONN_LINGER);
	conn_expired(&worker, conn->slot);
	assert_int_equal(conn->state, CONN_CLOSED);
}

static void a_peer_that_leaves_the_handshake_is_a_failure(void **state)
{
	struct conn *conn = *state;

	conn_upcalls.received(&worker.loop, conn->slot, NULL, 0);
	assert_int_equal(conn->state, CONN_CLOSED);
	assert_string_equal(echo.cause, "closed during the handshake");
}

static void a_reset_is_named(void **state)
{
	struct conn *conn = *state;

	receive(conn, "H");
	conn_upcalls.received(&worker.loop, conn->slot, NULL, -ECONNRESET);
	assert_string_equal(echo.cause, "ECONNRESET");
}

static void dribbling_does_not_extend_a_request(void **state)
{
	struct conn *conn = *state;
	uint16_t deadline;

	echo.busy = true;
	receive(conn, "Ha");
	assert_int_equal(conn->wait, WAIT_REQUEST);
	deadline = worker.slots.table[conn->slot].deadline;
	worker.epoch_ns -= 3000000000ull; /* three seconds later */
	receive(conn, "b");
	assert_int_equal(worker.slots.table[conn->slot].deadline, deadline);
	conn_progress(conn);
	receive(conn, "c");
	assert_int_not_equal(worker.slots.table[conn->slot].deadline, deadline);
	conn_expired(&worker, conn->slot);
	assert_string_equal(echo.cause, "request timeout");
}

static void an_idle_connection_expires_with_a_word(void **state)
{
	struct conn *conn = *state;

	receive(conn, "H");
	assert_int_equal(conn->wait, WAIT_IDLE);
	conn_expired(&worker, conn->slot);
	assert_sent("N");
	assert_int_equal(conn->state, CONN_LINGER);
}

static void a_full_table_turns_away(void **state)
{
	int error, fd = open("/dev/null", O_RDONLY);

	(void)state;
	fake.attach_result = -ENOMEM;
	assert_null(conn_open(&worker, fd, &error));
	assert_int_equal(error, -ENOMEM);
	assert_int_equal(worker.slots.in_use, 1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

#define CONN_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONN_TEST(input_behind_the_handshake_is_not_lost),
		CONN_TEST(answers_keep_their_order_behind_a_pending_send),
		CONN_TEST(input_that_waits_is_bounded),
		CONN_TEST(the_end_of_input_waits_for_the_answers),
		CONN_TEST(an_alert_is_sent_before_the_end),
		CONN_TEST(a_failed_handshake_gets_its_alert),
		CONN_TEST(a_peer_that_leaves_the_handshake_is_a_failure),
		CONN_TEST(a_reset_is_named),
		CONN_TEST(dribbling_does_not_extend_a_request),
		CONN_TEST(an_idle_connection_expires_with_a_word),
		CONN_TEST(a_full_table_turns_away),
	};

	return cmocka_run_group_tests_name("conn", tests, NULL, NULL);
}
