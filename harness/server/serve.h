/* SPDX-License-Identifier: Apache-2.0 */
/* harness/server/ - a server that runs: what signals and `--control` ask of it. For main
 * files and worker processes: errors end the program. */
#ifndef HARNESS_SERVER_SERVE_H
#define HARNESS_SERVER_SERVE_H

#include <stdbool.h>

#include "harness/server/server.h"

#define SERVE_STOP_GRACE_S 5

/* The ready line of the control protocol. */
void serve_say_ready(const struct server_config *config);
/* Until told to stop: 0, or 1 when a worker failed. `signals`: a signalfd of SIGTERM, SIGINT
 * and SIGUSR1, or -1. */
int serve(struct server *server, bool controlled, int signals);
/* Ends the server; under control it says so. */
void serve_stop(struct server *server, bool controlled);

#endif
