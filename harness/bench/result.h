/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - the result of one cell, and its line in cells.jsonl. The field
 * names of that line are a public format: see harness/bench/README.md.
 */
#ifndef HARNESS_BENCH_RESULT_H
#define HARNESS_BENCH_RESULT_H

#include <jansson.h>
#include <stddef.h>

#include "harness/bench/matrix.h"
#include "harness/common/tally.h"

#define RESULT_SCHEMA 1
#define RESULT_ROUNDS 2

enum verdict {
	VERDICT_PASS,
	VERDICT_FAIL,    /* a gate did not hold, or a process failed */
	VERDICT_SKIP,    /* can not run on this machine */
	VERDICT_INVALID, /* ran, but its figures may not be compared */
	VERDICTS,
};

/* The moments at which memory is read. */
enum phase {
	PHASE_IDLE,
	PHASE_ROUND1,
	PHASE_ROUND2,
	PHASE_CLOSE,
	PHASES,
};

/* Bytes beyond the baseline, of all connections together. */
struct result_memory {
	double user_bytes; /* PSS + swapped PSS */
	double user_rss_bytes;
	double kernel_bytes;
};

/* Requests, one a connection. */
struct result_round {
	double ok;
	double failed;
	double rps;
};

/* Cycles in which client and server both changed their keys, of all connections together. */
struct result_key_updates {
	double ok; /* NAN: not run */
	double failed;
};

/* Connections that were woken one at a time; microseconds from packet to response. */
struct result_wakes {
	double ok; /* NAN: not run */
	double failed;
	double p50_us;
	double p99_us;
	double max_us;
};

/* One fraction of the connections that asked again and again. */
struct result_active {
	double fraction; /* NAN: not run */
	double connections;
	double ok;
	double failed;
	double rps;
	double server_us_per_request;
	double server_syscalls_per_request;
};

/*
 * Everything known of a cell. Numbers are doubles so that NAN says "not
 * measured", which the line shows as null. No pointers: the struct lies in
 * memory shared between parkbench and the cell's own process, and what was
 * measured survives that process.
 */
struct result {
	struct matrix_cell cell;
	unsigned workers;      /* as the server announced them; before: as asked for, 0: auto */
	char worker_model[16]; /* likewise */
	unsigned clients;
	enum verdict verdict;
	char reason[512]; /* empty with pass */

	double established;
	double dropped_idle;
	struct tally kept;      /* sessions that the server could not dissolve, by cause */
	double handshakes_peak; /* most under way at once at the server, its workers added up */
	double ramp_s;
	double handshake_us_p50;
	double handshake_us_p99;
	double handshake_us_max;
	struct result_round history;               /* ok is NAN: not run */
	struct result_round rounds[RESULT_ROUNDS]; /* likewise */
	struct result_key_updates key_updates;
	struct result_wakes wakes;
	struct result_active active[FRACTIONS_MAX];

	double user_baseline_bytes;
	double handshake_peak_bytes; /* user, beyond the baseline */
	struct result_memory phases[PHASES];
	struct result_memory client_phases[PHASES];
	double slab_bytes; /* of reactors' objects when idle, both sides, beyond the baseline */
	double client_user_baseline_bytes;
	/* Of both sides, user and kernel, beyond the baseline; for the forecast, not stored. */
	double ramp_peak_bytes;
	double round_peak_bytes;
	/* What MemAvailable fell by at most, and what a pilot had foretold; NAN: no pilot. */
	double memory_peak_bytes;
	double predicted_memory_bytes;
	char user_method[64];
	char kernel_method[1280]; /* ends with the reason when nothing works */

	double server_us_per_handshake;
	double client_us_per_handshake;
	double crypto_floor_us;
	double client_crypto_floor_us;
	double server_us_per_request;
	double server_syscalls_per_request;
	double client_cpu_percent; /* of what its workers could use, in the ramp */
	double server_cpu_percent; /* likewise; for the verdict, not stored */

	double listen_overflows;
	double listen_drops;
	double retrans_segs;
	double out_rsts;
	char tls_version[512];
};

extern const char *const verdict_names[VERDICTS];
extern const char *const phase_names[PHASES];

/* Nothing measured, verdict pass. */
void result_init(struct result *result, const struct matrix_cell *cell,
		 const struct experiment *exp);

/* The first verdict stands: a later one is a consequence of it. */
__attribute__((format(printf, 3, 4))) void result_judge(struct result *result, enum verdict verdict,
							const char *format, ...);

/* The settled phase (before close) with the most user memory: the headline.
 * PHASES when none was measured. */
enum phase result_headline(const struct result *result);

/* The object of a line, a new reference; NULL out of memory. */
json_t *result_json(const struct result *result, const char *run);

/* Appends a line to the file and makes it durable. 0 or a negative errno. */
int result_append(int fd, const json_t *line);

#endif
