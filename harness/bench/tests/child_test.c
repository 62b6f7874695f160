// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - programs under control: their lines and their deaths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/bench/child.h"
#include "harness/bench/netns.h"

/* Far longer than any of these needs: a test that waits so long has failed. */
#define LONG_MS 10000

static char log_path[] = "/tmp/parkbench-child-XXXXXX";

static int make_log(void **state)
{
	int fd = mkstemp(log_path);

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	return fd < 0 ? -1 : close(fd);
}

static int drop_log(void **state)
{
	(void)state;
	return unlink(log_path);
}

static struct child run_script(const char *script)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	struct child child;

	assert_int_equal(child_spawn(&child, "script", argv, log_path, NULL, NULL), 0);
	return child;
}

static void talks_in_lines(void **state)
{
	struct child child =
		run_script("echo '{\"event\":\"ready\"}'; read line; "
			   "printf '{\"got\":'; printf '\"%s\"}\\n{\"more\":1}\\n' \"$line\"; "
			   "read line");
	json_t *object;

	(void)state;
	assert_int_equal(child_read(&child, LONG_MS, &object), 0);
	assert_string_equal(json_string_value(json_object_get(object, "event")), "ready");
	json_decref(object);
	assert_int_equal(child_read(&child, 0, &object), -ETIMEDOUT);
	assert_int_equal(child_send(&child, "ramp"), 0);
	assert_int_equal(child_read(&child, LONG_MS, &object), 0);
	assert_string_equal(json_string_value(json_object_get(object, "got")), "ramp");
	json_decref(object);
	assert_int_equal(child_read(&child, LONG_MS, &object), 0);
	assert_non_null(json_object_get(object, "more"));
	json_decref(object);
	assert_true(child_alive(&child));
	child_end(&child);
	assert_false(child_alive(&child));
}

static void notices_nonsense_and_the_end(void **state)
{
	struct child child =
		run_script("echo hello; echo '[1]'; echo '{}'; echo last words >&2; exit 3");
	char words[256];
	json_t *object;

	(void)state;
	assert_int_equal(child_read(&child, LONG_MS, &object), -EBADMSG);
	assert_int_equal(child_read(&child, LONG_MS, &object), -EBADMSG);
	assert_int_equal(child_read(&child, LONG_MS, &object), 0);
	json_decref(object);
	assert_int_equal(child_read(&child, LONG_MS, &object), -EPIPE);
	assert_null(object);
	assert_int_equal(child_wait(&child, LONG_MS), 0);
	child_obituary(&child, words, sizeof(words));
	assert_string_equal(words, "exit status 3: last words");
	assert_int_equal(child_send(&child, "late"), -EPIPE);
	child_end(&child);
	child_end(&child);
}

static void tells_a_signal_from_a_status(void **state)
{
	struct child child = run_script("echo 'about to go' >&2; kill -SEGV $$");
	char words[256];

	(void)state;
	assert_int_equal(child_wait(&child, LONG_MS), 0);
	child_obituary(&child, words, sizeof(words));
	assert_string_equal(words, "signal 11 (Segmentation fault): about to go");
	child_end(&child);
}

static void says_what_can_not_be_started(void **state)
{
	const char *const argv[] = {"/no/such/program", NULL};
	struct child child;
	char words[256];

	(void)state;
	assert_int_equal(child_spawn(&child, "ghost", argv, log_path, NULL, NULL), 0);
	assert_int_equal(child_wait(&child, LONG_MS), 0);
	child_obituary(&child, words, sizeof(words));
	assert_string_equal(words, "exit status 127: /no/such/program: No such file or directory");
	child_end(&child);
	assert_int_equal(child_spawn(&child, "mute", argv, "/no/such/log", NULL, NULL), -ENOENT);
}

static void knows_who_answers_on_a_port(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint16_t port;

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	port = ntohs(address.sin_port);
	assert_false(netns_port_answers(INADDR_LOOPBACK, port));
	assert_int_equal(listen(fd, 1), 0);
	assert_true(netns_port_answers(INADDR_LOOPBACK, port));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(talks_in_lines),
		cmocka_unit_test(notices_nonsense_and_the_end),
		cmocka_unit_test(tells_a_signal_from_a_status),
		cmocka_unit_test(says_what_can_not_be_started),
		cmocka_unit_test(knows_who_answers_on_a_port),
	};

	return cmocka_run_group_tests_name("child", tests, make_log, drop_log);
}
