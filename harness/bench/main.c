// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - parkbench: the command line. */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/compare.h"
#include "harness/bench/doctor.h"
#include "harness/bench/experiment.h"
#include "harness/bench/growth.h"
#include "harness/bench/list.h"
#include "harness/bench/run.h"
#include "harness/bench/rundir.h"
#include "harness/bench/table.h"
#include "harness/common/options.h"

const char *argp_program_version = "parkbench (ParkBench) " PARKBENCH_VERSION;

#define ERROR_SIZE 4096
#define DEFAULT_CLAIMS "results/claims.json"

/* ---- run ---- */

enum {
	OPT_ONLY = 256,
	OPT_CONNECTIONS,
	OPT_REPEAT,
	OPT_OUT,
	OPT_RESUME,
};

static const struct argp_option run_argp_options[] = {
	{"only", OPT_ONLY, "GLOB", 0, "Only cells whose name matches: 'epoll+*', '*+@(shed|keys)'",
	 0},
	{"connections", OPT_CONNECTIONS, "N", 0, "Instead of the file's number", 0},
	{"repeat", OPT_REPEAT, "N", 0, "Instead of the file's number", 0},
	{"out", OPT_OUT, "DIR", 0,
	 "Results go there (results/local/<time>-<experiment>); it must "
	 "not exist, or be empty",
	 0},
	{"resume", OPT_RESUME, "DIR", 0,
	 "Go on with the run in DIR, of this very experiment: cells that ended there stay, those "
	 "that are missing or were skipped run",
	 0},
	{0},
};

static const char run_doc[] =
	"Runs every cell of an experiment (reactor x tls x park level, some number of times) in "
	"a random order: each with a fresh server and client in a private network, which need "
	"no rights if the system allows user namespaces.\v"
	"A cell is named reactor+tls+park, such as epoll+boringssl+shed. Each ends with a "
	"verdict: pass, fail (a gate did not hold), skip (can not run on this machine) or "
	"invalid (its figures may not be compared). Results are in the directory named at the "
	"end: cells.jsonl, one object a cell; manifest.json; logs/; handshake_us/; wake_us/.\n\n"
	"Ctrl-C ends what runs and keeps the cells that are finished; --resume runs the others.\n\n"
	"  parkbench run experiments/smoke.cfg\n"
	"  parkbench run experiments/c10k.cfg --only 'epoll+*' --repeat 3\n\n"
	"Exit status: 0 all gates held, 1 a cell failed or is invalid, 2 usage or environment, "
	"128 + N interrupted by signal N.";

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct run_options *options = state->input;

	switch (key) {
	case OPT_ONLY:
		options->only = arg;
		return 0;
	case OPT_CONNECTIONS:
		options->connections = option_number(state, "--connections", arg, 1, 16000000);
		return 0;
	case OPT_REPEAT:
		options->repeat = option_number(state, "--repeat", arg, 1, 1000);
		return 0;
	case OPT_OUT:
		options->out = arg;
		return 0;
	case OPT_RESUME:
		options->resume = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (options->experiment)
			argp_error(state, "only one experiment at a time, not \"%s\" too", arg);
		options->experiment = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->experiment)
			argp_error(state, "which experiment? For example experiments/smoke.cfg");
		if (options->resume && options->out)
			argp_error(state, "--resume names the directory: leave --out away");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int main_run(int argc, char **argv, char *const *whole)
{
	static const struct argp argp = {
		run_argp_options, parse_run, "EXPERIMENT.cfg", run_doc, NULL, NULL, NULL};
	struct run_options options = {.argv = whole, .table = stdout, .progress = stderr};
	char error[ERROR_SIZE];
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	status = run_experiment(&options, error, sizeof(error));
	if (status == RUN_UNUSABLE)
		errx(RUN_UNUSABLE, "%s", error);
	return status;
}

/* ---- list, doctor, show ---- */

/* The one argument that doctor and show take. */
static error_t parse_argument(int key, char *arg, struct argp_state *state)
{
	const char **argument = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*argument) {
		argp_error(state, "unexpected argument \"%s\"", arg);
		return EINVAL;
	}
	*argument = arg;
	return 0;
}

