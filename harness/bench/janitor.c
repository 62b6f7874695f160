// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the janitor. */
#include "harness/bench/janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a million sockets take to be gone, many times over; an attempt takes two seconds. */
enum { ATTEMPTS_MAX = 300 };

int janitor_clean(struct janitor_order *order)
{
	int ret = 0;

	if (order->group > 0)
		kill(-order->group, SIGKILL);
	order->group = 0;
	for (int i = 0; i < JANITOR_METERS; i++) {
		struct kernel_meter *meter = &order->meters[i];

		/* It waits for the last process of the group to be gone. */
		if (meter->method != KERNEL_METHOD_NONE && kernel_meter_close(meter) == -EBUSY)
			ret = -EBUSY;
		else
			meter->method = KERNEL_METHOD_NONE;
	}
	return ret;
}

/* 1: a whole order; 0: parkbench is gone. */
static int read_order(int fd, struct janitor_order *order)
{
	struct janitor_order next = {0};
	size_t got = 0;

	while (got < sizeof(next)) {
		ssize_t n = read(fd, (char *)&next + got, sizeof(next) - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		got += (size_t)n;
	}
	*order = next;
	return 1;
}

/* A session of its own keeps the terminal's Ctrl-C away, and /dev/null lets a
 * `parkbench run | tee` end with parkbench. */
static void work(int fd)
{
	struct janitor_order order = {0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (int i = STDIN_FILENO; null >= 0 && i <= STDERR_FILENO; i++)
		dup2(null, i);
	while (read_order(fd, &order))
		;
	for (int i = 0; janitor_clean(&order) == -EBUSY && i < ATTEMPTS_MAX; i++)
		;
	_exit(0);
}

int janitor_start(struct janitor *janitor)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	janitor->pid = fork();
	if (janitor->pid == 0) {
		close(ends[1]);
		work(ends[0]);
	}
	close(ends[0]);
	janitor->pipe = ends[1];
	if (janitor->pid > 0)
		return 0;
	close(ends[1]);
	return -EAGAIN;
}

int janitor_tell(struct janitor *janitor, const struct janitor_order *order)
{
	size_t put = 0;

	while (put < sizeof(*order)) {
		ssize_t n = write(janitor->pipe, (const char *)order + put, sizeof(*order) - put);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			put += (size_t)n;
	}
	return 0;
}

void janitor_end(struct janitor *janitor)
{
	close(janitor->pipe);
	while (waitpid(janitor->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
