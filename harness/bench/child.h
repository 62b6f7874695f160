/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - a program under parkbench's control: commands on its standard
 * input, one JSON object a line on its standard output, words for people on its
 * standard error, kept in a log file.
 */
#ifndef HARNESS_BENCH_CHILD_H
#define HARNESS_BENCH_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* One child; made by child_spawn, ended by child_end. One thread uses it. */
struct child {
	const char *name; /* "server", for messages; borrowed */
	pid_t pid;        /* -1 once reaped */
	int status;       /* wait status, once reaped */
	int in;           /* its standard input; -1 when closed */
	int out;          /* its standard output */
	char *line;       /* bytes read and not yet used; owned */
	size_t line_len;
	size_t line_size;
	char log[4096]; /* path of the file that takes its standard error */
};

/*
 * Starts argv[0] (a path). `ready_to_exec` is called in the child just before
 * exec (to enter a memory group); when it fails the child ends with status 126.
 * The child dies with the calling process. 0 or a negative errno.
 */
int child_spawn(struct child *child, const char *name, const char *const argv[], const char *log,
		int (*ready_to_exec)(void *arg), void *arg);

/* Sends one line. 0 or a negative errno (-EPIPE: it has ended). */
int child_send(struct child *child, const char *command);

/*
 * The next JSON object, a new reference. 0; -ETIMEDOUT; -EPIPE: it has closed its
 * output; -EBADMSG: a line that is not a JSON object; -ENOMEM.
 */
int child_read(struct child *child, int timeout_ms, json_t **object);

/* False once it has ended (it is reaped then, see status). */
bool child_alive(struct child *child);

/* Waits for it to end by itself. 0 or -ETIMEDOUT. */
int child_wait(struct child *child, int timeout_ms);

/* "exit status 1" or "signal 11 (Segmentation fault)", and the last line it
 * wrote to its log. For a child that has ended. */
void child_obituary(const struct child *child, char *text, size_t size);

/* Kills it when it still runs, reaps it, frees what it had. Idempotent. */
void child_end(struct child *child);

#endif