static const struct argp_option list_argp_options[] = {
	{"names", 'n', "KIND", 0,
	 "Only the names of what is available, one a line, for scripts; KIND is reactors, tls or "
	 "park",
	 0},
	{0},
};

static error_t parse_list(int key, char *arg, struct argp_state *state)
{
	const char **kind = state->input;

	if (key == ARGP_KEY_ARG)
		argp_error(state, "unexpected argument \"%s\"", arg);
	if (key != 'n')
		return ARGP_ERR_UNKNOWN;
	*kind = arg;
	return 0;
}

static int main_list(int argc, char **argv, char *const *whole)
{
	static const struct argp argp = {
		list_argp_options,
		parse_list,
		NULL,
		"Lists the reactors, TLS backends and park levels: available here, or the reason "
		"not. The kernel bytes of a reactor's idle connection are those of the newest run "
		"below results/ that has its cell <reactor>+plain+shed and poll+plain+shed.",
		NULL,
		NULL,
		NULL};
	const char *kind = NULL;

	(void)whole;
	argp_parse(&argp, argc, argv, 0, NULL, &kind);
	if (!kind)
		list_print(stdout);
	else if (list_print_names(stdout, kind))
		errx(2, "--names: no kind \"%s\"; there are reactors, tls, park", kind);
	return 0;
}

static int main_doctor(int argc, char **argv, char *const *whole)
{
	static const struct argp argp = {
		NULL,
		parse_argument,
		"[EXPERIMENT.cfg]",
		"Shows every limit that matters, what it is, what the experiment needs (10,000 "
		"connections with everything, when none is named), and the command that fixes "
		"it.\vExit status: 0 all is well, 2 something is not.",
		NULL,
		NULL,
		NULL};
	const char *path = NULL;
	struct known_names known;
	struct experiment exp = {0};
	char error[ERROR_SIZE];
	bool well;

	(void)whole;
	argp_parse(&argp, argc, argv, 0, NULL, &path);
	if (!path)
		return doctor_print(stdout, NULL) ? 0 : 2;
	names_known(&known);
	if (experiment_load(&exp, path, &known, error, sizeof(error)))
		errx(2, "%s", error);
	well = doctor_print(stdout, &exp);
	experiment_free(&exp);
	return well ? 0 : 2;
}

struct show_arguments {
	const char *run;
	bool json;
};

static const struct argp_option show_argp_options[] = {
	{"json", 'j', NULL, 0,
	 "No tables: how memory grows with the connections, as JSON (slope, its standard error, "
	 "intercept), for plots",
	 0},
	{0},
};

static error_t parse_show(int key, char *arg, struct argp_state *state)
{
	struct show_arguments *arguments = state->input;
	error_t ret;

	if (key == 'j') {
		arguments->json = true;
		return 0;
	}
	state->input = &arguments->run;
	ret = parse_argument(key, arg, state);
	state->input = arguments;
	return ret;
}

