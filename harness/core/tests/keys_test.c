// SPDX-License-Identifier: Apache-2.0
/*
 * harness/core/ - level keys against a reactor and a TLS that do what the test says: an idle
 * connection has neither session nor object, wakes by bytes, waits for the rest of a record,
 * expires, and keeps its session where it can not be dissolved. A record here ends in ';'.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/core/keys.h"

static struct {
	char sent[4096];
	size_t sent_len;
	unsigned parks, unparks, sessions, forgotten, gone;
	int dissolve_result, park_result;
	bool close_asked;
} seen;

static int fake_attach(struct reactor_loop *loop, uint32_t slot)
{
	(void)loop, (void)slot;
	return 0;
}

static int fake_gate(struct reactor_loop *loop, uint32_t slot, bool open)
{
	(void)loop, (void)slot, (void)open;
	return 0;
}

static int fake_send(struct reactor_loop *loop, uint32_t slot, const void *buf, size_t len)
{
	(void)loop, (void)slot;
	memcpy(seen.sent + seen.sent_len, buf, len);
	seen.sent_len += len;
	return REACTOR_DONE;
}

static int fake_park(struct reactor_loop *loop, uint32_t slot)
{
	(void)loop, (void)slot;
	seen.parks++;
	return seen.park_result;
}

static int fake_unpark(struct reactor_loop *loop, uint32_t slot)
{
	assert_non_null(loop->slots[slot].active);
	seen.unparks++;
	return 0;
}

static int fake_close(struct reactor_loop *loop, uint32_t slot)
{
	assert_non_null(loop->slots[slot].active);
	seen.close_asked = true;
	return 0;
}

static const struct reactor_ops fake_reactor = {
	.name = "fake",
	.conn_size = 8,
	.attach = fake_attach,
	.recv_gate = fake_gate,
	.send = fake_send,
	.park = fake_park,
	.unpark = fake_unpark,
	.close = fake_close,
};

static int tls_open(struct tls_ctx *ctx, struct tls_session **session)
{
	*session = (struct tls_session *)ctx;
	seen.sessions++;
	return 0;
}

static int tls_handshake(struct tls_session *session, struct tls_io *io)
{
	(void)session, (void)io;
	return 0;
}

static int take_record(struct tls_io *io, uint8_t *plain, size_t *len)
{
	const uint8_t *end = memchr(io->in, ';', io->in_len);

	*len = end ? (size_t)(end - io->in) : 0;
	if (!end)
		return -EINPROGRESS;
	memcpy(plain, io->in, *len);
	io->in += *len + 1;
	io->in_len -= *len + 1;
	return 0;
}

static int tls_decrypt(struct tls_session *session, struct tls_io *io, uint8_t *plain, size_t size,
		       size_t *len)
{
	int rc = io->in_len ? take_record(io, plain, len) : -EINPROGRESS;

	(void)session, (void)size;
	if (rc)
		io->in_len = 0;
	return rc;
}

static int tls_parked_decrypt(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io,
			      uint8_t *plain, size_t size, size_t *len)
{
	(void)ctx, (void)size;
	assert_int_equal(parked->suite, 42);
	return io->in_len ? take_record(io, plain, len) : -EINPROGRESS;
}

static void put(struct tls_io *io, const void *bytes, size_t len)
{
	memcpy(io->out + io->out_len, bytes, len);
	io->out_len += len;
}

static int tls_encrypt(struct tls_session *session, struct tls_io *io, const uint8_t *plain,
		       size_t len, size_t *used)
{
	(void)session;
	put(io, plain, *used = len);
	return 0;
}

static int tls_parked_encrypt(struct tls_ctx *ctx, struct tls_parked *parked, struct tls_io *io,
			      const uint8_t *plain, size_t len, size_t *used)
{
	assert_int_equal(parked->suite, 42);
	return tls_encrypt((struct tls_session *)ctx, io, plain, len, used);
}

static int tls_parked_close_notify(struct tls_ctx *ctx, struct tls_parked *parked,
				   struct tls_io *io)
{
	(void)ctx, (void)parked;
	put(io, "N", 1);
	return 0;
}

static int tls_dissolve(struct tls_session *session, struct tls_parked *parked, struct tls_io *io,
			const char **kept)
{
	(void)session;
	*kept = "told to";
	if (seen.dissolve_result)
		return seen.dissolve_result;
	seen.sessions--;
	parked->suite = 42;
	put(io, "T", 1); /* a ticket that the library had kept back */
	return 0;
}

