// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/tests/ - TCP state without its socket: what is refused, what is the same afterwards. No
 * packet filter is at work here: between the two nothing is sent.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/bench/netns.h"
#include "reactors/c1m_tcp.h"

static int near_fd, far_fd; /* the two ends of a connection, as a test finds them */
static char reason[512];

static void connect_ends(int listen_fd)
{
	struct sockaddr_in address = {0};
	socklen_t size = sizeof(address);

	assert_int_equal(listen(listen_fd, 1), 0);
	assert_int_equal(getsockname(listen_fd, (struct sockaddr *)&address, &size), 0);
	far_fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(far_fd, (struct sockaddr *)&address, size), 0);
	near_fd = accept(listen_fd, NULL, NULL);
	assert_true(near_fd >= 0);
	close(listen_fd);
}

static int new_listener(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int setup(void **state)
{
	(void)state;
	if (!*reason)
		connect_ends(new_listener());
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (!*reason) {
		close(near_fd);
		close(far_fd);
	}
	return 0;
}

static bool can_not_run(void)
{
	if (*reason)
		print_message("# %s\n", reason);
	return *reason;
}

static struct tcp_info info_of(int fd)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);

	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size), 0);
	return info;
}

static void say(int from, int to, const char *words)
{
	char heard[64] = "";
	ssize_t len = (ssize_t)strlen(words);

	assert_int_equal(send(from, words, (size_t)len, 0), len);
	assert_int_equal(recv(to, heard, sizeof(heard), 0), len);
	assert_string_equal(heard, words);
}

/* Acknowledgements may take their time. */
static void read_out(struct c1m_record *record)
{
	int error;

	*record = (struct c1m_record){0};
	assert_int_equal(c1m_tcp_name(near_fd, record), 0);
	for (int i = 0; (error = c1m_tcp_read_out(near_fd, record)) == -EAGAIN && i < 1000; i++)
		usleep(10000);
	assert_int_equal(error, 0);
}

static void restore(const struct c1m_record *record)
{
	near_fd = c1m_tcp_blank(0);
	assert_true(near_fd >= 0);
	assert_int_equal(c1m_tcp_restore(near_fd, record), 0);
}

static void there_and_back(void)
{
	struct c1m_record record;

	read_out(&record);
	assert_int_equal(fcntl(near_fd, F_GETFD), -1);
	restore(&record);
}

static void goes_on_where_it_was(void **state)
{
	(void)state;
	if (can_not_run()) {
		skip();
		return;
	}
	for (int i = 0; i < 20; i++) {
		there_and_back();
		say(near_fd, far_fd, "from the near end");
		say(far_fd, near_fd, "from the far end");
	}
}

/* Repair mode takes it away, and in TIME_WAIT it would be missed. */
static int reuses_address(int fd)
{
	int value = 0;

	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &value, &(socklen_t){4}), 0);
	return value;
}

static void has_the_same_properties(void **state)
{
	struct tcp_info before, after;
	int one = 1;

	(void)state;
	if (can_not_run()) {
		skip();
		return;
	}
	assert_int_equal(setsockopt(near_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), 0);
	say(far_fd, near_fd, "hello");
	before = info_of(near_fd);
	for (int i = 0; i < 3; i++)
		there_and_back();
	after = info_of(near_fd);
	assert_int_equal(after.tcpi_state, before.tcpi_state);
	assert_int_equal(after.tcpi_options, before.tcpi_options);
	assert_int_equal(after.tcpi_snd_wscale, before.tcpi_snd_wscale);
	assert_int_equal(after.tcpi_rcv_wscale, before.tcpi_rcv_wscale);
	assert_int_equal(after.tcpi_snd_mss, before.tcpi_snd_mss);
	one = 0;
	assert_int_equal(getsockopt(near_fd, IPPROTO_TCP, TCP_NODELAY, &one, &(socklen_t){4}), 0);
	assert_true(one);
	assert_true(reuses_address(near_fd));
}

static uint32_t timestamp(int fd)
{
	const int on = TCP_REPAIR_ON, off = TCP_REPAIR_OFF_NO_WP;
	uint32_t value = 0;
	socklen_t size = sizeof(value);

	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)), 0);
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_TIMESTAMP, &value, &size), 0);
	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off)), 0);
	return value;
}

