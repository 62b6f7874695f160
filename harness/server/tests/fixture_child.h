/* SPDX-License-Identifier: Apache-2.0 */
/* harness/server/tests/ - a parkbench-server as a child of the test, driven by --control, and
 * clients without TLS. What fails, fails the test. */
#ifndef HARNESS_SERVER_TESTS_FIXTURE_CHILD_H
#define HARNESS_SERVER_TESTS_FIXTURE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <jansson.h>

#define BED_PATIENCE_S 20

struct bed_server {
	pid_t pid;
	int in, out;
	unsigned port;
	json_t *ready; /* its first line; NULL: it could not start */
};

/* Starts one with `--tls plain` on a free port of 127.0.0.1, and more options (NULL-terminated;
 * the last of a kind holds), and waits for its first line. */
void bed_start(struct bed_server *server, const char *const options[]);
/* Ends its input, waits for its end: the wait(2) status. */
int bed_stop(struct bed_server *server);
/* As bed_stop, for one that ends by itself. */
int bed_await_end(struct bed_server *server);
/* Its next line, a new reference; NULL: it says no more. */
json_t *bed_line(const struct bed_server *server);
json_int_t bed_stat(struct bed_server *server, const char *name);
/* Waits until the counter has that value. */
void bed_await_stat(struct bed_server *server, const char *name, json_int_t value);
/* Children of a process; how many, at most `max`. */
size_t bed_children(pid_t pid, pid_t *children, size_t max);

/* A connected socket, or a negative errno. */
int bed_dial(const struct bed_server *server);
/* Sends a request: false when the connection is gone. */
bool bed_ask(int fd);
/* Waits for the answer: true when it is a whole response, false when the connection ended
 * instead. One that hangs fails the test. */
bool bed_answered(int fd);

#endif