static void tls_forget(struct tls_ctx *ctx, struct tls_parked *parked)
{
	(void)ctx;
	memset(parked, 0, sizeof(*parked));
	seen.forgotten++;
}

static int tls_shed(struct tls_session *session)
{
	(void)session;
	return 0;
}

static void tls_end(struct tls_session *session)
{
	(void)session;
	seen.sessions--;
}

static const struct tls_ops fake_tls = {
	.open = tls_open,
	.handshake = tls_handshake,
	.decrypt = tls_decrypt,
	.encrypt = tls_encrypt,
	.shed = tls_shed,
	.dissolve = tls_dissolve,
	.parked_decrypt = tls_parked_decrypt,
	.parked_encrypt = tls_parked_encrypt,
	.parked_close_notify = tls_parked_close_notify,
	.parked_forget = tls_forget,
	.close = tls_end,
};

/* ---- an app that answers each record with itself ---- */

static char answer[64];
static size_t answer_len;

static void app_established(struct worker *worker, struct conn *conn)
{
	(void)worker, (void)conn;
}

static void app_data(struct worker *worker, struct conn *conn, const uint8_t *bytes, size_t len)
{
	(void)worker, (void)conn;
	memcpy(answer + answer_len, bytes, len);
	answer_len += len;
}

static size_t app_produce(struct worker *worker, struct conn *conn, uint8_t *buf, size_t size)
{
	size_t len = answer_len;

	(void)worker, (void)conn, (void)size;
	memcpy(buf, answer, len);
	answer_len = 0;
	return len;
}

static bool app_busy(const struct worker *worker, const struct conn *conn)
{
	(void)worker, (void)conn;
	return false;
}

static void app_idle(struct worker *worker, struct conn *conn)
{
	(void)worker, (void)conn;
}

static void app_gone(struct worker *worker, struct conn *conn, const char *cause)
{
	(void)worker, (void)conn, (void)cause;
	seen.gone++;
}

static const struct app_ops app = {
	.established = app_established,
	.data = app_data,
	.produce = app_produce,
	.busy = app_busy,
	.idle = app_idle,
	.gone = app_gone,
};

static struct worker worker;

/* Records of so many are 28 pages of 4 KiB. */
#define SLOTS 1000