static void show_json(const json_t *lines)
{
	json_t *object = json_pack("{s:o}", "growth", growth_json(lines));

	json_dumpf(object, stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(object);
}

static int main_show(int argc, char **argv, char *const *whole)
{
	static const struct argp argp = {
		show_argp_options,
		parse_show,
		"[RUN]",
		"Prints the tables of a run again. RUN is a directory, the name of a run below "
		"results/local or results/published, or \"latest\", which is meant when none is "
		"named.",
		NULL,
		NULL,
		NULL};
	struct show_arguments arguments = {0};
	char path[PATH_MAX], error[ERROR_SIZE];
	size_t planned;
	json_t *lines;

	(void)whole;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (rundir_find(arguments.run ? arguments.run : "latest", path, sizeof(path), error,
			sizeof(error)) ||
	    rundir_load(path, &lines, error, sizeof(error)))
		errx(2, "%s", error);
	planned = rundir_planned(path);
	if (arguments.json)
		show_json(lines);
	else
		table_print(stdout, lines);
	if (!arguments.json && planned > json_array_size(lines))
		printf("\nonly %zu of %zu cells: the run was interrupted, or is not over\n",
		       json_array_size(lines), planned);
	json_decref(lines);
	return 0;
}

/* ---- compare ---- */

enum {
	OPT_CLAIMS = 256,
	OPT_PUBLISHED,
	OPT_ABOUT,
};

static const struct argp_option compare_argp_options[] = {
	{"claims", OPT_CLAIMS, "FILE", 0, "What is claimed (" DEFAULT_CLAIMS ")", 0},
	{"published", OPT_PUBLISHED, "DIR", 0, "The published runs (" RUNDIR_PUBLISHED ")", 0},
	{"about", OPT_ABOUT, "EXPERIMENT", 0,
	 "Compare nothing, say what a run of this experiment takes", 0},
	{0},
};

static const char compare_doc[] =
	"Compares a run with what is claimed of its experiment, and with the figures that others "
	"published. RUN is a directory, the name of a run, or \"latest\", which is meant when "
	"none is named.\vA claim holds, differs (and it is said in which file, cell and field), "
	"or can not be compared, for the reason given.\n\n"
	"Exit status: 0 all that could be compared holds, 1 a claim differs, 2 usage or "
	"environment.";

static error_t parse_compare(int key, char *arg, struct argp_state *state)
{
	struct compare_options *options = state->input;

	switch (key) {
	case OPT_CLAIMS:
		options->claims = arg;
		return 0;
	case OPT_PUBLISHED:
		options->published = arg;
		return 0;
	case OPT_ABOUT:
		options->about = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (options->run)
			argp_error(state, "one run at a time, not \"%s\" too", arg);
		options->run = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int main_compare(int argc, char **argv, char *const *whole)
{
	static const struct argp argp = {
		compare_argp_options, parse_compare, "[RUN]", compare_doc, NULL, NULL, NULL};
	struct compare_options options = {.claims = DEFAULT_CLAIMS, .published = RUNDIR_PUBLISHED};
	char error[ERROR_SIZE];
	int status;

	(void)whole;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!options.run)
		options.run = "latest";
	status = compare_print(stdout, &options, error, sizeof(error));
	if (status == RUN_UNUSABLE)
		errx(RUN_UNUSABLE, "%s", error);
	return status;
}

/* ---- the command line ---- */

static const struct {
	const char *name;
	int (*run)(int argc, char **argv, char *const *whole);
} commands[] = {
	{"run", main_run},   {"list", main_list},       {"doctor", main_doctor},
	{"show", main_show}, {"compare", main_compare},
};

static const char doc[] =
	"Measures how little an idle TLS connection can cost: memory (user and kernel), time to "
	"establish and CPU, for combinations of reactors, TLS libraries and park levels.\v"
	"Commands:\n"
	"  run EXPERIMENT.cfg        run its cells, print and keep the results\n"
	"  list                      reactors, TLS backends and park levels there are\n"
	"  doctor [EXPERIMENT.cfg]   is this machine fit for it, and how to make it so\n"
	"  show [RUN]                print the table of a run again (the latest)\n"
	"  compare [RUN]             hold it against what is claimed\n\n"
	"`parkbench COMMAND --help` says more about each. A first run takes half a minute:\n"
	"  parkbench run experiments/smoke.cfg";

static error_t parse_command(int key, char *arg, struct argp_state *state)
{
	int *command = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		for (int i = 0; i < (int)(sizeof(commands) / sizeof(*commands)); i++)
			if (!strcmp(commands[i].name, arg))
				*command = i;
		if (*command < 0)
			argp_error(state,
				   "no command \"%s\"; there are run, list, doctor, show, compare",
				   arg);
		/* The rest of the line is the command's. */
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which command? There are run, list, doctor, show, compare");
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {NULL, parse_command, "COMMAND [ARGUMENT...]", doc, NULL,
					 NULL, NULL};
	int command = -1, status;
	char name[64];
	char **args;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &command);
	/* In order: what stands before the command are options that end the program, so
	 * it is argv[1]. The command sees itself as argv[0], for its messages. */
	snprintf(name, sizeof(name), "parkbench %s", commands[command].name);
	args = calloc((size_t)argc, sizeof(*args));
	if (!args)
		err(RUN_UNUSABLE, "memory");
	args[0] = name;
	memcpy(args + 1, argv + 2, (size_t)(argc - 1) * sizeof(*args));
	status = commands[command].run(argc - 1, args, argv);
	free(args);
	return status;
}
