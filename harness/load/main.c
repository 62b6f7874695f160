// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - parkbench-load: opens connections, holds them, asks on all of them. */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/common/address.h"
#include "harness/common/body.h"
#include "harness/common/clock.h"
#include "harness/common/control.h"
#include "harness/common/limits.h"
#include "harness/common/options.h"
#include "harness/core/plugin.h"
#include "harness/load/floor.h"
#include "harness/load/load.h"

#define PROGRESS_MS 250
/* Of a hold or an active phase: a day. */
#define SECONDS_MAX 86400

const char *argp_program_version = "parkbench-load (ParkBench) " PARKBENCH_VERSION;

static const char doc[] =
	"Opens TLS connections from explicit source addresses and ports of 127.0.0.0/8, holds them "
	"idle, sends a GET on every one of them before it reads any answer, checks every byte, and "
	"closes. Nothing is tried twice; failures are counted by cause.\v"
	"Try it:\n"
	"  parkbench-server --listen 127.0.0.1:8443 &\n"
	"  parkbench-load --connect 127.0.0.1:8443 --connections 1000 --hold 5\n\n"
	"Exit status: 0 all went well, 1 something failed, 2 it could not start.";

enum {
	OPT_IN_FLIGHT = 256,
	OPT_WAVES,
	OPT_PATH,
	OPT_SAMPLES,
	OPT_WAKE_SAMPLES,
	OPT_TIMEOUT,
	OPT_HOLD,
	OPT_ROUNDS,
	OPT_CONTROL,
	OPT_CRYPTO_FLOOR,
	OPT_SERVER_TLS,
	OPT_WORKER_MODEL,
	OPT_FIRST,
	OPT_STAGGER,
	OPT_MEMORY_FLOOR,
};

static const struct argp_option options[] = {
	{"connect", 'C', "ADDRESS:PORT", 0, "The server, in 127.0.0.0/8 (127.0.0.1:8443)", 1},
	{"tls", 't', "NAME", 0, "TLS backend of this side, or plain (openssl)", 1},
	{"park", 'p', "LEVEL", 0, "What an idle connection keeps on this side (shed)", 1},
	{"workers", 'w', "N", 0, "Workers (0: one a CPU, or as many as it takes)", 1},
	{"worker-model", OPT_WORKER_MODEL, "NAME", 0,
	 "What a worker is: `threads` share one table of open files, `tables` are threads with a "
	 "table each; `auto` is threads while one table is enough (auto)",
	 1},
	{"connections", 'c', "N", 0, "Connections (1000)", 1},
	{"in-flight", OPT_IN_FLIGHT, "N", 0, "Handshakes in flight at a time (64)", 1},
	{"waves", OPT_WAVES, NULL, 0,
	 "Go on with these handshakes when the server has answered all of them, with the next ones "
	 "when these are done",
	 1},
	{"path", OPT_PATH, "/ or /N", 0, "What is asked for in a round (/)", 1},
	{"timeout", OPT_TIMEOUT, "SECONDS", 0, "Of a handshake and of a response (60)", 1},
	{"first", OPT_FIRST, "N", 0,
	 "Number of the first connection in the plan of sources: several load generators take a "
	 "range each (0)",
	 2},
	{"stagger", OPT_STAGGER, "SECONDS", 0, "Spread the starts of the workers over so long (0)",
	 2},
	{"memory-floor", OPT_MEMORY_FLOOR, "BYTES", 0,
	 "End the ramp when the machine has less memory available (0)", 2},
	{"hold", OPT_HOLD, "SECONDS", 0, "How long the connections idle (1)", 2},
	{"rounds", OPT_ROUNDS, "N", 0, "How many rounds (2)", 2},
	{"samples", OPT_SAMPLES, "FILE", 0,
	 "Write every handshake time, in microseconds, one a line", 2},
	{"wake-samples", OPT_WAKE_SAMPLES, "FILE", 0,
	 "Write every time of the last `wakes`, in microseconds, one a line", 2},
	{"control", OPT_CONTROL, NULL, 0,
	 "Take the commands `ramp`, `hold SECONDS`, `fetch BYTES`, `key_update`, `round`, `wakes "
	 "N`, `active FRACTION SECONDS`, `close` and `quit` on standard input, answer in JSON",
	 3},
	{"crypto-floor", OPT_CRYPTO_FLOOR, "N", 0,
	 "No network: measure N handshakes in memory against --server-tls", 3},
	{"server-tls", OPT_SERVER_TLS, "NAME", 0, "The server's TLS backend, for --crypto-floor",
	 3},
	{0},
};

