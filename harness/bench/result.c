// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the result of one cell as a line of cells.jsonl. Library: jansson. */
#include "harness/bench/result.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const verdict_names[VERDICTS] = {
	[VERDICT_PASS] = "pass",
	[VERDICT_FAIL] = "fail",
	[VERDICT_SKIP] = "skip",
	[VERDICT_INVALID] = "invalid",
};

const char *const phase_names[PHASES] = {
	[PHASE_IDLE] = "idle",
	[PHASE_ROUND1] = "round_1",
	[PHASE_ROUND2] = "round_2",
	[PHASE_CLOSE] = "close",
};

static const struct result_memory unmeasured = {NAN, NAN, NAN};
static const struct result_round not_asked = {NAN, NAN, NAN};
static const struct result_wakes none_woken = {NAN, NAN, NAN, NAN, NAN};
static const struct result_active not_run = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};

void result_init(struct result *result, const struct matrix_cell *cell,
		 const struct experiment *exp)
{
	*result = (struct result){
		.cell = *cell,
		.workers = exp->workers,
		.clients = exp->clients,
		.established = NAN,
		.dropped_idle = NAN,
		.handshakes_peak = NAN,
		.ramp_s = NAN,
		.handshake_us_p50 = NAN,
		.handshake_us_p99 = NAN,
		.handshake_us_max = NAN,
		.user_baseline_bytes = NAN,
		.handshake_peak_bytes = NAN,
		.slab_bytes = NAN,
		.client_user_baseline_bytes = NAN,
		.ramp_peak_bytes = NAN,
		.round_peak_bytes = NAN,
		.memory_peak_bytes = NAN,
		.predicted_memory_bytes = NAN,
		.server_us_per_handshake = NAN,
		.client_us_per_handshake = NAN,
		.crypto_floor_us = NAN,
		.client_crypto_floor_us = NAN,
		.server_us_per_request = NAN,
		.server_syscalls_per_request = NAN,
		.client_cpu_percent = NAN,
		.server_cpu_percent = NAN,
		.listen_overflows = NAN,
		.listen_drops = NAN,
		.retrans_segs = NAN,
		.out_rsts = NAN,
	};
	snprintf(result->worker_model, sizeof(result->worker_model), "%s",
		 worker_model_name(exp->worker_model));
	result->history = not_asked;
	result->key_updates = (struct result_key_updates){NAN, NAN};
	result->wakes = none_woken;
	for (int i = 0; i < RESULT_ROUNDS; i++)
		result->rounds[i] = not_asked;
	for (int i = 0; i < FRACTIONS_MAX; i++)
		result->active[i] = not_run;
	for (int i = 0; i < PHASES; i++) {
		result->phases[i] = unmeasured;
		result->client_phases[i] = unmeasured;
	}
}

void result_judge(struct result *result, enum verdict verdict, const char *format, ...)
{
	va_list args;

	if (result->verdict != VERDICT_PASS)
		return;
	result->verdict = verdict;
	va_start(args, format);
	vsnprintf(result->reason, sizeof(result->reason), format, args);
	va_end(args);
}

enum phase result_headline(const struct result *result)
{
	enum phase most = PHASES;

	for (enum phase i = PHASE_IDLE; i < PHASE_CLOSE; i++) {
		if (isnan(result->phases[i].user_bytes))
			continue;
		if (most == PHASES ||
		    result->phases[i].user_bytes > result->phases[most].user_bytes)
			most = i;
	}
	return most;
}

/* These two own nothing: json_object_set_new takes the value even on failure. */
static void put_whole(json_t *object, const char *key, double value)
{
	json_object_set_new(object, key, isnan(value) ? json_null() : json_integer(llround(value)));
}

/* Rounded to what the figure is worth, so that a line can be read. */
static void put_real(json_t *object, const char *key, double value, double scale)
{
	json_object_set_new(object, key,
			    isnan(value) ? json_null() : json_real(round(value * scale) / scale));
}

static void put_text(json_t *object, const char *key, const char *text)
{
	/* What a library or a child said may hold anything. */
	json_t *value = *text ? json_string(text) : json_null();

	json_object_set_new(object, key, value ? value : json_string_nocheck("(not UTF-8)"));
}

