// SPDX-License-Identifier: Apache-2.0
/* harness/server/ - parkbench-server: the server under measurement, also run by hand. */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "harness/common/address.h"
#include "harness/common/control.h"
#include "harness/common/limits.h"
#include "harness/common/options.h"
#include "harness/core/plugin.h"
#include "harness/server/server.h"

#define STOP_GRACE_S 5
#define WATCH_MS 1000

const char *argp_program_version = "parkbench-server (ParkBench) " PARKBENCH_VERSION;

static const char doc[] =
	"Holds TLS connections and answers HTTP/1.1 on them.\v"
	"Paths: / a greeting, /N a body of N bytes (up to 1048576), /healthz.\n\n"
	"Try it:\n"
	"  parkbench-server --reactor epoll --tls boringssl --park shed --listen 127.0.0.1:8443\n"
	"  curl -k https://127.0.0.1:8443/\n"
	"  openssl s_client -connect 127.0.0.1:8443\n"
	"  wrk -c 1000 https://127.0.0.1:8443/\n\n"
	"SIGTERM and SIGINT stop it gracefully; SIGUSR1 prints its counters. `parkbench list` "
	"shows "
	"the reactors, TLS backends and park levels there are.\n\n"
	"Exit status: 0 stopped as asked, 1 it failed while running, 2 it could not start.";

enum {
	OPT_CERT = 256,
	OPT_KEY,
	OPT_TICKETS,
	OPT_HANDSHAKE_TIMEOUT,
	OPT_IDLE_TIMEOUT,
	OPT_HANDSHAKES_MAX,
	OPT_NO_TRIM,
	OPT_CONTROL,
};

static const struct argp_option options[] = {
	{"reactor", 'r', "NAME", 0, "How events arrive (epoll)", 1},
	{"tls", 't', "NAME", 0, "TLS backend, or plain (openssl)", 1},
	{"park", 'p', "LEVEL", 0, "What an idle connection keeps (shed)", 1},
	{"workers", 'w', "N", 0, "Workers, each with its own listener (one a CPU)", 1},
	{"listen", 'l', "ADDRESS:PORT", 0, "Where to listen (127.0.0.1:8443)", 1},
	{"connections", 'c', "N", 0,
	 "Connections that must fit; refuses to start when the file limit is below (all that the "
	 "limit allows)",
	 1},
	{"cert", OPT_CERT, "FILE", 0, "Certificate chain, PEM (a throwaway one)", 2},
	{"key", OPT_KEY, "FILE", 0, "Its private key, PEM", 2},
	{"tickets", OPT_TICKETS, "N", 0, "Session tickets a client gets below level hold (0)", 2},
	{"handshake-timeout", OPT_HANDSHAKE_TIMEOUT, "SECONDS", 0,
	 "Until a handshake, or a request once begun, must be complete (10; 0: for ever)", 2},
	{"idle-timeout", OPT_IDLE_TIMEOUT, "SECONDS", 0,
	 "Until an idle connection is closed (0: never)", 2},
	{"handshakes-max", OPT_HANDSHAKES_MAX, "N", 0,
	 "Handshakes under way at once, a worker; further connections wait in the backlog, where "
	 "they cost nothing. A peer that stalls holds its place until --handshake-timeout (256; 0: "
	 "no cap)",
	 2},
	{"no-trim", OPT_NO_TRIM, NULL, 0,
	 "Keep what handshakes freed in the allocator, instead of giving it back to the kernel "
	 "when "
	 "a worker falls quiet",
	 2},
	{"control", OPT_CONTROL, NULL, 0,
	 "Take the commands `stats` and `stop` on standard input, answer in JSON", 3},
	{0},
};

