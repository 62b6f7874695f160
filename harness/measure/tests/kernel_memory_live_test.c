// SPDX-License-Identifier: Apache-2.0
/* harness/measure/tests/ - the kernel's charge for 1,000 accepted connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/measure/kernel_memory.h"

#define CONNECTIONS 1000
/* About 3,650 B are known of Linux 6.18; epoll would add 208. */
#define CONNECTION_MIN_BYTES 3500
#define CONNECTION_MAX_BYTES 4200

/* Released by tear_down, whatever failed. */
struct live {
	struct kernel_meter meter;
	pid_t child;
	int control; /* our end of the socket pair to the child */
	int connections[CONNECTIONS];
};

/* The accepting side: nothing is made before the parent put it into its group. */
static void accept_all(int control)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	char byte;

	if (read(control, &byte, 1) != 1)
		_exit(1);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, CONNECTIONS) ||
	    getsockname(listener, (struct sockaddr *)&address, &length) ||
	    write(control, &address, sizeof(address)) != sizeof(address))
		_exit(1);
	for (int i = 0; i < CONNECTIONS; i++)
		if (accept(listener, NULL, NULL) < 0)
			_exit(1);
	if (write(control, "a", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Room for the connections of one side, or a skip. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur >= CONNECTIONS + 50)
		return;
	if (limit.rlim_max < CONNECTIONS + 50) {
		print_message("skipped: the hard limit of open files is below %d\n",
			      CONNECTIONS + 50);
		skip();
	}
	limit.rlim_cur = CONNECTIONS + 50;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void start_child(struct live *live)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	live->child = fork();
	assert_true(live->child >= 0);
	if (!live->child) {
		close(ends[0]);
		accept_all(ends[1]);
	}
	close(ends[1]);
	live->control = ends[0];
}

/* A lingering close of zero seconds leaves no TIME_WAIT in the caller's namespace. */
static void connect_all(struct live *live, const struct sockaddr_in *address)
{
	const struct linger reset = {.l_onoff = 1};

	for (int i = 0; i < CONNECTIONS; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		assert_true(fd >= 0);
		live->connections[i] = fd;
		assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
		assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof(*address)),
				 0);
	}
}

static void stop_child(struct live *live)
{
	if (live->child > 0) {
		kill(live->child, SIGKILL);
		waitpid(live->child, NULL, 0);
	}
	live->child = 0;
}

static int set_up(void **state)
{
	struct live *live = calloc(1, sizeof(*live));

	if (!live)
		return -1;
	for (int i = 0; i < CONNECTIONS; i++)
		live->connections[i] = -1;
	live->control = -1;
	*state = live;
	return 0;
}

static int tear_down(void **state)
{
	struct live *live = *state;

	for (int i = 0; i < CONNECTIONS; i++)
		if (live->connections[i] >= 0)
			close(live->connections[i]);
	if (live->control >= 0)
		close(live->control);
	stop_child(live);
	int err = kernel_meter_close(&live->meter);
	free(live);
	return err;
}

static void open_memcg(struct live *live)
{
	char name[64];

	snprintf(name, sizeof(name), "parkbench-test-%d", getpid());
	assert_int_equal(kernel_meter_open(&live->meter, &kernel_system_roots, name), 0);
	if (live->meter.method != KERNEL_METHOD_MEMCG_V1 &&
	    live->meter.method != KERNEL_METHOD_MEMCG_V2) {
		print_message("skipped: no memory cgroup here: %s\n", live->meter.reason);
		skip();
	}
}

static void charge_of_accepted_connections(void **state)
{
	struct live *live = *state;
	struct sockaddr_in address;
	int64_t before_bytes, after_bytes;
	char byte;

	raise_file_limit();
	open_memcg(live);
	start_child(live);
	int err = kernel_meter_add_pid(&live->meter, live->child);
	if (err == -EACCES || err == -EPERM) {
		print_message("skipped: %s: %s\n", live->meter.path, strerror(-err));
		skip();
	}
	assert_int_equal(err, 0);
	assert_int_equal(write(live->control, "g", 1), 1);
	assert_int_equal(read(live->control, &address, sizeof(address)), sizeof(address));

	assert_int_equal(kernel_meter_read(&live->meter, &before_bytes), 0);
	connect_all(live, &address);
	assert_int_equal(read(live->control, &byte, 1), 1);
	assert_int_equal(kernel_meter_read(&live->meter, &after_bytes), 0);

	int64_t each_bytes = (after_bytes - before_bytes) / CONNECTIONS;
	print_message("%s: %d bytes a connection\n", kernel_method_name(live->meter.method),
		      (int)each_bytes);
	/* Before 6.12 the struct sock is missing, and the meter says so. */
	if (!live->meter.misses_accepted)
		assert_in_range(each_bytes, CONNECTION_MIN_BYTES, CONNECTION_MAX_BYTES);
	else
		assert_in_range(each_bytes, 1, CONNECTION_MAX_BYTES);
}

/* The group can't be removed while a process is in it, and is gone afterwards. */
static void close_waits_for_the_group_to_empty(void **state)
{
	struct live *live = *state;
	char path[PATH_MAX];

	open_memcg(live);
	start_child(live);
	if (kernel_meter_add_pid(&live->meter, live->child)) {
		print_message("skipped: %s is not writable\n", live->meter.path);
		skip();
	}
	memcpy(path, live->meter.path, sizeof(path));
	assert_int_equal(kernel_meter_close(&live->meter), -EBUSY);
	assert_string_equal(live->meter.path, path);
	stop_child(live);
	assert_int_equal(kernel_meter_close(&live->meter), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(charge_of_accepted_connections, set_up, tear_down),
		cmocka_unit_test_setup_teardown(close_waits_for_the_group_to_empty, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("kernel_memory_live", tests, NULL, NULL);
}