/* NAN where nothing was established: JSON has no infinity. */
static void put_per_conn(json_t *object, const char *key, double bytes, double established)
{
	put_real(object, key, established > 0 ? bytes / established : NAN, 10);
}

static json_t *handshake_json(const struct result *result)
{
	json_t *object = json_object();

	put_whole(object, "p50", result->handshake_us_p50);
	put_whole(object, "p99", result->handshake_us_p99);
	put_whole(object, "max", result->handshake_us_max);
	return object;
}

static json_t *round_json(const struct result_round *round)
{
	json_t *object = json_object();

	put_whole(object, "ok", round->ok);
	put_whole(object, "failed", round->failed);
	put_real(object, "rps", round->rps, 10);
	return object;
}

static json_t *rounds_json(const struct result *result)
{
	json_t *array = json_array();

	for (int i = 0; i < RESULT_ROUNDS && !isnan(result->rounds[i].ok); i++)
		json_array_append_new(array, round_json(&result->rounds[i]));
	return array;
}

static json_t *key_updates_json(const struct result_key_updates *updates)
{
	json_t *object = json_object();

	put_whole(object, "ok", updates->ok);
	put_whole(object, "failed", updates->failed);
	return object;
}

static json_t *wakes_json(const struct result_wakes *wakes)
{
	json_t *object = json_object();

	put_whole(object, "ok", wakes->ok);
	put_whole(object, "failed", wakes->failed);
	put_real(object, "p50_us", wakes->p50_us, 10);
	put_real(object, "p99_us", wakes->p99_us, 10);
	put_real(object, "max_us", wakes->max_us, 10);
	return object;
}

