/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - turns: how threads of connections and their worker take turns, so
 * that upcalls come only while `run` is executed and never two at a time. For
 * classic.c. Source: pthreads(7), futex(2).
 *
 * The worker holds the lock from turns_init to turns_destroy except while it
 * waits inside `run`; a connection's thread takes it for its upcalls. Unless
 * said otherwise a function is called with the lock held.
 */
#ifndef REACTORS_TURNS_H
#define REACTORS_TURNS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct turns {
	pthread_mutex_t lock;
	pthread_cond_t admitted;  /* `served` has reached `admit_until` */
	_Atomic uint64_t arrived; /* threads that asked for the lock... */
	uint64_t served;          /* ...and those that had it */
	uint64_t admit_until;
	pthread_cond_t change; /* what threads wait for has changed */
	unsigned waiters;
	unsigned epoch;
};

/* Zeroed before. Returns with the lock held. */
static inline void turns_init(struct turns *turns)
{
	pthread_cond_init(&turns->change, NULL);
	pthread_cond_init(&turns->admitted, NULL);
	pthread_mutex_init(&turns->lock, NULL);
	pthread_mutex_lock(&turns->lock);
}

static inline void turns_destroy(struct turns *turns)
{
	pthread_mutex_unlock(&turns->lock);
	pthread_mutex_destroy(&turns->lock);
	pthread_cond_destroy(&turns->admitted);
	pthread_cond_destroy(&turns->change);
}

/* A thread's turn begins: without the lock before, with it afterwards. */
static inline void turns_enter(struct turns *turns)
{
	atomic_fetch_add(&turns->arrived, 1);
	pthread_mutex_lock(&turns->lock);
}

static inline void turns_count_served(struct turns *turns)
{
	turns->served++;
	if (turns->served == turns->admit_until)
		pthread_cond_signal(&turns->admitted);
}

/* A thread's turn ends, and with it the lock. */
static inline void turns_leave(struct turns *turns)
{
	turns_count_served(turns);
	pthread_mutex_unlock(&turns->lock);
}

/*
 * By the worker: gives all threads that have arrived by now their turn. A mutex
 * is not fair: a worker that calls `run` without waiting would shut them out.
 */
static inline void turns_admit(struct turns *turns)
{
	turns->admit_until = atomic_load(&turns->arrived);
	while (turns->served < turns->admit_until)
		pthread_cond_wait(&turns->admitted, &turns->lock);
}

/*
 * In a turn: sleeps until the next turns_announce. All waits share one condition
 * since they are rare: closed gates, and ends that the core has not acted on.
 */
static inline void turns_wait(struct turns *turns)
{
	unsigned epoch = turns->epoch;

	turns_count_served(turns);
	turns->waiters++;
	while (turns->epoch == epoch)
		pthread_cond_wait(&turns->change, &turns->lock);
}

/* Those who wait stand at the lock again. */
static inline void turns_announce(struct turns *turns)
{
	turns->epoch++;
	atomic_fetch_add(&turns->arrived, turns->waiters);
	turns->waiters = 0;
	pthread_cond_broadcast(&turns->change);
}

#endif
