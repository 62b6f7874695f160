// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - manifest.json: under which circumstances a run was made. */
#include "harness/bench/manifest.h"

#include <errno.h>
#include <stdbool.h>

#include "harness/bench/result.h"
#include "harness/common/options.h"
#include "harness/measure/host_facts.h"
#include "reactors/reactor.h"

/* What a result may depend on; null in the manifest where it is not installed. */
static const char *const packages[] = {
	"libc6",       "libssl3",    "android-libboringssl", "liburing2", "libev4",
	"libjansson4", "libconfig9", "libhttp-parser2.9",    "gcc",       NULL,
};

static json_t *command_json(char *const *argv)
{
	json_t *array = json_array();

	for (; *argv; argv++)
		json_array_append_new(array, json_string(*argv));
	return array;
}

static json_t *probes_json(const struct names *names, const struct probe *probes)
{
	json_t *object = json_object();

	for (size_t i = 0; i < names->count; i++)
		json_object_set_new(
			object, names->name[i],
			json_pack("{s:b, s:s*, s:s*}", "available", probes[i].available, "version",
				  *probes[i].version ? probes[i].version : NULL, "reason",
				  *probes[i].reason ? probes[i].reason : NULL));
	return object;
}

/* One value as a number, several as an array. */
static json_t *choices_json(const struct choices *choices)
{
	json_t *array = json_array();

	if (choices->count == 1) {
		json_decref(array);
		return json_integer(choices->value[0]);
	}
	for (size_t i = 0; i < choices->count; i++)
		json_array_append_new(array, json_integer(choices->value[i]));
	return array;
}

/* How many workers were asked for. */
static json_t *auto_json(unsigned workers)
{
	return workers ? json_integer(workers) : json_string("auto");
}

/* With what the reactor's objects in the kernel are predicted to take. */
static json_t *reactors_json(const struct names *names, const struct probe *probes)
{
	json_t *object = probes_json(names, probes);

	for (size_t i = 0; i < names->count; i++) {
		const struct reactor_ops *ops = reactor_find(names->name[i]);

		if (ops)
			json_object_set_new(json_object_get(object, names->name[i]),
					    "kernel_conn_bytes",
					    json_integer(ops->kernel_conn_bytes));
	}
	return object;
}

static json_t *network_json(const struct net_settings *settings)
{
	json_t *object = json_object();

	for (int i = 0; i < NET_SETTINGS; i++) {
		const char *before = settings->before[i], *after = settings->after[i];

		json_object_set_new(object, net_setting_names[i],
				    json_pack("{s:s*, s:s*}", "before", *before ? before : NULL,
					      "after", *after ? after : NULL));
	}
	return object;
}

static bool same_cpu(const json_t *a, const json_t *b)
{
	const json_t *x = json_object_get(a, "cpu"), *y = json_object_get(b, "cpu");

	return json_equal(json_object_get(x, "model"), json_object_get(y, "model")) &&
	       json_equal(json_object_get(x, "online"), json_object_get(y, "online"));
}

int manifest_resume(json_t *manifest, json_t *now, size_t cells)
{
	json_t *goes = json_object_get(manifest, "resumed");
	int ret;

	if (!same_cpu(manifest, now)) {
		json_decref(now);
		return -EXDEV;
	}
	if (!goes) {
		goes = json_array();
		json_object_set_new(manifest, "resumed", goes);
	}
	json_object_del(now, "experiment"); /* is the same */
	ret = json_array_append_new(goes, now);
	ret |= json_object_set_new(manifest, "cells", json_integer((json_int_t)cells));
	return ret ? -ENOMEM : 0;
}

json_t *manifest_make(const struct manifest_source *source)
{
	const struct experiment *exp = source->exp;
	struct host_facts_query query = host_facts_system;
	json_t *manifest;

	query.packages = packages;
	manifest = json_pack(
		"{s:i, s:s, s:s, s:o, s:{s:s, s:s}, s:i, s:s?, s:i, s:o, s:o, s:s, s:i,"
		" s:{s:s, s:s, s:i, s:o, s:o}, s:o, s:o, s:o, s:s}",
		"schema", RESULT_SCHEMA, "run", source->run, "version", PARKBENCH_VERSION,
		"command", command_json(source->argv), "experiment", "name", exp->name, "text",
		exp->text, "seed", (int)source->matrix->seed, "only", source->only, "cells",
		(int)source->matrix->count, "connections",
		choices_json(&exp->dimension[DIM_CONNECTIONS]), "workers", auto_json(exp->workers),
		"worker_model", worker_model_name(exp->worker_model), "repeat", (int)exp->repeat,
		"client", "tls", exp->client_tls, "park", exp->client_park, "processes",
		(int)exp->clients, "workers", auto_json(exp->client_workers), "in_flight",
		choices_json(&exp->dimension[DIM_IN_FLIGHT]), "reactors",
		reactors_json(&exp->reactors, source->reactors), "tls",
		probes_json(&exp->tls, source->tls), "network", network_json(source->net_settings),
		"kernel_method", source->kernel_method);
	if (manifest && host_facts_fill(manifest, &query)) {
		json_decref(manifest);
		manifest = NULL;
	}
	return manifest;
}
