/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - `parkbench compare`: the claims of an experiment, theirs, as published and in a
 * run, and whether they hold.
 */
#ifndef HARNESS_BENCH_COMPARE_H
#define HARNESS_BENCH_COMPARE_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "harness/bench/claim_value.h"
#include "harness/bench/claims.h"

enum compare_verdict {
	COMPARE_HOLDS,
	COMPARE_DIFFERS,
	COMPARE_CANNOT, /* for a reason that is not the claim's fault */
};

struct comparison {
	const struct claim *claim;
	struct claim_value published;
	struct claim_value now;
	double difference; /* of now, as a part of published; NAN: one is not known */
	enum compare_verdict verdict;
	char reason[1024]; /* unless it holds: which file, cell and field, and both figures */
};

/* Where the figures come from; borrowed. */
struct compare_source {
	const char *published_dir;   /* results/published: theirs are below it */
	const char *published_cells; /* the file of ours, for messages */
	const json_t *published;     /* its lines; NULL: not published */
	const char *run_cells;
	const json_t *run;
};

void compare_claim(const struct claim *claim, const struct compare_source *source,
		   struct comparison *comparison);

struct compare_options {
	const char *claims;    /* file */
	const char *published; /* directory */
	const char *run;       /* directory, name, or "latest" */
	const char *about;     /* instead of a run: an experiment, to say what it takes */
};

/* Prints the table. 0: all that could be compared holds; 1: something differs; 2: a file is
 * missing or broken, with the message. */
int compare_print(FILE *stream, const struct compare_options *options, char *error,
		  size_t error_size);

#endif
