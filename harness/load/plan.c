// SPDX-License-Identifier: Apache-2.0
/* harness/load/ - the tuple planner. */
#include "harness/load/plan.h"

#include <arpa/inet.h>

void plan_source(const struct sockaddr_in *destination, uint64_t index, struct sockaddr_in *source)
{
	uint32_t address = PLAN_FIRST_SOURCE + (uint32_t)(index / PLAN_PORTS);
	uint32_t port = PLAN_FIRST_PORT + (uint32_t)(index % PLAN_PORTS);
	uint32_t taken = ntohs(destination->sin_port);

	if (taken >= PLAN_FIRST_PORT && port >= taken)
		port++;
	*source = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(address),
		.sin_port = htons((uint16_t)port),
	};
}