struct arguments {
	struct load_config load;
	struct sizing_wish wish;
	const char *tls, *park, *connect, *samples, *wake_samples, *server_tls;
	unsigned hold_s, rounds, floor_handshakes;
	bool control;
};

static error_t parse_run_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_SAMPLES:
		a->samples = arg;
		return 0;
	case OPT_WAKE_SAMPLES:
		a->wake_samples = arg;
		return 0;
	case OPT_FIRST:
		a->load.first = option_number(state, "--first", arg, 0, UINT32_MAX);
		return 0;
	case OPT_STAGGER:
		a->load.stagger_s = option_number(state, "--stagger", arg, 0, SECONDS_MAX);
		return 0;
	case OPT_MEMORY_FLOOR:
		a->load.memory_floor_bytes = option_bytes(state, "--memory-floor", arg);
		return 0;
	case OPT_HOLD:
		a->hold_s = option_number(state, "--hold", arg, 0, SECONDS_MAX - 1);
		return 0;
	case OPT_ROUNDS:
		a->rounds = option_number(state, "--rounds", arg, 0, 1000);
		return 0;
	case OPT_CONTROL:
		a->control = true;
		return 0;
	case OPT_CRYPTO_FLOOR:
		a->floor_handshakes = option_number(state, "--crypto-floor", arg, 1, 1000000);
		return 0;
	case OPT_SERVER_TLS:
		a->server_tls = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'C':
		a->connect = arg;
		return 0;
	case 't':
		a->tls = arg;
		return 0;
	case 'p':
		a->park = arg;
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
	case OPT_IN_FLIGHT:
		a->load.in_flight = option_number(state, "--in-flight", arg, 1, 1000000);
		return 0;
	case OPT_WAVES:
		a->load.waves = true;
		return 0;
	case OPT_PATH:
		a->load.path = arg;
		return 0;
	case OPT_TIMEOUT:
		a->load.timeout_s = option_number(state, "--timeout", arg, 1, OPTION_SECONDS_MAX);
		return 0;
	default:
		return parse_run_option(key, arg, state);
	}
}

static void resolve(struct arguments *a)
{
	struct sockaddr_storage address;
	socklen_t len;
	char reason[512];

	a->load.park = option_park(a->park);
	if (plugin_open(a->tls, &a->load.tls, reason, sizeof(reason)))
		errx(2, "%s", reason);
	if (address_parse(a->connect, &address, &len) || address.ss_family != AF_INET)
		errx(2, "--connect \"%s\": not an IPv4 ADDRESS:PORT, such as 127.0.0.1:8443",
		     a->connect);
	memcpy(&a->load.server, &address, sizeof(a->load.server));
	if (a->wish.model == WORKER_PROCESSES)
		errx(2,
		     "--worker-model processes: start several load generators instead, each with "
		     "its own --first");
	a->wish.files = limits_raise_files();
	a->wish.socketless = a->load.park == PARK_DEEP;
	if (sizing_choose(&a->wish, &a->load.sizing, reason, sizeof(reason)))
		errx(2, "%s", reason);
	/* With each CPU going from one small worker to the next, a ramp takes twice as long. */
	a->load.ramping_max = a->wish.cpus;
	if (a->load.ramping_max > a->load.sizing.workers)
		a->load.ramping_max = a->load.sizing.workers;
}

/* ---- phases, waited for: under control with progress lines ---- */

/* The other side of `--control` has gone. */
static bool abandoned(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&in, 1, 0) == 1 && (in.revents & POLLHUP) && !(in.revents & POLLIN);
}

static void await(struct load *load, const struct arguments *a, const char *phase,
		  struct load_result *result)
{
	while (!load_wait(load, PROGRESS_MS, result)) {
		if (!a->control)
			continue;
		if (abandoned())
			exit(1);
		control_say(json_pack("{s:s,s:s,s:I,s:I}", "event", "progress", "phase", phase,
				      "ok", (json_int_t)result->ok, "failed",
				      (json_int_t)result->failed));
	}
}

