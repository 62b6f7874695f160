// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - c1m: services, the loops that share them, their queues and rules.
 * build-pkg: libmnl
 */
#include "reactors/c1m_service.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reactors/c1m_rules.h"

/* Queue numbers of a service: a block of them, which its first loop finds free. */
enum { BLOCK = 256 };

struct c1m_service {
	struct c1m_service *next;
	struct c1m_rules rules;
	uint32_t joined, left;
	atomic_bool ready;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct c1m_service *services;

/* One that still waits for loops to join. */
static struct c1m_service *find(const struct reactor_deep *config)
{
	for (struct c1m_service *s = services; s; s = s->next)
		if (s->rules.client == config->client &&
		    s->rules.service.sin_addr.s_addr == config->service.sin_addr.s_addr &&
		    s->rules.service.sin_port == config->service.sin_port &&
		    s->joined < s->rules.queues)
			return s;
	return NULL;
}

static int make(struct c1m_service **out, const struct reactor_deep *config)
{
	struct c1m_service *service;

	if (!config->loops || config->loops >= BLOCK)
		return -EINVAL;
	service = calloc(1, sizeof(*service));
	if (!service)
		return -ENOMEM;
	service->rules = (struct c1m_rules){.service = config->service,
					    .client = config->client,
					    .queues = (uint16_t)config->loops};
	service->next = services;
	services = service;
	*out = service;
	return 0;
}

static void unmake(struct c1m_service *service)
{
	struct c1m_service **at = &services;

	while (*at != service)
		at = &(*at)->next;
	*at = service->next;
	free(service);
}

static int open_queue(struct c1m_service *service, struct c1m_queue *queue)
{
	int error;

	if (service->joined)
		return c1m_queue_open(queue,
				      (uint16_t)(service->rules.first_queue + service->joined));
	error = c1m_queue_open_free(queue, BLOCK);
	service->rules.first_queue = queue->number;
	return error;
}

static int join(struct c1m_service *service, struct c1m_queue *queue, char *reason, size_t size)
{
	int error = open_queue(service, queue);

	if (error) {
		c1m_queue_explain(error, reason, size);
		return error;
	}
	if (service->joined + 1 == service->rules.queues)
		error = c1m_rules_add(&service->rules, reason, size);
	if (error)
		c1m_queue_close(queue);
	else
		service->joined++;
	if (service->joined == service->rules.queues)
		atomic_store(&service->ready, true);
	return error;
}

int c1m_service_join(struct c1m_service **out, const struct reactor_deep *config,
		     struct c1m_queue *queue, char *reason, size_t reason_size)
{
	struct c1m_service *service;
	int error = 0;

	pthread_mutex_lock(&lock);
	service = find(config);
	if (!service)
		error = make(&service, config);
	if (error)
		snprintf(reason, reason_size, "level deep takes 1 to %d workers", BLOCK - 1);
	else
		error = join(service, queue, reason, reason_size);
	if (error && service && service->joined == service->left)
		unmake(service);
	pthread_mutex_unlock(&lock);
	*out = service;
	return error;
}

bool c1m_service_ready(const struct c1m_service *service)
{
	return atomic_load(&service->ready);
}

void c1m_service_leave(struct c1m_service *service, struct c1m_queue *queue)
{
	pthread_mutex_lock(&lock);
	service->left++;
	if (service->joined == service->left) {
		if (service->joined == service->rules.queues)
			c1m_rules_remove(&service->rules);
		unmake(service);
	}
	c1m_queue_close(queue);
	pthread_mutex_unlock(&lock);
}
