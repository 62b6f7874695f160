// SPDX-License-Identifier: Apache-2.0
/*
 * harness/server/ - peers at level keys that do not read: their answers wait and lose nothing, the
 * worker serves others meanwhile, what they cost is bounded and given back, and who never reads is
 * cut off. Over real sockets whose windows close.
 */
#include "harness/server/tests/fixture.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "harness/common/clock.h"
#include "harness/core/outbuf.h"

/* More than a worker keeps output buffers in reserve. */
#define STALLED 24
/* How often another asks meanwhile. */
#define WITNESS_ASKS 20
/* What a connection that waits needs beside its output buffer: object, parser, answers. */
#define CONN_BYTES 2048u
/* The same where input comes without end: the output buffers and some reads of an engine. */
#define FLOOD_MOST_BYTES (OUTBUF_SPARES * sizeof(struct outbuf) + (512u << 10))
/* Of the allocator's own, and of the test's. */
#define NOISE_BYTES (64u << 10)
/* Far longer than any peer may leave output unread, so that it does not matter when it began to. */
#define TOO_LONG_S 1000

/* ---- time, which passes when the test says so ---- */

static atomic_ullong passed_s;

/* In place of the C library's, for everything in this program. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, id, t);

	if (id == CLOCK_MONOTONIC)
		t->tv_sec += (time_t)passed_s;
	return rc;
}

/* ---- memory ---- */

/* Bytes allocated in this process; 0 where a sanitizer has its own allocator. */
static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static bool heap_is_known(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return false;
#else
	return true;
#endif
}

static void wait_for_heap(size_t least, size_t most)
{
	if (!heap_is_known())
		return;
	for (int i = 0; i < PATIENCE_S * 100; i++) {
		size_t bytes = heap_bytes();

		if (bytes >= least && bytes <= most)
			return;
		usleep(10000);
	}
	fail_msg("%zu bytes are allocated, not %zu to %zu", heap_bytes(), least, most);
}

/* ---- peers ---- */

struct crowd {
	struct live live;
	struct client peers[STALLED];
	struct client witness;
	size_t heap; /* when all are parked */
};

static int gather(void **state)
{
	static struct crowd crowd;

	live_start(&crowd.live, *state);
	for (size_t i = 0; i < STALLED; i++) {
		client_open(&crowd.peers[i], &crowd.live, true);
		client_get(&crowd.peers[i], 5);
	}
	client_open(&crowd.witness, &crowd.live, false);
	client_get(&crowd.witness, 100000);
	crowd.heap = heap_bytes();
	*state = &crowd;
	return 0;
}

static int disperse(void **state)
{
	struct crowd *crowd = *state;

	assert_int_equal(live_kept(&crowd->live), 0);
	for (size_t i = 0; i < STALLED; i++)
		client_close(&crowd->peers[i]);
	client_close(&crowd->witness);
	live_wait(&crowd->live, "open", 0);
	live_stop(&crowd->live);
	return 0;
}

/* The peers wait with one output buffer each, and cost no more than that and `beside`. As many as a
 * worker keeps in reserve may have been allocated before. */
static void wait_until_stalled(const struct crowd *crowd, size_t beside)
{
	wait_for_heap(crowd->heap + (STALLED - OUTBUF_SPARES) * sizeof(struct outbuf) - NOISE_BYTES,
		      crowd->heap + STALLED * (sizeof(struct outbuf) + CONN_BYTES + beside) +
			      NOISE_BYTES);
}

/* Everybody asks and nobody reads; no more is asked of memory while others are served. */
static void ask_and_stall(struct crowd *crowd, const char *path)
{
	for (size_t i = 0; i < STALLED; i++)
		client_ask(&crowd->peers[i], path);
	wait_until_stalled(crowd, 0);
	for (int i = 0; i < WITNESS_ASKS; i++)
		client_get(&crowd->witness, 100000);
	wait_until_stalled(crowd, 0);
}

/* Only what a worker keeps for the next sends is left. */
static void wait_until_parked(const struct crowd *crowd)
{
	wait_for_heap(0, crowd->heap + OUTBUF_SPARES * sizeof(struct outbuf) + NOISE_BYTES);
}

static void answers_wait_and_are_whole(void **state)
{
	static const struct {
		const char *path;
		size_t len;
	} bodies[] = {{"/65536", 65536}, {"/1048576", 1048576}};
	struct crowd *crowd = *state;

	for (size_t b = 0; b < 2; b++) {
		ask_and_stall(crowd, bodies[b].path);
		for (size_t i = 0; i < STALLED; i++) {
			if (b && i) /* the first goes on with its small window */
				client_widen(&crowd->peers[i]);
			client_expect(&crowd->peers[i], bodies[b].len);
		}
		wait_until_parked(crowd);
		for (size_t i = 0; i < STALLED; i++)
			client_get(&crowd->peers[i], 5);
	}
	assert_int_equal(live_failures(&crowd->live, NULL), 0);
}

