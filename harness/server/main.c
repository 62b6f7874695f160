// SPDX-License-Identifier: Apache-2.0
/* harness/server/ - parkbench-server: the server under measurement, also run by hand. */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>

#include "harness/common/address.h"
#include "harness/common/limits.h"
#include "harness/common/options.h"
#include "harness/core/plugin.h"
#include "harness/server/serve.h"

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
	OPT_LOCK_RECORDS,
	OPT_HANDSHAKES_MAX,
	OPT_NO_TRIM,
	OPT_CONTROL,
	OPT_WORKER_MODEL,
};

static const struct argp_option options[] = {
	{"reactor", 'r', "NAME", 0, "How events arrive (epoll)", 1},
	{"tls", 't', "NAME", 0, "TLS backend, or plain (openssl)", 1},
	{"park", 'p', "LEVEL", 0, "What an idle connection keeps (shed)", 1},
	{"workers", 'w', "N", 0,
	 "Workers, each with its own listener (0: one a CPU, or as many as it takes)", 1},
	{"worker-model", OPT_WORKER_MODEL, "NAME", 0,
	 "What a worker is: `threads` share one table of open files, `tables` are threads with a "
	 "table each, `processes` are forked; `auto` is threads while one table is enough, else "
	 "tables (auto)",
	 1},
	{"listen", 'l', "ADDRESS:PORT", 0, "Where to listen (127.0.0.1:8443)", 1},
	{"connections", 'c', "N", 0,
	 "Connections that must fit; refuses to start when they do not (all that the limit on "
	 "open files allows)",
	 1},
	{"cert", OPT_CERT, "FILE", 0, "Certificate chain, PEM (a throwaway one)", 2},
	{"key", OPT_KEY, "FILE", 0, "Its private key, PEM", 2},
	{"tickets", OPT_TICKETS, "N", 0, "Session tickets a client gets below level hold (0)", 2},
	{"handshake-timeout", OPT_HANDSHAKE_TIMEOUT, "SECONDS", 0,
	 "Until a handshake, or a request once begun, must be complete (10; 0: for ever)", 2},
	{"idle-timeout", OPT_IDLE_TIMEOUT, "SECONDS", 0,
	 "Until an idle connection is closed (0: never)", 2},
	{"lock-records", OPT_LOCK_RECORDS, NULL, 0,
	 "At level keys: keep the traffic secrets in memory, never in swap (mlock)", 2},
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
	struct sizing_wish wish;
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
		a->wish.workers = option_number(state, "--workers", arg, 0, SIZING_WORKERS_MAX);
		return 0;
	case OPT_WORKER_MODEL:
		a->wish.model = option_worker_model(state, arg);
		return 0;
	case 'c':
		a->wish.connections = option_number(state, "--connections", arg, 1, 100000000);
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
	case OPT_LOCK_RECORDS:
		a->server.lock_records = true;
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
	a->wish.files = limits_raise_files();
	a->wish.socketless = c->park == PARK_DEEP;
	if (sizing_choose(&a->wish, &c->sizing, reason, sizeof(reason)))
		errx(2, "%s", reason);
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
	const struct sizing *sizing = &a->server.sizing;
	char version[512];

	if (a->control) {
		serve_say_ready(&a->server);
		return;
	}
	plugin_version_line(a->server.tls, version, sizeof(version));
	printf("listening on %s: %s+%s+%s, %u workers (%s), up to %u connections, %u of one "
	       "worker\n"
	       "%s\n",
	       a->listen, a->reactor, a->tls, a->park, sizing->workers,
	       worker_model_name(sizing->model), sizing->connections, sizing->connections_max,
	       version);
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
		.server = {.handshake_timeout_s = 10, .handshakes_max = OPTION_HANDSHAKES_MAX},
		.wish = {.cpus = option_cpus(), .spread = true},
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
	serve_stop(server, a.control);
	return status;
}
