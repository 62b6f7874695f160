// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - how far a run is. */
#include "harness/bench/progress.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "harness/common/clock.h"

/* ECMA-48: to the start of the line, and erase to its end. */
#define REWRITE "\r\033[K"

void progress_start(struct progress *progress, FILE *stream, size_t cells)
{
	*progress = (struct progress){
		.stream = stream,
		.terminal = isatty(fileno(stream)),
		.cells = cells,
		.started_ns = clock_now_ns(),
	};
}

static void print_head(const struct progress *progress, const struct matrix_cell *cell)
{
	fprintf(progress->stream, "%s[%*u/%zu] %s #%u%s%s: ", progress->terminal ? REWRITE : "",
		progress->cells > 9 ? 2 : 1, cell->order, progress->cells, cell->name, cell->repeat,
		*cell->setting ? " " : "", cell->setting);
}

void progress_now(const struct progress *progress, const struct matrix_cell *cell, const char *step,
		  unsigned established)
{
	if (!progress->terminal)
		return;
	print_head(progress, cell);
	fprintf(progress->stream, "%s", step);
	if (!strcmp(step, "ramp"))
		fprintf(progress->stream, " %u/%u", established, cell->dimension[DIM_CONNECTIONS]);
	fprintf(progress->stream, " (%u s)",
		(unsigned)((clock_now_ns() - progress->started_ns) / NS_PER_S));
	fflush(progress->stream);
}

void progress_cell(const struct progress *progress, const struct result *result)
{
	enum phase headline = result_headline(result);
	double conns = result->established;

	print_head(progress, &result->cell);
	fprintf(progress->stream, "%s", verdict_names[result->verdict]);
	if (result->verdict != VERDICT_PASS) {
		fprintf(progress->stream, ": %s", result->reason);
	} else if (headline < PHASES && conns > 0) {
		fprintf(progress->stream, ": user %.0f B",
			result->phases[headline].user_bytes / conns);
		if (!isnan(result->phases[headline].kernel_bytes))
			fprintf(progress->stream, " + kernel %.0f B",
				result->phases[headline].kernel_bytes / conns);
		fprintf(progress->stream, " a connection, ramp %.2f s", result->ramp_s);
	}
	fprintf(progress->stream, "\n");
	fflush(progress->stream);
}