struct arguments {
	struct server_config server;
	const char *reactor, *tls, *park, *listen;
	bool control;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'r':
		a->reactor = arg;
		return 0;
	case 't':
		a->tls = arg;
		return 0;
	case 'p':
		a->park = arg;
		return 0;
	case 'l':
		a->listen = arg;
		return 0;
	case 'w':
		a->server.workers = option_number(state, "--workers", arg, 1, 1024);
		return 0;
	case 'c':
		a->server.connections = option_number(state, "--connections", arg, 1, 100000000);
		return 0;
	case OPT_CERT:
		a->server.cert_file = arg;
		return 0;
	case OPT_KEY:
		a->server.key_file = arg;
		return 0;
	case OPT_TICKETS:
		a->server.tickets = option_number(state, "--tickets", arg, 0, 16);
		return 0;
	case OPT_HANDSHAKE_TIMEOUT:
		a->server.handshake_timeout_s =
			option_number(state, "--handshake-timeout", arg, 0, OPTION_SECONDS_MAX);
		return 0;
	case OPT_IDLE_TIMEOUT:
		a->server.idle_timeout_s =
			option_number(state, "--idle-timeout", arg, 0, OPTION_SECONDS_MAX);
		return 0;
	case OPT_HANDSHAKES_MAX:
		a->server.handshakes_max =
			option_number(state, "--handshakes-max", arg, 0, 1000000);
		return 0;
	case OPT_NO_TRIM:
		a->server.no_trim = true;
		return 0;
	case OPT_CONTROL:
		a->control = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void resolve(struct arguments *a)
{
	struct server_config *c = &a->server;
	char reason[512];

	c->reactor = option_reactor(a->reactor);
	c->park = option_park(a->park);
	if (c->reactor->probe(reason, sizeof(reason)))
		errx(2, "reactor %s can not run here: %s", a->reactor, reason);
	if (plugin_open(a->tls, &c->tls, reason, sizeof(reason)))
		errx(2, "%s", reason);
	if (address_parse(a->listen, &c->address, &c->address_len))
		errx(2, "--listen \"%s\": not ADDRESS:PORT, such as 127.0.0.1:8443", a->listen);
	if (!c->cert_file != !c->key_file)
		errx(2, "--cert and --key go together: the chain in one PEM file, its key in the "
			"other");
	if (!c->connections)
		c->connections = server_connections_max(c->workers);
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

/* Until told to stop: 0, or 1 when a worker failed. */
static int serve(struct server *server, bool controlled, int signals)
{
	struct control control = {0};
	struct pollfd fds[2] = {{.fd = signals, .events = POLLIN},
				{.fd = controlled ? STDIN_FILENO : -1, .events = POLLIN}};
	char reason[256];

	for (;;) {
		if (poll(fds, 2, WATCH_MS) < 0 && errno != EINTR)
			err(1, "poll");
		if (server_failed(server, reason, sizeof(reason))) {
			warnx("%s", reason);
			return 1;
		}
		if ((fds[0].revents & POLLIN) && !take_signal(server, signals))
			return 0;
		if ((fds[1].revents & (POLLIN | POLLHUP)) && !read_commands(server, &control))
			return 0;
	}
}

static int block_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void announce(const struct arguments *a)
{
	char version[512];

	plugin_version_line(a->server.tls, version, sizeof(version));
	if (a->control)
		control_say(json_pack("{s:s,s:i,s:s}", "event", "ready", "pid", getpid(),
				      "tls_version", version));
	else
		printf("listening on %s: %s+%s+%s, %u workers, up to %u connections\n%s\n",
		       a->listen, a->reactor, a->tls, a->park, a->server.workers,
		       a->server.connections, version);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
	struct arguments a = {
		.reactor = "epoll",
		.tls = "openssl",
		.park = "shed",
		.listen = "127.0.0.1:8443",
		.server = {.handshake_timeout_s = 10,
			   .handshakes_max = OPTION_HANDSHAKES_MAX,
			   .workers = option_cpus()},
	};
	struct server *server;
	char reason[512];
	int signals, status;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	resolve(&a);
	signals = block_signals();
	if (server_start(&server, &a.server, reason, sizeof(reason)))
		errx(2, "%s", reason);
	announce(&a);
	status = serve(server, a.control, signals);
	server_stop(server, STOP_GRACE_S);
	if (a.control)
		control_say(json_pack("{s:s}", "event", "stopped"));
	return status;
}
