// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - a worker's mailbox: what other threads have it run. */
#include "harness/core/mailbox.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "harness/core/worker.h"

/* The worker that this thread is; for the signal handler. */
static _Thread_local struct worker *self;

static void on_wake_signal(int signal)
{
	(void)signal;
	if (self)
		self->config.reactor->wake(&self->loop);
}

/* What a reactor is woken with is a descriptor. Where it is known in the worker's table alone,
 * the worker wakes itself. SIGURG: by default it does nothing to anybody. */
static void wake(struct worker *worker)
{
	if (worker->config.own_files)
		pthread_kill(worker->thread, SIGURG);
	else
		worker->config.reactor->wake(&worker->loop);
}

void mailbox_open(struct worker *worker)
{
	self = worker;
}

int mailbox_allow_signals(void)
{
	struct sigaction action = {.sa_handler = on_wake_signal, .sa_flags = SA_RESTART};

	return sigaction(SIGURG, &action, NULL) ? -errno : 0;
}

void mailbox_answer(struct worker *worker)
{
	struct worker_call *call, *next;

	if (!atomic_exchange(&worker->mail, false))
		return;
	pthread_mutex_lock(&worker->mutex);
	call = worker->calls;
	worker->calls = NULL;
	pthread_mutex_unlock(&worker->mutex);
	for (; call; call = next) {
		next = call->next;
		call->run(worker, call->arg);
		pthread_mutex_lock(&worker->mutex);
		call->done = true;
		pthread_cond_broadcast(&worker->answered);
		pthread_mutex_unlock(&worker->mutex);
	}
}

void worker_post(struct worker *worker, struct worker_call *call)
{
	pthread_mutex_lock(&worker->mutex);
	call->done = false;
	call->next = worker->calls;
	worker->calls = call;
	/* A worker that ended answers nobody: its calls are done at once. */
	if (worker->stopped) {
		worker->calls = call->next;
		call->done = true;
	}
	atomic_store(&worker->mail, true);
	if (!call->done)
		wake(worker);
	pthread_mutex_unlock(&worker->mutex);
}

void worker_wait(struct worker *worker, struct worker_call *call)
{
	pthread_mutex_lock(&worker->mutex);
	while (!call->done)
		pthread_cond_wait(&worker->answered, &worker->mutex);
	pthread_mutex_unlock(&worker->mutex);
}

void worker_call(struct worker *worker, void (*run)(struct worker *, void *), void *arg)
{
	struct worker_call call = {.run = run, .arg = arg};

	worker_post(worker, &call);
	worker_wait(worker, &call);
}
