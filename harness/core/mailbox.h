/* SPDX-License-Identifier: Apache-2.0 */
/* harness/core/ - the worker's side of its mailbox; the others' is in worker.h: worker_post. */
#ifndef HARNESS_CORE_MAILBOX_H
#define HARNESS_CORE_MAILBOX_H

struct worker;

/* The worker that the calling thread is from now on; NULL: none any more. */
void mailbox_open(struct worker *worker);
/* Before a worker with files of its own is started: it is woken by a signal. Process-wide. */
int mailbox_allow_signals(void);
/* Runs what has been posted. In the worker's thread, between turns. */
void mailbox_answer(struct worker *worker);

#endif
