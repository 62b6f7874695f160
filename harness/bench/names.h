/* SPDX-License-Identifier: Apache-2.0 */
/* harness/bench/ - short lists of names: reactors, backends, park levels. */
#ifndef HARNESS_BENCH_NAMES_H
#define HARNESS_BENCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_SIZE 32
#define NAMES_MAX 32

/* Plain values, copied freely; nothing to free. */
struct names {
	char name[NAMES_MAX][NAME_SIZE];
	size_t count;
};

/* -ENOSPC when the list is full or the name too long. */
int names_add(struct names *names, const char *name);
bool names_have(const struct names *names, const char *name);
/* "a, b, c" into text, cut where it does not fit; "none" for an empty list. */
void names_join(const struct names *names, char *text, size_t size);

/* Everything this build knows. */
struct known_names {
	struct names reactors; /* linked in */
	struct names tls;      /* plug-ins beside the executable */
	struct names park;
};
void names_known(struct known_names *known);

#endif
