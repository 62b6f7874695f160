// SPDX-License-Identifier: Apache-2.0
/* harness/server/ - a server that runs: what signals and `--control` ask of it. */
#include "harness/server/serve.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "harness/common/control.h"
#include "harness/core/plugin.h"

#define WATCH_MS 1000

void serve_say_ready(const struct server_config *config)
{
	const struct sizing *sizing = &config->sizing;
	char version[512];

	plugin_version_line(config->tls, version, sizeof(version));
	control_say(json_pack(
		"{s:s,s:i,s:s,s:s,s:I,s:I,s:I}", "event", "ready", "pid", getpid(), "tls_version",
		version, "worker_model", worker_model_name(sizing->model), "workers",
		(json_int_t)sizing->workers, "connections", (json_int_t)sizing->connections,
		"connections_per_worker", (json_int_t)sizing->connections_max));
}

/* One command from the controlling side. False: the server is to stop. */
static bool obey(struct server *server, const char *line)
{
	if (!strcmp(line, "stop"))
		return false;
	if (!strcmp(line, "stats"))
		control_say(server_stats(server));
	else
		control_complain(line, "stats, stop");
	return true;
}

static bool read_commands(struct server *server, struct control *control)
{
	char line[CONTROL_LINE_BYTES];
	int rc;

	while ((rc = control_read(control, STDIN_FILENO, line)) == 1)
		if (!obey(server, line))
			return false;
	return rc == 0;
}

static bool take_signal(struct server *server, int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return true;
	if (info.ssi_signo != SIGUSR1)
		return false;
	control_say(server_stats(server));
	return true;
}

int serve(struct server *server, bool controlled, int signals)
{
	struct control control = {0};
	struct pollfd fds[2] = {{.fd = signals, .events = POLLIN},
				{.fd = controlled ? STDIN_FILENO : -1, .events = POLLIN}};
	char reason[256];

	for (;;) {
		if (poll(fds, 2, WATCH_MS) < 0 && errno != EINTR)
			err(1, "poll");
		if ((fds[0].revents & POLLIN) && !take_signal(server, signals))
			return 0;
		if ((fds[1].revents & (POLLIN | POLLHUP)) && !read_commands(server, &control))
			return 0;
		if (server_failed(server, reason, sizeof(reason))) {
			warnx("%s", reason);
			return 1;
		}
	}
}

void serve_stop(struct server *server, bool controlled)
{
	server_stop(server, SERVE_STOP_GRACE_S);
	if (controlled)
		control_say(json_pack("{s:s}", "event", "stopped"));
}
