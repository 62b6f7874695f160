// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - what of this build runs here. */
#include "harness/bench/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/bench/netns.h"
#include "harness/core/plugin.h"
#include "reactors/reactor.h"

/* No library needs longer to load; one that hangs must not hang parkbench. */
#define PROBE_SECONDS 20

static void look_at_tls(const char *name, struct probe *probe)
{
	const struct tls_ops *ops;

	if (plugin_open(name, &ops, probe->reason, sizeof(probe->reason)))
		return;
	snprintf(probe->summary, sizeof(probe->summary), "%s", ops->summary);
	plugin_version_line(ops, probe->version, sizeof(probe->version));
	probe->available = true;
}

static void look_at_reactor(const char *name, struct probe *probe)
{
	const struct reactor_ops *ops = reactor_find(name);

	if (!ops)
		snprintf(probe->reason, sizeof(probe->reason), "no such reactor in this build");
	else
		probe->available = !ops->probe(probe->reason, sizeof(probe->reason));
}

static void look_at_deep(const char *name, struct probe *probe)
{
	const struct reactor_ops *ops = reactor_find(name);

	if (!ops || !ops->deep_probe)
		snprintf(probe->reason, sizeof(probe->reason),
			 "reactor %s keeps the sockets of idle connections; c1m need not", name);
	else if (!netns_enter(0, probe->reason, sizeof(probe->reason)))
		probe->available = !ops->deep_probe(probe->reason, sizeof(probe->reason));
}

/* Runs `look` in a child that shares the answer with us. */
static void look_apart(void (*look)(const char *name, struct probe *probe), const char *name,
		       struct probe *probe)
{
	struct probe *answer;
	int status = 0;
	pid_t pid;

	memset(probe, 0, sizeof(*probe));
	answer = mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	pid = answer == MAP_FAILED ? -1 : fork();
	if (pid < 0) {
		snprintf(probe->reason, sizeof(probe->reason), "can not be probed: %s",
			 strerror(errno));
		if (answer != MAP_FAILED)
			munmap(answer, sizeof(*answer));
		return;
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGALRM, SIG_DFL);
		alarm(PROBE_SECONDS);
		look(name, answer);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*probe = *answer;
	munmap(answer, sizeof(*answer));
	if (WIFSIGNALED(status)) {
		probe->available = false;
		snprintf(probe->reason, sizeof(probe->reason),
			 "its probe ended with signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	}
}

void probe_tls(const char *name, struct probe *probe)
{
	look_apart(look_at_tls, name, probe);
}

void probe_reactor(const char *name, struct probe *probe)
{
	look_apart(look_at_reactor, name, probe);
}

void probe_deep(const char *reactor, struct probe *probe)
{
	look_apart(look_at_deep, reactor, probe);
}
