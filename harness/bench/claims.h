/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - what we claim: results/claims.json, read and checked. The format is described in
 * results/README.md.
 */
#ifndef HARNESS_BENCH_CLAIMS_H
#define HARNESS_BENCH_CLAIMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum claim_rule {
	CLAIM_RELATIVE, /* now is the published figure, give or take `bound` of it */
	CLAIM_AT_MOST,  /* both are `bound` at most */
	CLAIM_AT_LEAST, /* both are `bound` at least */
	CLAIM_RULES,
};

extern const char *const claim_rule_names[CLAIM_RULES];

/* How a figure is made from two cells. */
enum claim_pair {
	CLAIM_ALONE,
	CLAIM_OVER,  /* divided by that of `other_cell` */
	CLAIM_MINUS, /* less that of `other_cell` */
};

/* Somebody else's figure. */
struct claim_theirs {
	const char *source; /* a file below the published results; NULL: there is none */
	const char *row;    /* the `name` of one of its `results` */
	const char *field;
	double value;
};

/* All texts are borrowed from the file's JSON. */
struct claim {
	const char *id;
	const char *sentence;
	const char *scale;
	const char *experiment;
	const char *figure; /* which plot shows it */
	const char *cell;
	const json_t *where; /* an object: members of the line besides `cell`; or NULL */
	const char *field; /* members of the line, with a dot between: memory.user_bytes_per_conn */
	const char *plus;  /* added to it, or NULL */
	const char *over;  /* what divides both, in the same line, or NULL */
	bool slope;        /* not the figure itself: what each further connection adds */
	enum claim_pair pair;
	const char *other_cell;
	const char *unit;
	enum claim_rule rule;
	double bound;
	struct claim_theirs theirs;
};

/* What to expect of a run. */
struct claim_effort {
	double minutes;
	double memory_gib;
};

/* Made by claims_load, ended by claims_free, read-only in between. */
struct claims {
	json_t *root;
	const char *published; /* where our figures are, below the published results, by default */
	struct claim *claim;
	size_t count;
};

/* Reads and checks a file. 0, or a negative errno with a message that names the file, the claim
 * and what is wrong. */
int claims_load(struct claims *claims, const char *path, char *error, size_t error_size);
void claims_free(struct claims *claims);

/* The directory of our figures of an experiment, below the published results. */
const char *claims_published(const struct claims *claims, const char *experiment);

/* What the file says of an experiment's run; false: nothing. */
bool claims_effort(const struct claims *claims, const char *experiment,
		   struct claim_effort *effort);

#endif