/* Requests that come while the answer to the first is not read: kept, in order, within bounds. */
static void requests_wait_too(void **state)
{
	const size_t requests = 200;
	struct crowd *crowd = *state;

	for (size_t n = 0; n < requests; n++)
		for (size_t i = 0; i < STALLED; i++)
			client_ask(&crowd->peers[i], "/5000");
	/* A record of a request is below 64 bytes, what becomes of it too. */
	wait_until_stalled(crowd, requests * 128);
	client_get(&crowd->witness, 100000);
	for (size_t i = 0; i < STALLED; i++) {
		client_widen(&crowd->peers[i]);
		for (size_t n = 0; n < requests; n++)
			client_expect(&crowd->peers[i], 5000);
	}
	wait_until_parked(crowd);
	assert_int_equal(live_failures(&crowd->live, NULL), 0);
}

/* Asks as fast as it can for as long as the server takes it. How many requests have left whole. */
static size_t flood(const struct client *client)
{
	static const char request[] = "GET /5000 HTTP/1.1\r\nX: %04000d\r\n\r\n";
	char text[4096];
	uint8_t record[8192];
	size_t sent = 0, len = 0, requests = 0;

	snprintf(text, sizeof(text), request, 0);
	for (int stalls = 0; stalls < 20;) {
		ssize_t n;

		if (sent == len) {
			len = client_seal(client, text, strlen(text), record, sizeof(record));
			sent = 0;
		}
		n = send(client->fd, record + sent, len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			sent += (size_t)n;
		else
			usleep(10000);
		stalls = n > 0 ? 0 : stalls + 1;
		requests += n > 0 && sent == len;
	}
	return requests;
}

/* What an engine delivers once it was told to stop is the most that is kept. */
static void a_flood_is_held_back(void **state)
{
	struct crowd *crowd = *state;
	size_t requests = flood(&crowd->peers[0]);

	client_get(&crowd->witness, 100000);
	wait_for_heap(0, crowd->heap + FLOOD_MOST_BYTES + NOISE_BYTES);
	/* All of it is still there. */
	client_widen(&crowd->peers[0]);
	for (size_t i = 0; i < requests; i++)
		client_expect(&crowd->peers[0], 5000);
	assert_int_equal(live_failures(&crowd->live, NULL), 0);
}

/* Everything there is to be read, which must not be the whole answer. */
static void assert_cut_off(struct client *client, size_t body_len)
{
	static uint8_t plain[TLS_RECORD_PLAIN_MAX];
	size_t got = 0, len;
	int rc;

	while (!(rc = client_read(client, plain, sizeof(plain), &len)))
		got += len;
	assert_true(rc == -ECONNRESET || rc == -ENODATA);
	assert_true(got < body_len);
}

static void who_never_reads_is_cut_off(void **state)
{
	struct crowd *crowd = *state;

	ask_and_stall(crowd, "/1048576");
	/* The witness waits for nothing any more. */
	live_wait(&crowd->live, "responses", STALLED + 1 + WITNESS_ASKS);
	for (int i = 0; i < TOO_LONG_S && live_stat(&crowd->live, "open") > 1; i++) {
		passed_s++;
		usleep(10000);
	}
	live_wait(&crowd->live, "open", 1);
	assert_int_equal(live_failures(&crowd->live, "send timeout"), STALLED);
	assert_int_equal(live_failures(&crowd->live, NULL), STALLED);
	wait_until_parked(crowd);
	for (size_t i = 0; i < STALLED; i++)
		assert_cut_off(&crowd->peers[i], 1048576);
	client_get(&crowd->witness, 1000);
}

#define CROWD_TEST(f) cmocka_unit_test_setup_teardown(f, gather, disperse)

int main(void)
{
	static const char *const reactors[] = {"epoll", "io_uring", "io_uring_poll", "classic",
					       NULL};
	const struct CMUnitTest tests[] = {
		CROWD_TEST(answers_wait_and_are_whole),
		CROWD_TEST(requests_wait_too),
		CROWD_TEST(a_flood_is_held_back),
		CROWD_TEST(who_never_reads_is_cut_off),
	};

	/* Else what a worker allocates could not be told. */
	mallopt(M_ARENA_MAX, 1);
	return for_each_subject("server, peers that do not read", tests,
				sizeof(tests) / sizeof(*tests), reactors);
}
