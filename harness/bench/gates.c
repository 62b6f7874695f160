// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - gates: what a cell must meet, and when its figures do not count. */
#include "harness/bench/gates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A client that has nothing left while the server idles half its time measures
 * itself. */
#define CLIENT_BUSY_PERCENT 95.0
#define SERVER_LAZY_PERCENT 50.0
/* In less, what the CPUs did is chance. */
#define RAMP_JUDGED_S 0.2

void gates_failures_text(const json_t *failures, char *text, size_t size)
{
	size_t used = 0;
	const char *cause, *where;
	json_t *count;

	snprintf(text, size, "cause unknown");
	json_object_foreach((json_t *)failures, cause, count)
	{
		if (used >= size || !json_integer_value(count))
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s %lld", used ? ", " : "",
					 cause, (long long)json_integer_value(count));
	}
	where = json_string_value(json_object_get(failures, "in"));
	if (where && used < size)
		snprintf(text + used, size - used, "%sin %s", used ? ", " : "", where);
}

void gates_after_ramp(struct result *result, const char *tls_protocol, const json_t *failures)
{
	char causes[256];
	unsigned connections = result->cell.dimension[DIM_CONNECTIONS];

	if (!(result->established == connections)) {
		gates_failures_text(failures, causes, sizeof(causes));
		result_judge(result, VERDICT_FAIL, "ramp: %.0f of %u established (%s)",
			     result->established, connections, causes);
	}
	if (strcmp(result->cell.tls, "plain") != 0 && strcmp(tls_protocol, "TLSv1.3") != 0)
		result_judge(result, VERDICT_FAIL, "negotiated %s instead of TLSv1.3",
			     *tls_protocol ? tls_protocol : "nothing");
}

void gates_after_hold(struct result *result, const json_t *failures)
{
	char causes[256];

	if (result->dropped_idle == 0)
		return;
	gates_failures_text(failures, causes, sizeof(causes));
	result_judge(result, VERDICT_FAIL, "%.0f of %.0f dropped while idle (%s)",
		     result->dropped_idle, result->established, causes);
}

void gates_after_parking(struct result *result)
{
	json_t *kept;
	char causes[256];

	if (!result->kept.total)
		return;
	kept = tally_json(&result->kept);
	gates_failures_text(kept, causes, sizeof(causes));
	json_decref(kept);
	result_judge(result, VERDICT_INVALID, "sessions were kept (%s)", causes);
}

static void judge_requests(struct result *result, const struct result_round *round,
			   const char *what, const json_t *failures)
{
	char causes[256];

	if (round->failed == 0 && round->ok == result->established)
		return;
	gates_failures_text(failures, causes, sizeof(causes));
	result_judge(result, VERDICT_FAIL, "%s: %.0f of %.0f ok, %.0f failed (%s)", what, round->ok,
		     result->established, round->failed, causes);
}

void gates_after_round(struct result *result, int index, const json_t *failures)
{
	judge_requests(result, &result->rounds[index], index == 0 ? "round 1" : "round 2",
		       failures);
}

void gates_after_history(struct result *result, const json_t *failures)
{
	judge_requests(result, &result->history, "history", failures);
}

void gates_after_key_updates(struct result *result, unsigned cycles, const json_t *failures)
{
	const struct result_key_updates *updates = &result->key_updates;
	char causes[256];

	if (updates->failed == 0 && updates->ok == cycles * result->established)
		return;
	gates_failures_text(failures, causes, sizeof(causes));
	result_judge(result, VERDICT_FAIL, "key updates: %.0f of %.0f ok, %.0f failed (%s)",
		     updates->ok, cycles * result->established, updates->failed, causes);
}

void gates_after_wakes(struct result *result, unsigned count, double restored,
		       const json_t *failures)
{
	const struct result_wakes *wakes = &result->wakes;
	char causes[256];

	if (wakes->failed != 0 || wakes->ok != count) {
		gates_failures_text(failures, causes, sizeof(causes));
		result_judge(result, VERDICT_FAIL, "wakes: %.0f of %u ok, %.0f failed (%s)",
			     wakes->ok, count, wakes->failed, causes);
	}
	if (restored < count)
		result_judge(result, VERDICT_INVALID,
			     "of %u connections only %.0f had no socket when they were woken "
			     "(raise settle_s)",
			     count, restored);
}

void gates_after_active(struct result *result, int index, const json_t *failures)
{
	const struct result_active *active = &result->active[index];
	char causes[256];

	if (active->failed == 0 && active->ok > 0)
		return;
	gates_failures_text(failures, causes, sizeof(causes));
	result_judge(result, VERDICT_FAIL, "%.12g %% active: %.0f requests ok, %.0f failed (%s)",
		     active->fraction * 100, active->ok, active->failed, causes);
}

static void check_validity(struct result *result)
{
	if (result->listen_overflows > 0 || result->listen_drops > 0)
		result_judge(result, VERDICT_INVALID,
			     "the listener lost connections: ListenOverflows %.0f, ListenDrops "
			     "%.0f (lower in_flight)",
			     result->listen_overflows, result->listen_drops);
	/* A ramp without TLS is two system calls on either side: it claims nothing. */
	if (strcmp(result->cell.tls, "plain") && result->ramp_s >= RAMP_JUDGED_S &&
	    result->client_cpu_percent >= CLIENT_BUSY_PERCENT &&
	    result->server_cpu_percent < SERVER_LAZY_PERCENT)
		result_judge(result, VERDICT_INVALID,
			     "the client was the bottleneck of the ramp: client CPU %.0f %%, "
			     "server %.0f %% (raise client_workers, or take a faster client_tls)",
			     result->client_cpu_percent, result->server_cpu_percent);
}

void gates_at_end(struct result *result, const struct gate_limits *limits)
{
	enum phase headline = result_headline(result);
	double per_conn = headline < PHASES && result->established > 0
				  ? result->phases[headline].user_bytes / result->established
				  : NAN;

	check_validity(result);
	if (limits->user_bytes_per_conn_max > 0 && per_conn > limits->user_bytes_per_conn_max)
		result_judge(result, VERDICT_FAIL,
			     "%.0f user bytes a connection, the gate is at most %.0f", per_conn,
			     limits->user_bytes_per_conn_max);
	if (limits->ramp_s_max > 0 && result->ramp_s > limits->ramp_s_max)
		result_judge(result, VERDICT_FAIL, "ramp took %.2f s, the gate is at most %.2f s",
			     result->ramp_s, limits->ramp_s_max);
}
