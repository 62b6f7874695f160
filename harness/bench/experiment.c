// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - reads and checks experiment files. Library: libconfig. */
#include "harness/bench/experiment.h"

#include <errno.h>
#include <libconfig.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/common/body.h"
#include "harness/common/options.h"
#include "harness/common/park.h"
#include "harness/measure/text_file.h"

enum key_type {
	KEY_NAMES,    /* "all", or an array of known names */
	KEY_NAME,     /* one known name */
	KEY_COUNT,    /* an integer */
	KEY_AUTO,     /* an integer, or "auto": 0 */
	KEY_MODEL,    /* a worker model */
	KEY_COUNTS,   /* one or an array of them */
	KEY_SWITCHES, /* true, false or an array of both */
	KEY_SWITCH,   /* true or false */
	KEY_REAL,     /* a number */
	KEY_FRACTIONS,
	KEY_GATES, /* the group of limits */
};

/* One setting: where it is kept, and which names or numbers are good. */
struct key {
	const char *name;
	size_t offset; /* in struct experiment */
	size_t known;  /* in struct known_names, for names */
	double min;
	double max;
	enum key_type type;
	bool required;
};

#define EXP(member) offsetof(struct experiment, member)
#define KNOWN(member) offsetof(struct known_names, member)

static const struct key keys[] = {
	{"reactors", EXP(reactors), KNOWN(reactors), 0, 0, KEY_NAMES, true},
	{"tls", EXP(tls), KNOWN(tls), 0, 0, KEY_NAMES, true},
	{"park", EXP(park), KNOWN(park), 0, 0, KEY_NAMES, true},
	{"connections", EXP(dimension[DIM_CONNECTIONS]), 0, 1, 16e6, KEY_COUNTS, true},
	{"repeat", EXP(repeat), 0, 1, 1000, KEY_COUNT, false},
	{"workers", EXP(workers), 0, 1, SIZING_WORKERS_MAX, KEY_AUTO, false},
	{"worker_model", EXP(worker_model), 0, 0, 0, KEY_MODEL, false},
	{"client_tls", EXP(client_tls), KNOWN(tls), 0, 0, KEY_NAME, false},
	{"client_park", EXP(client_park), KNOWN(park), 0, 0, KEY_NAME, false},
	{"client_workers", EXP(client_workers), 0, 1, SIZING_WORKERS_MAX, KEY_AUTO, false},
	{"clients", EXP(clients), 0, 1, CLIENTS_MAX, KEY_COUNT, false},
	{"in_flight", EXP(dimension[DIM_IN_FLIGHT]), 0, 1, 65536, KEY_COUNTS, false},
	{"waves", EXP(waves), 0, 0, 0, KEY_SWITCH, false},
	{"history_bytes", EXP(dimension[DIM_HISTORY_BYTES]), 0, 0, BODY_BYTES_MAX, KEY_COUNTS,
	 false},
	{"handshakes_max", EXP(dimension[DIM_HANDSHAKES_MAX]), 0, 0, 65536, KEY_COUNTS, false},
	{"trim", EXP(dimension[DIM_TRIM]), 0, 0, 1, KEY_SWITCHES, false},
	{"settle_s", EXP(settle_s), 0, 0, 3600, KEY_REAL, false},
	{"hold_s", EXP(hold_s), 0, 0, 86400, KEY_REAL, false},
	{"key_updates", EXP(key_updates), 0, 0, 1000, KEY_COUNT, false},
	{"wakes", EXP(wakes), 0, 0, OPTION_WAKES_MAX, KEY_COUNT, false},
	{"active", EXP(active), 0, 0, 1, KEY_FRACTIONS, false},
	{"active_s", EXP(active_s), 0, 0.01, 3600, KEY_REAL, false},
	{"crypto_floor_handshakes", EXP(crypto_floor_handshakes), 0, 1, 1e6, KEY_COUNT, false},
	{"memory_floor_bytes", EXP(memory_floor_bytes), 0, 0, 1e13, KEY_REAL, false},
	{"seed", EXP(seed), 0, 1, 2147483647, KEY_COUNT, false},
	{"gates", 0, 0, 0, 0, KEY_GATES, false},
};

static const struct key gate_keys[] = {
	{"user_bytes_per_conn_max", EXP(gates.user_bytes_per_conn_max), 0, 1, 1e9, KEY_REAL, false},
	{"ramp_s_max", EXP(gates.ramp_s_max), 0, 0.001, 86400, KEY_REAL, false},
};