/* file NULL: nowhere. */
static struct load_latency keep_times(const struct times *times, const char *file)
{
	int rc = file ? times_write(times, file) : 0;

	if (rc)
		errx(1, "%s: %s", file, strerror(-rc));
	return times_latency(times);
}

static json_t *ramp(struct load *load, const struct arguments *a)
{
	struct load_latency latency;
	struct load_result result;

	load_ramp(load);
	await(load, a, "ramp", &result);
	latency = keep_times(load_handshakes(load), a->samples);
	return json_pack("{s:s,s:I,s:I,s:f,s:{s:f,s:f,s:f},s:s,s:o}", "event", "ramp",
			 "established", (json_int_t)result.ok, "failed", (json_int_t)result.failed,
			 "ramp_s", result.seconds, "handshake_us", "p50", latency.p50, "p99",
			 latency.p99, "max", latency.max, "tls_protocol", load_protocol(load),
			 "failures", tally_json(&result.failures));
}

static json_t *hold(struct load *load, const struct arguments *a, double seconds)
{
	uint64_t end_ns = clock_now_ns() + (uint64_t)(seconds * NS_PER_S);
	struct load_result result;

	for (uint64_t now = clock_now_ns(); now < end_ns; now = clock_now_ns()) {
		uint64_t left_ms = (end_ns - now) / NS_PER_MS + 1;

		poll(NULL, 0, left_ms < PROGRESS_MS ? (int)left_ms : PROGRESS_MS);
		if (a->control && abandoned())
			exit(1);
	}
	load_dropped(load, &result);
	return json_pack("{s:s,s:I,s:I,s:o}", "event", "hold", "dropped", (json_int_t)result.failed,
			 "open", (json_int_t)result.open, "failures", tally_json(&result.failures));
}

/* What a phase of requests came to. */
static json_t *answers(const char *event, const struct load_result *result)
{
	return json_pack("{s:s,s:I,s:I,s:f,s:f,s:o}", "event", event, "ok", (json_int_t)result->ok,
			 "failed", (json_int_t)result->failed, "seconds", result->seconds, "rps",
			 result->seconds > 0 ? (double)result->ok / result->seconds : 0.0,
			 "failures", tally_json(&result->failures));
}

static json_t *fetch(struct load *load, const struct arguments *a, unsigned bytes)
{
	struct load_result result;

	load_fetch(load, bytes);
	await(load, a, "fetch", &result);
	return answers("fetch", &result);
}

static json_t *round_trip(struct load *load, const struct arguments *a)
{
	struct load_result result;

	load_round(load);
	await(load, a, "round", &result);
	return answers("round", &result);
}

static json_t *update_keys(struct load *load, const struct arguments *a)
{
	struct load_result result;

	load_key_update(load);
	await(load, a, "key_update", &result);
	return answers("key_update", &result);
}

static json_t *be_active(struct load *load, const struct arguments *a, double fraction,
			 double seconds)
{
	struct load_result result;
	json_t *answer;

	load_active(load, fraction, seconds);
	await(load, a, "active", &result);
	answer = answers("active", &result);
	json_object_set_new(answer, "connections", json_integer((json_int_t)result.active));
	return answer;
}

static json_t *wake(struct load *load, const struct arguments *a, unsigned count)
{
	struct load_latency latency;
	struct load_result result;
	int rc = load_wakes(load, count);

	if (rc)
		errx(1, "wakes %u: %s", count, strerror(-rc));
	await(load, a, "wakes", &result);
	latency = keep_times(load_wake_times(load), a->wake_samples);
	return json_pack("{s:s,s:I,s:I,s:f,s:f,s:f,s:o}", "event", "wakes", "ok",
			 (json_int_t)result.ok, "failed", (json_int_t)result.failed, "p50_us",
			 latency.p50, "p99_us", latency.p99, "max_us", latency.max, "failures",
			 tally_json(&result.failures));
}

static json_t *close_all(struct load *load, const struct arguments *a)
{
	struct load_result result;

	load_close(load);
	await(load, a, "close", &result);
	return json_pack("{s:s,s:I,s:o}", "event", "close", "closed", (json_int_t)result.ok,
			 "failures", tally_json(&result.failures));
}

/* ---- under control ---- */

