// SPDX-License-Identifier: Apache-2.0
/* reactors/tests/ - a bad line, for tests that are scripts: into the network namespace that it is
 * run in, until it is told to end (SIGTERM, SIGINT). usage: bad_line LOSS DELAY_US */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "reactors/tests/c1m_line.h"

int main(int argc, char **argv)
{
	struct line *line;
	char reason[256];
	sigset_t ends;
	int signal;

	if (argc != 3)
		errx(2, "usage: bad_line LOSS DELAY_US: a part of 1, and microseconds at most");
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (line_start(&line, strtod(argv[1], NULL), (unsigned)atoi(argv[2]), reason,
		       sizeof(reason)))
		errx(1, "%s", reason);
	puts("ready");
	fflush(stdout);
	sigwait(&ends, &signal);
	line_end(line);
	return 0;
}
