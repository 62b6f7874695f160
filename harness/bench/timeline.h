/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - what a cell used, over its time: one JSON object a line in
 * <run>/timeline/<order>-<cell>.jsonl. The names are a public format: see results/README.md.
 */
#ifndef HARNESS_BENCH_TIMELINE_H
#define HARNESS_BENCH_TIMELINE_H

#include <stdio.h>

/* Bytes beyond the baseline, but memory_available_bytes; NAN: not known. */
struct timeline_sample {
	double t_s; /* since the cell's start */
	const char *step;
	double established;
	double handshakes; /* since the sample before */
	double server_user_bytes;
	double server_kernel_bytes;
	double client_user_bytes;
	double client_kernel_bytes;
	double memory_available_bytes;
};

/* Writes one line, which is in the file on return. 0, or a negative errno. */
int timeline_write(FILE *stream, const struct timeline_sample *sample);

#endif