static const struct experiment defaults = {
	.repeat = 1,
	.workers = 2,
	.client_tls = "boringssl",
	.client_park = "shed",
	.client_workers = 2,
	.clients = 1,
	.memory_floor_bytes = 512.0 * 1024 * 1024,
	.dimension = {[DIM_IN_FLIGHT] = {{64}, 1},
		      [DIM_HISTORY_BYTES] = {{0}, 1},
		      [DIM_HANDSHAKES_MAX] = {{OPTION_HANDSHAKES_MAX}, 1},
		      [DIM_TRIM] = {{true}, 1}},
	.settle_s = 1,
	.hold_s = 2,
	.active_s = 2,
	.crypto_floor_handshakes = 200,
};

/* What one load needs on its way down; all borrowed. */
struct reader {
	struct experiment *exp;
	const struct known_names *known;
	char *error;
	size_t error_size;
};

__attribute__((format(printf, 3, 4))) static int
refuse(struct reader *reader, const config_setting_t *setting, const char *format, ...)
{
	const char *file = config_setting_source_file(setting);
	va_list args;
	int used;

	used = snprintf(reader->error, reader->error_size, "%s:%u: ", file ? file : "?",
			(unsigned)config_setting_source_line(setting));
	va_start(args, format);
	if (used >= 0 && (size_t)used < reader->error_size)
		vsnprintf(reader->error + used, reader->error_size - (size_t)used, format, args);
	va_end(args);
	return -EINVAL;
}

static const struct names *known_for(const struct reader *reader, const struct key *key)
{
	return (const struct names *)((const char *)reader->known + key->known);
}

static int check_name(struct reader *reader, const config_setting_t *setting, const struct key *key,
		      const char *name)
{
	char known[512];

	if (names_have(known_for(reader, key), name))
		return 0;
	names_join(known_for(reader, key), known, sizeof(known));
	return refuse(reader, setting, "%s: unknown name \"%s\"; known here: %s", key->name, name,
		      known);
}

static int read_names(struct reader *reader, const config_setting_t *setting, const struct key *key)
{
	struct names *names = (struct names *)((char *)reader->exp + key->offset);
	const char *all = config_setting_get_string(setting);
	int length = config_setting_is_array(setting) ? config_setting_length(setting) : 0;

	if (all && !strcmp(all, "all")) {
		*names = *known_for(reader, key);
		return names->count ? 0
				    : refuse(reader, setting, "%s: \"all\", but none is built",
					     key->name);
	}
	if (length == 0)
		return refuse(reader, setting,
			      "%s: must be \"all\" or an array of names, as in [ \"%s\" ]",
			      key->name, known_for(reader, key)->name[0]);
	for (int i = 0; i < length; i++) {
		const char *name = config_setting_get_string_elem(setting, i);

		if (!name)
			return refuse(reader, setting, "%s: element %d is not a string", key->name,
				      i + 1);
		if (check_name(reader, setting, key, name))
			return -EINVAL;
		if (names_have(names, name))
			return refuse(reader, setting, "%s: \"%s\" is listed twice", key->name,
				      name);
		names_add(names, name);
	}
	return 0;
}

static int read_name(struct reader *reader, const config_setting_t *setting, const struct key *key)
{
	const char *name = config_setting_get_string(setting);

	if (!name)
		return refuse(reader, setting, "%s: must be a string", key->name);
	if (check_name(reader, setting, key, name))
		return -EINVAL;
	strcpy((char *)reader->exp + key->offset, name);
	return 0;
}

static int check_number(struct reader *reader, const config_setting_t *setting,
			const struct key *key, bool whole, double *value)
{
	switch (config_setting_type(setting)) {
	case CONFIG_TYPE_INT:
		*value = config_setting_get_int(setting);
		break;
	case CONFIG_TYPE_INT64:
		*value = (double)config_setting_get_int64(setting);
		break;
	case CONFIG_TYPE_FLOAT:
		*value = config_setting_get_float(setting);
		if (!whole)
			break;
		/* fall through */
	default:
		return refuse(reader, setting, "%s: must be %s", key->name,
			      whole ? "a whole number" : "a number");
	}
	/* Written so that NaN is refused too. */
	if (*value >= key->min && *value <= key->max)
		return 0;
	return refuse(reader, setting, "%s: must be from %.12g to %.12g, not %.12g", key->name,
		      key->min, key->max, *value);
}

static int read_number(struct reader *reader, const config_setting_t *setting,
		       const struct key *key)
{
	void *place = (char *)reader->exp + key->offset;
	bool whole = key->type != KEY_REAL;
	double value;

	if (check_number(reader, setting, key, whole, &value))
		return -EINVAL;
	if (whole)
		*(unsigned *)place = (unsigned)value;
	else
		*(double *)place = value;
	return 0;
}

