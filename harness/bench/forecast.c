// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the memory that a large cell will need. */
#include "harness/bench/forecast.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define GIB 1073741824.0

/* A pilot is off by what its pages round up to and by what else the machine does. */
#define MARGIN 1.1

/* A socket with its file and its place in a reactor, where the meter can not tell. */
#define KERNEL_BYTES 5120.0

static double or_zero(double value)
{
	return value > 0 ? value : 0;
}

static struct forecast_side of_side(const struct result_memory *idle, double connections)
{
	return (struct forecast_side){
		.user = or_zero(idle->user_bytes / connections),
		.kernel = isnan(idle->kernel_bytes) ? KERNEL_BYTES
						    : or_zero(idle->kernel_bytes / connections),
	};
}

void forecast_make(struct forecast *forecast, const struct result *pilot, unsigned connections,
		   unsigned busy_most)
{
	const struct result_memory *server = &pilot->phases[PHASE_IDLE];
	const struct result_memory *client = &pilot->client_phases[PHASE_IDLE];
	double idle = or_zero(server->user_bytes) + or_zero(server->kernel_bytes) +
		      or_zero(client->user_bytes) + or_zero(client->kernel_bytes);
	double in_flight = pilot->cell.dimension[DIM_IN_FLIGHT], count = pilot->established;
	double each;

	*forecast = (struct forecast){
		.server = of_side(server, count),
		.client = of_side(client, count),
		.busy = or_zero((pilot->round_peak_bytes - idle) / count),
		.handshakes = or_zero(pilot->ramp_peak_bytes) * fmax(1, in_flight / count),
		.fixed = or_zero(pilot->user_baseline_bytes) +
			 or_zero(pilot->client_user_baseline_bytes),
	};
	each = forecast->server.user + forecast->server.kernel + forecast->client.user +
	       forecast->client.kernel;
	forecast->bytes = forecast->fixed + each * connections +
			  fmax(forecast->busy * fmin(connections, busy_most), forecast->handshakes);
}

int forecast_refuse(const struct forecast *forecast, double available_bytes, double floor_bytes,
		    char *reason, size_t reason_size)
{
	double need = forecast->bytes * MARGIN + floor_bytes;

	if (isnan(available_bytes) || need <= available_bytes)
		return 0;
	snprintf(reason, reason_size,
		 "needs %.1f GiB (server user %.0f B, kernel %.0f B; client user %.0f B, kernel "
		 "%.0f B a connection, %.0f B more in a round; %.1f GiB stay free), has %.1f GiB",
		 need / GIB, forecast->server.user, forecast->server.kernel, forecast->client.user,
		 forecast->client.kernel, forecast->busy, floor_bytes / GIB, available_bytes / GIB);
	return -ENOMEM;
}