static uint64_t clock_ms(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* libc's: after so many more readings the CPU goes to somebody else for a while. */
static int readings_left = -1;

int clock_gettime(clockid_t id, struct timespec *now)
{
	int result = (int)syscall(SYS_clock_gettime, id, now);

	if (readings_left >= 0 && readings_left-- == 0)
		usleep(50000);
	return result;
}

/* Bit 0 set would have them count microseconds from then on. */
static void timestamps_never_step_back(void **state)
{
	uint32_t last = 0;

	(void)state;
	if (can_not_run()) {
		skip();
		return;
	}
	for (int i = 0; i < 50; i++) {
		uint32_t before = (uint32_t)clock_ms(), now = timestamp(near_fd);

		assert_false(now & 1);
		/* Ahead of the clock by as much as before, but for the bit, or by a little more. */
		assert_true(!i || (int32_t)(now - before - last) >= -1);
		assert_true(!i || now - before - last < 60000);
		last = now - (uint32_t)clock_ms();
		readings_left = i % 5;
		there_and_back();
	}
	readings_left = -1;
}

static void small_segments_stay_small(void **state)
{
	const int mss = 700;
	int listen_fd;

	(void)state;
	if (can_not_run()) {
		skip();
		return;
	}
	close(near_fd);
	close(far_fd);
	listen_fd = new_listener();
	assert_int_equal(setsockopt(listen_fd, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss)), 0);
	connect_ends(listen_fd);
	assert_in_range(info_of(near_fd).tcpi_snd_mss, 600, 700);
	there_and_back();
	assert_in_range(info_of(near_fd).tcpi_snd_mss, 600, 700);
}

static bool scale_windows(bool on)
{
	int fd = open("/proc/sys/net/ipv4/tcp_window_scaling", O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, on ? "1" : "0", 1) == 1;

	close(fd);
	return done;
}

/* The kernel would scale what it says of its window by its own choice, unless told not to. */
static void an_unscaled_window_stays_unscaled(void **state)
{
	(void)state;
	if (can_not_run() || !scale_windows(false)) {
		skip();
		return;
	}
	close(near_fd);
	close(far_fd);
	connect_ends(new_listener());
	assert_true(scale_windows(true));
	assert_false(info_of(near_fd).tcpi_options & TCPI_OPT_WSCALE);
	for (int i = 0; i < 2; i++) {
		there_and_back();
		say(far_fd, near_fd, "from the far end");
		say(near_fd, far_fd, "from the near end");
		assert_true(info_of(far_fd).tcpi_snd_wnd > 30000);
	}
}

static void refuses_what_is_unread(void **state)
{
	struct c1m_record record = {0};

	(void)state;
	if (can_not_run()) {
		skip();
		return;
	}
	assert_int_equal(send(far_fd, "unread", 6, 0), 6);
	assert_int_equal(c1m_tcp_settled(near_fd), -EAGAIN);
	assert_int_equal(c1m_tcp_read_out(near_fd, &record), -EAGAIN);
	assert_true(reuses_address(near_fd));
	say(near_fd, far_fd, "it is as it was");
}

static void refuses_what_is_half_closed(void **state)
{
	struct c1m_record record = {0};

	(void)state;
	if (can_not_run()) {
		skip();
		return;
	}
	shutdown(far_fd, SHUT_WR);
	assert_int_equal(c1m_tcp_settled(near_fd), -EAGAIN);
	assert_int_equal(c1m_tcp_read_out(near_fd, &record), -EAGAIN);
	shutdown(near_fd, SHUT_WR);
	assert_int_equal(c1m_tcp_read_out(near_fd, &record), -EAGAIN);
}

static void refuses_ipv6(void **state)
{
	struct c1m_record record = {0};
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	(void)state;
	if (can_not_run() || fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		skip();
		return;
	}
	listen(fd, 1);
	getsockname(fd, (struct sockaddr *)&address, &(socklen_t){sizeof(address)});
	close(near_fd);
	near_fd = socket(AF_INET6, SOCK_STREAM, 0);
	assert_int_equal(connect(near_fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(c1m_tcp_name(near_fd, &record), -EAFNOSUPPORT);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(goes_on_where_it_was, setup, teardown),
		cmocka_unit_test_setup_teardown(has_the_same_properties, setup, teardown),
		cmocka_unit_test_setup_teardown(timestamps_never_step_back, setup, teardown),
		cmocka_unit_test_setup_teardown(small_segments_stay_small, setup, teardown),
		cmocka_unit_test_setup_teardown(an_unscaled_window_stays_unscaled, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_what_is_unread, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_what_is_half_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_ipv6, setup, teardown),
	};

	if (!netns_probe(reason, sizeof(reason)) && !netns_enter(0, reason, sizeof(reason)))
		*reason = '\0';
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("TCP records", tests, NULL, NULL);
}