static int read_auto(struct reader *reader, const config_setting_t *setting, const struct key *key)
{
	const char *text = config_setting_get_string(setting);

	if (!text)
		return read_number(reader, setting, key);
	if (strcmp(text, "auto"))
		return refuse(reader, setting, "%s: must be a whole number or \"auto\"", key->name);
	*(unsigned *)((char *)reader->exp + key->offset) = 0;
	return 0;
}

static int read_model(struct reader *reader, const config_setting_t *setting, const struct key *key)
{
	const char *name = config_setting_get_string(setting);
	int model = name ? worker_model_find(name) : -1;

	if (model < 0)
		return refuse(reader, setting,
			      "%s: must be \"auto\", \"threads\", \"tables\" or \"processes\"",
			      key->name);
	*(enum worker_model *)((char *)reader->exp + key->offset) = (enum worker_model)model;
	return 0;
}

static int read_switch(struct reader *reader, const config_setting_t *setting,
		       const struct key *key)
{
	if (config_setting_type(setting) != CONFIG_TYPE_BOOL)
		return refuse(reader, setting, "%s: must be true or false", key->name);
	*(bool *)((char *)reader->exp + key->offset) = config_setting_get_bool(setting);
	return 0;
}

/* One value of a list, or the only one. */
static int check_choice(struct reader *reader, const config_setting_t *setting,
			const struct key *key, unsigned *choice)
{
	double value = 0;

	if (key->type == KEY_SWITCHES) {
		if (config_setting_type(setting) != CONFIG_TYPE_BOOL)
			return refuse(reader, setting, "%s: must be true, false or [ true, false ]",
				      key->name);
		*choice = config_setting_get_bool(setting) != 0;
		return 0;
	}
	if (check_number(reader, setting, key, true, &value))
		return -EINVAL;
	*choice = (unsigned)value;
	return 0;
}

static int add_choice(struct reader *reader, const config_setting_t *setting, const struct key *key,
		      struct choices *choices)
{
	unsigned choice = 0;

	if (check_choice(reader, setting, key, &choice))
		return -EINVAL;
	for (size_t i = 0; i < choices->count; i++)
		if (choices->value[i] == choice)
			return refuse(reader, setting, "%s: %u is listed twice", key->name, choice);
	choices->value[choices->count++] = choice;
	return 0;
}

static int read_choices(struct reader *reader, const config_setting_t *setting,
			const struct key *key)
{
	struct choices *choices = (struct choices *)((char *)reader->exp + key->offset);
	int length;

	choices->count = 0;
	if (!config_setting_is_aggregate(setting))
		return add_choice(reader, setting, key, choices);
	length = config_setting_is_array(setting) ? config_setting_length(setting) : 0;
	if (length == 0 || length > CHOICES_MAX)
		return refuse(
			reader, setting,
			"%s: must be one value or an array of 1 to %d, as in [ %.12g, %.12g ]",
			key->name, CHOICES_MAX, key->min, key->max);
	for (int i = 0; i < length; i++)
		if (add_choice(reader, config_setting_get_elem(setting, (unsigned)i), key, choices))
			return -EINVAL;
	return 0;
}

static int read_fractions(struct reader *reader, const config_setting_t *setting,
			  const struct key *key)
{
	struct fractions *fractions = (struct fractions *)((char *)reader->exp + key->offset);
	int length = config_setting_is_array(setting) ? config_setting_length(setting) : 0;

	if (length == 0 || length > FRACTIONS_MAX)
		return refuse(reader, setting,
			      "%s: must be an array of 1 to %d fractions, as in [ 0.01, 1.0 ]",
			      key->name, FRACTIONS_MAX);
	for (int i = 0; i < length; i++) {
		double value = config_setting_get_float_elem(setting, i);

		/* Nothing but a number with a point is read, the rest is 0. */
		if (!(value > key->min && value <= key->max))
			return refuse(reader, setting,
				      "%s: element %d must be a number with a point, more than "
				      "%.12g and at most %.1f",
				      key->name, i + 1, key->min, key->max);
		for (size_t k = 0; k < fractions->count; k++)
			if (fractions->value[k] == value)
				return refuse(reader, setting, "%s: %.12g is listed twice",
					      key->name, value);
		fractions->value[fractions->count++] = value;
	}
	return 0;
}

static int read_group(struct reader *reader, const config_setting_t *group, const struct key *table,
		      size_t count);