/* False: quit. */
static bool obey(struct load *load, const struct arguments *a, const char *line)
{
	double fraction, seconds;
	unsigned bytes, count;

	if (!strcmp(line, "quit"))
		return false;
	if (!strcmp(line, "ramp"))
		control_say(ramp(load, a));
	else if (sscanf(line, "hold %lf", &seconds) == 1 && seconds >= 0 && seconds < SECONDS_MAX)
		control_say(hold(load, a, seconds));
	else if (!strcmp(line, "round"))
		control_say(round_trip(load, a));
	else if (!strcmp(line, "key_update"))
		control_say(update_keys(load, a));
	else if (sscanf(line, "fetch %u", &bytes) == 1 && bytes > 0 && bytes <= BODY_BYTES_MAX)
		control_say(fetch(load, a, bytes));
	else if (sscanf(line, "wakes %u", &count) == 1 && count > 0 && count <= OPTION_WAKES_MAX)
		control_say(wake(load, a, count));
	else if (sscanf(line, "active %lf %lf", &fraction, &seconds) == 2 && fraction > 0 &&
		 fraction <= 1 && seconds >= 0 && seconds < SECONDS_MAX)
		control_say(be_active(load, a, fraction, seconds));
	else if (!strcmp(line, "close"))
		control_say(close_all(load, a));
	else
		control_complain(line,
				 "ramp, hold SECONDS, fetch BYTES, key_update, round, wakes N, "
				 "active FRACTION SECONDS, close, quit");
	return true;
}

static int run_controlled(struct load *load, const struct arguments *a)
{
	struct control control = {0};
	char line[CONTROL_LINE_BYTES], version[512];
	int rc;

	plugin_version_line(a->load.tls, version, sizeof(version));
	control_say(json_pack("{s:s,s:i,s:s,s:s,s:I}", "event", "ready", "pid", getpid(),
			      "tls_version", version, "worker_model",
			      worker_model_name(a->load.sizing.model), "workers",
			      (json_int_t)a->load.sizing.workers));
	while ((rc = control_read(&control, STDIN_FILENO, line)) >= 0) {
		if (rc == 0)
			continue;
		if (!obey(load, a, line)) {
			control_say(json_pack("{s:s}", "event", "quit"));
			return 0;
		}
	}
	return rc == -EPIPE ? 0 : 1;
}

/* ---- by hand ---- */

/* Prints the object as it is and says whether nothing in it failed. */
static bool report(json_t *object)
{
	bool good = json_object_size(json_object_get(object, "failures")) == 0;

	control_say(object);
	return good;
}

static int run_by_hand(struct load *load, const struct arguments *a)
{
	bool good = report(ramp(load, a));

	good &= report(hold(load, a, a->hold_s));
	for (unsigned i = 0; i < a->rounds; i++)
		good &= report(round_trip(load, a));
	good &= report(close_all(load, a));
	return good ? 0 : 1;
}

static int run_floor(const struct arguments *a)
{
	const struct tls_ops *server;
	struct floor_result result;
	char reason[512] = "";

	if (!a->server_tls)
		errx(2, "--crypto-floor needs --server-tls NAME");
	if (plugin_open(a->server_tls, &server, reason, sizeof(reason)))
		errx(2, "%s", reason);
	if (floor_measure(server, a->load.tls, a->load.park, a->floor_handshakes, &result, reason,
			  sizeof(reason)))
		errx(1, "%s", reason);
	control_say(json_pack("{s:s,s:i,s:f,s:f}", "event", "crypto_floor", "handshakes",
			      (int)a->floor_handshakes, "server_us", result.server_us, "client_us",
			      result.client_us));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
	struct arguments a = {
		.tls = "openssl",
		.park = "shed",
		.connect = "127.0.0.1:8443",
		.hold_s = 1,
		.rounds = 2,
		.wish = {.connections = 1000, .cpus = option_cpus()},
		.load = {.in_flight = 64, .path = "/", .timeout_s = 60},
	};
	struct load *load;
	char reason[512] = "";
	int rc;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	signal(SIGPIPE, SIG_IGN);
	resolve(&a);
	if (a.floor_handshakes)
		return run_floor(&a);
	rc = load_start(&load, &a.load, reason, sizeof(reason));
	if (rc)
		errx(2, "%s", *reason ? reason : strerror(-rc));
	rc = a.control ? run_controlled(load, &a) : run_by_hand(load, &a);
	load_free(load);
	return rc;
}