static json_t *active_json(const struct result *result)
{
	json_t *array = json_array();

	for (int i = 0; i < FRACTIONS_MAX && !isnan(result->active[i].fraction); i++) {
		const struct result_active *active = &result->active[i];
		json_t *object = json_object();

		put_real(object, "fraction", active->fraction, 1e6);
		put_whole(object, "connections", active->connections);
		put_whole(object, "ok", active->ok);
		put_whole(object, "failed", active->failed);
		put_real(object, "rps", active->rps, 10);
		put_real(object, "server_us_per_request", active->server_us_per_request, 100);
		put_real(object, "server_syscalls_per_request", active->server_syscalls_per_request,
			 1e4);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *phases_json(const struct result_memory *phases)
{
	json_t *all = json_object();

	for (int i = 0; i < PHASES; i++) {
		json_t *object;

		if (isnan(phases[i].user_bytes))
			continue;
		object = json_object();
		put_whole(object, "user_bytes", phases[i].user_bytes);
		put_whole(object, "user_rss_bytes", phases[i].user_rss_bytes);
		put_whole(object, "kernel_bytes", phases[i].kernel_bytes);
		json_object_set_new(all, phase_names[i], object);
	}
	return all;
}

static json_t *memory_json(const struct result *result)
{
	enum phase headline = result_headline(result);
	struct result_memory memory = headline < PHASES ? result->phases[headline] : unmeasured;
	json_t *object = json_object();

	put_per_conn(object, "user_bytes_per_conn", memory.user_bytes, result->established);
	put_per_conn(object, "kernel_bytes_per_conn", memory.kernel_bytes, result->established);
	put_per_conn(object, "user_rss_bytes_per_conn", memory.user_rss_bytes, result->established);
	put_per_conn(object, "slab_bytes_per_conn", result->slab_bytes, result->established);
	put_whole(object, "user_baseline_bytes", result->user_baseline_bytes);
	put_whole(object, "handshake_peak_bytes", result->handshake_peak_bytes);
	json_object_set_new(object, "phases", phases_json(result->phases));
	put_text(object, "user_method", result->user_method);
	put_text(object, "kernel_method", result->kernel_method);
	return object;
}

static json_t *cpu_json(const struct result *result)
{
	json_t *object = json_object();

	put_real(object, "server_us_per_handshake", result->server_us_per_handshake, 10);
	put_real(object, "client_us_per_handshake", result->client_us_per_handshake, 10);
	put_real(object, "crypto_floor_us", result->crypto_floor_us, 10);
	put_real(object, "client_crypto_floor_us", result->client_crypto_floor_us, 10);
	put_real(object, "server_us_per_request", result->server_us_per_request, 100);
	put_real(object, "server_syscalls_per_request", result->server_syscalls_per_request, 1e4);
	return object;
}

static json_t *client_json(const struct result *result)
{
	enum phase headline = result_headline(result);
	struct result_memory memory =
		headline < PHASES ? result->client_phases[headline] : unmeasured;
	json_t *object = json_object();

	put_per_conn(object, "user_bytes_per_conn", memory.user_bytes, result->established);
	put_per_conn(object, "kernel_bytes_per_conn", memory.kernel_bytes, result->established);
	put_real(object, "cpu_percent", result->client_cpu_percent, 10);
	return object;
}

static json_t *net_json(const struct result *result)
{
	json_t *object = json_object();

	put_whole(object, "listen_overflows", result->listen_overflows);
	put_whole(object, "listen_drops", result->listen_drops);
	put_whole(object, "retrans_segs", result->retrans_segs);
	put_whole(object, "out_rsts", result->out_rsts);
	return object;
}

json_t *result_json(const struct result *result, const char *run)
{
	json_t *line = json_object();

	if (!line)
		return NULL;
	put_whole(line, "schema", RESULT_SCHEMA);
	put_text(line, "run", run);
	put_text(line, "cell", result->cell.name);
	put_text(line, "reactor", result->cell.reactor);
	put_text(line, "tls", result->cell.tls);
	put_text(line, "park", result->cell.park);
	put_text(line, "worker_model", result->worker_model);
	/* Not announced: the cell never came so far. */
	put_whole(line, "workers", result->workers ? result->workers : NAN);
	put_whole(line, "clients", result->clients);
	for (int d = 0; d < DIMENSIONS; d++)
		json_object_set_new(line, dimensions[d].name,
				    dimension_json(d, result->cell.dimension[d]));
	put_whole(line, "repeat", result->cell.repeat);
	put_whole(line, "order", result->cell.order);
	put_text(line, "verdict", verdict_names[result->verdict]);
	put_text(line, "reason", result->reason);
	put_whole(line, "established", result->established);
	put_whole(line, "dropped_idle", result->dropped_idle);
	if (result->kept.used)
		json_object_set_new(line, "kept", tally_json(&result->kept));
	put_whole(line, "handshakes_peak", result->handshakes_peak);
	put_real(line, "ramp_s", result->ramp_s, 1e4);
	json_object_set_new(line, "handshake_us", handshake_json(result));
	if (!isnan(result->history.ok))
		json_object_set_new(line, "history", round_json(&result->history));
	if (!isnan(result->key_updates.ok))
		json_object_set_new(line, "key_updates", key_updates_json(&result->key_updates));
	json_object_set_new(line, "rounds", rounds_json(result));
	if (!isnan(result->wakes.ok))
		json_object_set_new(line, "wakes", wakes_json(&result->wakes));
	if (!isnan(result->active[0].fraction))
		json_object_set_new(line, "active", active_json(result));
	json_object_set_new(line, "memory", memory_json(result));
	put_whole(line, "memory_peak_bytes", result->memory_peak_bytes);
	put_whole(line, "predicted_memory_bytes", result->predicted_memory_bytes);
	json_object_set_new(line, "cpu", cpu_json(result));
	json_object_set_new(line, "client", client_json(result));
	json_object_set_new(line, "net", net_json(result));
	put_text(line, "tls_version", result->tls_version);
	return line;
}

int result_append(int fd, const json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(12));
	size_t len, done = 0;

	if (!text)
		return -ENOMEM;
	len = strlen(text);
	text[len++] = '\n'; /* in place of the terminator */
	while (done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno != EINTR) {
			int error = -errno;

			free(text);
			return error;
		}
		if (n > 0)
			done += (size_t)n;
	}
	free(text);
	return fsync(fd) && errno != EINVAL ? -errno : 0;
}
