/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - what of this build runs here. Each probe runs in a process of its
 * own: two TLS libraries do not mix in one, and what crashes must not take
 * parkbench with it.
 */
#ifndef HARNESS_BENCH_PROBE_H
#define HARNESS_BENCH_PROBE_H

#include <stdbool.h>

/* Plain values. */
struct probe {
	bool available;
	char reason[512];  /* why not */
	char summary[128]; /* of a backend that loads */
	char version[512]; /* likewise: which library answers */
};

/* Whether the plug-in loads and the library that answers is the one named. */
void probe_tls(const char *name, struct probe *probe);
/* Whether the kernel can run the reactor. */
void probe_reactor(const char *name, struct probe *probe);
/* Whether a network like that of a cell can have connections parked deep by the reactor. */
void probe_deep(const char *reactor, struct probe *probe);

#endif
