/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - c1m: what the loops of a process have in common that serve one address, or are
 * clients of it: its packet filter rules and a range of queues, one a loop. The rules are there
 * from when the last of the loops has joined until the last has left. Any thread.
 */
#ifndef REACTORS_C1M_SERVICE_H
#define REACTORS_C1M_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "reactors/c1m_queue.h"
#include "reactors/reactor.h"

struct c1m_service;

/* Opens the caller's queue. 0, or a negative errno with the reason. */
int c1m_service_join(struct c1m_service **service, const struct reactor_deep *config,
		     struct c1m_queue *queue, char *reason, size_t reason_size);
/* The rules are there: until then what comes for a connection without a socket is answered by RST.
 */
bool c1m_service_ready(const struct c1m_service *service);
/* Closes it. */
void c1m_service_leave(struct c1m_service *service, struct c1m_queue *queue);

#endif
