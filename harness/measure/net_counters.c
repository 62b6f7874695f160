// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - TCP counters of a namespace. Source: proc(5), kernel net/ipv4/proc.c */
#include "harness/measure/net_counters.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "harness/measure/text_file.h"

static const struct counter {
	const char *file;
	const char *section; /* the word that starts its two lines */
	const char *name;
	size_t offset;
} counter_table[] = {
	{"netstat", "TcpExt:", "ListenOverflows", offsetof(struct net_counters, listen_overflows)},
	{"netstat", "TcpExt:", "ListenDrops", offsetof(struct net_counters, listen_drops)},
	{"netstat", "TcpExt:", "TCPTimeouts", offsetof(struct net_counters, tcp_timeouts)},
	{"snmp", "Tcp:", "RetransSegs", offsetof(struct net_counters, retrans_segs)},
	{"snmp", "Tcp:", "OutRsts", offsetof(struct net_counters, out_rsts)},
};
#define COUNTERS (sizeof(counter_table) / sizeof(counter_table[0]))

static uint64_t *field(struct net_counters *counters, const struct counter *counter)
{
	return (uint64_t *)((char *)counters + counter->offset);
}

static uint64_t value_of(const struct net_counters *counters, const struct counter *counter)
{
	return *(const uint64_t *)((const char *)counters + counter->offset);
}

/* The first line that starts with `section`, at or after `text`; NULL without one. */
static char *find_line(char *text, const char *section)
{
	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, section, strlen(section)))
			return line;
	}
	return NULL;
}

static int parse_count(const char *word, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(word, &end, 10);
	return errno || end == word || *end ? -EBADMSG : 0;
}

/* Walks a line of names and its line of values in step. Cuts both up. */
static int pick(char *names, char *values, const struct counter *counter, uint64_t *value)
{
	char *names_rest, *values_rest;
	char *name = strtok_r(names, " ", &names_rest);
	char *word = strtok_r(values, " ", &values_rest);
	int err = -ENODATA;

	while (name && word) {
		if (!strcmp(name, counter->name))
			err = parse_count(word, value);
		name = strtok_r(NULL, " ", &names_rest);
		word = strtok_r(NULL, " ", &values_rest);
	}
	return name || word ? -EBADMSG : err;
}

static int read_counter(const char *net_dir, const struct counter *counter, uint64_t *value)
{
	char path[PATH_MAX], *text;
	int err = text_format(path, sizeof(path), "%s/%s", net_dir, counter->file);

	if (!err)
		err = text_read(path, &text);
	if (err)
		return err;
	char *names = find_line(text, counter->section);
	char *values = names ? strchr(names, '\n') : NULL;
	if (!names) {
		err = -ENODATA;
	} else if (!values || find_line(values + 1, counter->section) != values + 1) {
		err = -EBADMSG;
	} else {
		*values++ = '\0';
		err = pick(names, text_first_line(values), counter, value);
	}
	free(text);
	return err;
}

int net_counters_read(const char *net_dir, struct net_counters *counters)
{
	int err = 0;

	*counters = (struct net_counters){0};
	for (size_t i = 0; i < COUNTERS && !err; i++)
		err = read_counter(net_dir, &counter_table[i], field(counters, &counter_table[i]));
	return err;
}

int net_counters_delta(const struct net_counters *before, const struct net_counters *after,
		       struct net_counters *delta)
{
	for (size_t i = 0; i < COUNTERS; i++) {
		uint64_t old = value_of(before, &counter_table[i]);
		uint64_t new = value_of(after, &counter_table[i]);
		if (new < old)
			return -ERANGE;
		*field(delta, &counter_table[i]) = new - old;
	}
	return 0;
}