static int setup(void **state)
{
	char reason[256];
	int error, fds[2];

	(void)state;
	memset(&seen, 0, sizeof(seen));
	memset(&worker, 0, sizeof(worker));
	answer_len = 0;
	worker.config = (struct worker_config){.reactor = &fake_reactor,
					       .tls = &fake_tls,
					       .tls_config = {.server = true, .park = PARK_KEYS},
					       .app = &app,
					       .handshake_timeout_s = 10,
					       .idle_timeout_s = 100};
	assert_int_equal(slots_init(&worker.slots, SLOTS), 0);
	worker.tls_ctx = (struct tls_ctx *)&worker;
	worker.plain = malloc(TLS_RECORD_PLAIN_MAX);
	worker.loop = (struct reactor_loop){.ops = &fake_reactor,
					    .core = &worker,
					    .slots = worker.slots.table,
					    .slot_max = SLOTS};
	assert_int_equal(keys_init(&worker, reason, sizeof(reason)), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	close(fds[1]);
	assert_non_null(conn_open(&worker, fds[0], &error));
	return 0;
}

static int teardown(void **state)
{
	int fd = worker.slots.table[0].fd;
	struct conn *conn = keys_wake(&worker, 0);

	(void)state;
	if (conn->state != CONN_CLOSED)
		conn_close(&worker, conn, "end of test");
	assert_true(seen.close_asked);
	assert_int_equal(seen.gone, 1);
	assert_int_equal(seen.sessions, 0);
	assert_true(seen.forgotten > 0);
	assert_int_equal(worker.parked[0].suite, 0);
	conn_upcalls.closed(&worker.loop, 0);
	close(fd);
	assert_int_equal(worker.deadlines, 0);
	outbuf_drain(&worker.outbufs);
	keys_fini(&worker);
	slots_fini(&worker.slots);
	free(worker.plain);
	return 0;
}

static void receive(const char *text)
{
	conn_upcalls.received(&worker.loop, 0, (const uint8_t *)text, (ssize_t)strlen(text));
}

static void assert_sent(const char *text)
{
	assert_int_equal(seen.sent_len, strlen(text));
	assert_memory_equal(seen.sent, text, seen.sent_len);
}

static void an_idle_connection_has_no_object(void **state)
{
	(void)state;
	receive("ab;");
	assert_sent("abT");
	assert_int_equal(seen.sessions, 0);
	assert_null(worker.slots.table[0].active);
	assert_int_equal(worker.parked[0].suite, 42);
}

static void bytes_wake_it_and_it_sleeps_again(void **state)
{
	(void)state;
	receive("a;");
	receive("b;c;");
	assert_sent("aTbc");
	assert_int_equal(seen.unparks, 1);
	assert_int_equal(seen.parks, 2);
	assert_null(worker.slots.table[0].active);
}

static void the_rest_of_a_record_is_awaited(void **state)
{
	(void)state;
	receive("a;");
	receive("b");
	assert_non_null(worker.slots.table[0].active);
	assert_int_equal(conn_at(&worker, 0)->wait, WAIT_REQUEST);
	receive("c");
	receive("d;e");
	assert_sent("aTbcd");
	receive(";");
	assert_sent("aTbcde");
	assert_null(worker.slots.table[0].active);
}

static void a_busy_reactor_keeps_the_object(void **state)
{
	(void)state;
	seen.park_result = -EBUSY;
	receive("a;");
	assert_non_null(worker.slots.table[0].active);
	seen.park_result = 0;
	receive("b;");
	assert_sent("aTb");
	assert_null(worker.slots.table[0].active);
}

static void a_session_that_stays_is_counted_once(void **state)
{
	(void)state;
	seen.dissolve_result = -EBUSY;
	receive("a;");
	receive("b;");
	assert_int_equal(worker.kept.total, 1);
	assert_string_equal(worker.kept.entries[0].cause, "told to");
	assert_int_equal(worker.counters.dissolved, 0);
	seen.dissolve_result = 0;
	receive("c;");
	assert_int_equal(worker.counters.dissolved, 1);
	assert_null(worker.slots.table[0].active);
	assert_sent("abcT");
}

static void a_parked_connection_expires_with_a_word(void **state)
{
	(void)state;
	receive("a;");
	conn_expired(&worker, 0);
	assert_sent("aTN");
	assert_int_equal(conn_at(&worker, 0)->state, CONN_LINGER);
}

static void the_end_wakes_it_too(void **state)
{
	(void)state;
	receive("a;");
	conn_upcalls.received(&worker.loop, 0, NULL, 0);
	assert_sent("aTN");
	assert_true(seen.close_asked);
}

#define KEYS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void pages_of_records_that_nobody_uses_are_given_back(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char in_core[64] = {0};
	struct tls_parked kept;

	(void)state;
	kept = worker.parked[0];
	for (uint32_t slot = 1; slot < SLOTS; slot++) {
		assert_int_equal(slots_take(&worker.slots, 9), slot);
		worker.parked[slot].suite = 1;
	}
	for (uint32_t slot = 1; slot < SLOTS; slot++) {
		keys_forget(&worker, slot);
		slots_free(&worker.slots, slot);
	}
	keys_give_back(&worker);
	slots_give_back(&worker.slots);
	assert_int_equal(worker.slots.top, 1);
	assert_memory_equal(&worker.parked[0], &kept, sizeof(kept));
	assert_int_equal(mincore(worker.parked, SLOTS * sizeof(kept), in_core), 0);
	assert_true(in_core[0] & 1);
	for (size_t i = 1; i < (SLOTS * sizeof(kept) + page - 1) / page; i++)
		assert_false(in_core[i] & 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEYS_TEST(an_idle_connection_has_no_object),
		KEYS_TEST(bytes_wake_it_and_it_sleeps_again),
		KEYS_TEST(the_rest_of_a_record_is_awaited),
		KEYS_TEST(a_busy_reactor_keeps_the_object),
		KEYS_TEST(a_session_that_stays_is_counted_once),
		KEYS_TEST(a_parked_connection_expires_with_a_word),
		KEYS_TEST(the_end_wakes_it_too),
		KEYS_TEST(pages_of_records_that_nobody_uses_are_given_back),
	};

	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
