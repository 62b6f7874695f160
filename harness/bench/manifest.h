/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - manifest.json: under which circumstances a run was made. Beside the
 * facts of the machine (harness/measure/host_facts.h): schema, run, command,
 * experiment (name and the file as it was), seed, only, cells (planned),
 * connections, workers, repeat, client, reactors and tls (which of them run here,
 * or the reason not; of reactors also the predicted kernel_conn_bytes), kernel_method,
 * network (what was set in the network of each cell: before, after).
 */
#ifndef HARNESS_BENCH_MANIFEST_H
#define HARNESS_BENCH_MANIFEST_H

#include <jansson.h>

#include "harness/bench/experiment.h"
#include "harness/bench/matrix.h"
#include "harness/bench/net_settings.h"
#include "harness/bench/probe.h"

/* All borrowed. */
struct manifest_source {
	const char *run;
	char *const *argv; /* NULL at the end */
	const struct experiment *exp;
	const struct matrix *matrix;
	const char *only;             /* NULL: all */
	const struct probe *reactors; /* as exp->reactors is ordered */
	const struct probe *tls;      /* as exp->tls is ordered */
	const char *kernel_method;
	const struct net_settings *net_settings;
};

/* A new reference, or NULL out of memory. Runs git and dpkg-query. */
json_t *manifest_make(const struct manifest_source *source);

/*
 * The run of `manifest` is gone on with, to have `cells` cells in the end: the circumstances of
 * this go, `now`, become the last of its `resumed`, and it is the older of them that name the run.
 * Takes `now`. 0; -EXDEV when it is of another processor; -ENOMEM.
 */
int manifest_resume(json_t *manifest, json_t *now, size_t cells);

#endif