static int read_setting(struct reader *reader, const config_setting_t *setting,
			const struct key *key)
{
	switch (key->type) {
	case KEY_NAMES:
		return read_names(reader, setting, key);
	case KEY_NAME:
		return read_name(reader, setting, key);
	case KEY_COUNT:
	case KEY_REAL:
		return read_number(reader, setting, key);
	case KEY_AUTO:
		return read_auto(reader, setting, key);
	case KEY_MODEL:
		return read_model(reader, setting, key);
	case KEY_SWITCH:
		return read_switch(reader, setting, key);
	case KEY_COUNTS:
	case KEY_SWITCHES:
		return read_choices(reader, setting, key);
	case KEY_FRACTIONS:
		return read_fractions(reader, setting, key);
	case KEY_GATES:
		break;
	}
	if (!config_setting_is_group(setting))
		return refuse(reader, setting, "%s: must be a group, as in %s = { %s = 180.0; };",
			      key->name, key->name, gate_keys[1].name);
	return read_group(reader, setting, gate_keys, sizeof(gate_keys) / sizeof(*gate_keys));
}

static int refuse_unknown(struct reader *reader, const config_setting_t *setting,
			  const struct key *table, size_t count)
{
	char known[512];
	size_t used = 0;

	for (size_t i = 0; i < count && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 table[i].name);
	return refuse(reader, setting, "unknown setting \"%s\"; known here: %s",
		      config_setting_name(setting), known);
}

static int read_group(struct reader *reader, const config_setting_t *group, const struct key *table,
		      size_t count)
{
	int length = config_setting_length(group);

	for (int i = 0; i < length; i++) {
		const config_setting_t *setting = config_setting_get_elem(group, (unsigned)i);
		const struct key *key = NULL;
		int error;

		for (size_t k = 0; k < count && !key; k++)
			if (!strcmp(table[k].name, config_setting_name(setting)))
				key = &table[k];
		if (!key)
			return refuse_unknown(reader, setting, table, count);
		error = read_setting(reader, setting, key);
		if (error)
			return error;
	}
	return 0;
}

static int check_required(const config_t *config, const char *path, char *error, size_t size)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!keys[i].required || config_lookup(config, keys[i].name))
			continue;
		snprintf(error, size, "%s: the setting \"%s\" is missing", path, keys[i].name);
		return -EINVAL;
	}
	return 0;
}

/* Each process would put its packet filter rules in place of the others'. */
static int check_clients(const struct experiment *exp, const char *path, char *error, size_t size)
{
	if (exp->clients == 1 || strcmp(exp->client_park, park_levels[PARK_DEEP].name))
		return 0;
	snprintf(error, size,
		 "%s: client_park = \"%s\" takes one client process, which needs no files for "
		 "parked connections: leave clients = %u away",
		 path, exp->client_park, exp->clients);
	return -EINVAL;
}

static void set_name(struct experiment *exp, const char *path)
{
	char copy[4096];
	char *base;
	size_t len;

	snprintf(copy, sizeof(copy), "%s", path);
	base = basename(copy);
	len = strlen(base);
	if (len > 4 && !strcmp(base + len - 4, ".cfg"))
		base[len - 4] = '\0';
	snprintf(exp->name, sizeof(exp->name), "%.*s", (int)sizeof(exp->name) - 1, base);
}

static int parse(struct experiment *exp, const char *path, const struct known_names *known,
		 char *error, size_t error_size)
{
	struct reader reader = {exp, known, error, error_size};
	config_t config;
	int ret;

	config_init(&config);
	if (!config_read_file(&config, path)) {
		const char *file = config_error_file(&config);

		snprintf(error, error_size, "%s:%d: %s", file ? file : path,
			 config_error_line(&config), config_error_text(&config));
		config_destroy(&config);
		return -EINVAL;
	}
	ret = read_group(&reader, config_root_setting(&config), keys, sizeof(keys) / sizeof(*keys));
	if (!ret)
		ret = check_required(&config, path, error, error_size);
	if (!ret)
		ret = check_clients(exp, path, error, error_size);
	config_destroy(&config);
	return ret;
}

int experiment_load(struct experiment *exp, const char *path, const struct known_names *known,
		    char *error, size_t error_size)
{
	int ret;

	*exp = defaults;
	set_name(exp, path);
	ret = text_read(path, &exp->text);
	if (ret)
		snprintf(error, error_size, "%s: %s", path, strerror(-ret));
	else
		ret = parse(exp, path, known, error, error_size);
	if (ret)
		experiment_free(exp);
	return ret;
}

void experiment_free(struct experiment *exp)
{
	free(exp->text);
	exp->text = NULL;
}

const char *experiment_client_tls(const struct experiment *exp, const char *server_tls)
{
	return strcmp(server_tls, "plain") ? exp->client_tls : "plain";
}
