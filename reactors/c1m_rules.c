// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/ - c1m: packet filter rules. Source: iptables(8), posix_spawn(3).
 * build-pkg: libmnl
 */
#include "reactors/c1m_rules.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 32, LINE_BYTES = 256 };

/* ---- running iptables ---- */

/* sbin is not in everybody's PATH. */
static int spawn(char *const argv[], int said_fd, pid_t *pid)
{
	static const char *const places[] = {"iptables", "/usr/sbin/iptables", "/sbin/iptables"};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int error = ENOENT;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
	posix_spawn_file_actions_adddup2(&actions, said_fd, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, said_fd, STDERR_FILENO);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && error == ENOENT; i++)
		error = posix_spawnp(pid, places[i], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -error;
}

/* The first line of what it said. */
static void read_said(int said_fd, char *said, size_t size)
{
	ssize_t n = pread(said_fd, said, size - 1, 0);

	said[n > 0 ? n : 0] = '\0';
	said[strcspn(said, "\n")] = '\0';
}

/* 0; -ENOENT: there is no iptables; -EIO: it refused, and `said` has why. */
static int run(char *const argv[], char *said, size_t size)
{
	int said_fd = memfd_create("iptables", MFD_CLOEXEC);
	int status = 0, error;
	pid_t pid;

	*said = '\0';
	if (said_fd < 0)
		return -errno;
	error = spawn(argv, said_fd, &pid);
	while (!error && waitpid(pid, &status, 0) < 0)
		error = errno == EINTR ? 0 : -errno;
	if (!error && status)
		error = -EIO;
	read_said(said_fd, said, size);
	close(said_fd);
	return error;
}

/* iptables -w with the words of `line`. */
static int iptables(const char *line, char *reason, size_t reason_size)
{
	char copy[LINE_BYTES], said[LINE_BYTES];
	char *argv[WORDS_MAX] = {"iptables", "-w"}, *rest = NULL;
	int argc = 2, error;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	error = run(argv, said, sizeof(said));
	if (error == -ENOENT)
		snprintf(reason, reason_size,
			 "the program iptables is missing: apt-get install iptables");
	else if (error == -EIO)
		snprintf(reason, reason_size, "iptables -w %s: %s", line, said);
	else if (error)
		snprintf(reason, reason_size, "iptables can not be run: %s", strerror(-error));
	return error;
}

/* ---- the rules ---- */

static void name_chain(const struct c1m_rules *rules, char *chain, size_t size)
{
	snprintf(chain, size, "PARKBENCH-%u%s", ntohs(rules->service.sin_port),
		 rules->client ? "-client" : "");
}

/* What INPUT says of the chain: `action` is "-I INPUT 1" or "-D INPUT". */
static void jump(const struct c1m_rules *rules, const char *action, const char *chain, char *line)
{
	char address[INET_ADDRSTRLEN], of[INET_ADDRSTRLEN + 8] = "";

	inet_ntop(AF_INET, &rules->service.sin_addr, address, sizeof(address));
	if (rules->service.sin_addr.s_addr != htonl(INADDR_ANY))
		snprintf(of, sizeof(of), " %s %s", rules->client ? "-s" : "-d", address);
	snprintf(line, LINE_BYTES, "%s -p tcp%s %s %u -j %s", action, of,
		 rules->client ? "--sport" : "--dport", ntohs(rules->service.sin_port), chain);
}

static int add_chain(const struct c1m_rules *rules, const char *chain, char *reason, size_t size)
{
	char line[LINE_BYTES];
	int error;

	snprintf(line, sizeof(line), "-N %s", chain);
	error = iptables(line, reason, size);
	if (error)
		return error;
	snprintf(line, sizeof(line),
		 "-A %s -m socket --restore-skmark -m mark ! --mark 0x%x -j RETURN", chain,
		 (unsigned)C1M_MARK);
	error = iptables(line, reason, size);
	if (error)
		return error;
	if (rules->queues == 1)
		snprintf(line, sizeof(line), "-A %s -j NFQUEUE --queue-num %u", chain,
			 rules->first_queue);
	else
		snprintf(line, sizeof(line), "-A %s -j NFQUEUE --queue-balance %u:%u", chain,
			 rules->first_queue, rules->first_queue + rules->queues - 1u);
	return iptables(line, reason, size);
}

/*
 * Trap: what comes from another device than lo is given its socket before it is held (early
 * demux), and goes to that socket even when the connection has lost it and been given a new one
 * meanwhile: the packet is lost. True: the setting was another. Where it may not be set, as with a
 * /proc that is read-only, the peer repeats what is lost.
 */
static bool set_early_demux(char value)
{
	int fd = open("/proc/sys/net/ipv4/ip_early_demux", O_RDWR | O_CLOEXEC);
	char before = value;
	bool done;

	if (fd < 0)
		return false;
	done = pread(fd, &before, 1, 0) == 1 && before != value && pwrite(fd, &value, 1, 0) == 1;
	close(fd);
	return done;
}

static void remove_chain(const char *chain)
{
	char line[LINE_BYTES], unused[LINE_BYTES];

	snprintf(line, sizeof(line), "-F %s", chain);
	iptables(line, unused, sizeof(unused));
	snprintf(line, sizeof(line), "-X %s", chain);
	iptables(line, unused, sizeof(unused));
}

int c1m_rules_add(struct c1m_rules *rules, char *reason, size_t reason_size)
{
	char chain[32], line[LINE_BYTES];
	int error;

	c1m_rules_remove(rules);
	name_chain(rules, chain, sizeof(chain));
	error = add_chain(rules, chain, reason, reason_size);
	jump(rules, "-I INPUT 1", chain, line);
	if (!error)
		error = iptables(line, reason, reason_size);
	if (error)
		remove_chain(chain);
	else
		rules->early_demux = set_early_demux('0');
	return error;
}

void c1m_rules_remove(const struct c1m_rules *rules)
{
	char chain[32], line[LINE_BYTES], unused[LINE_BYTES];

	name_chain(rules, chain, sizeof(chain));
	jump(rules, "-D INPUT", chain, line);
	iptables(line, unused, sizeof(unused));
	remove_chain(chain);
	if (rules->early_demux)
		set_early_demux('1');
}

int c1m_rules_probe(char *reason, size_t reason_size)
{
	const struct c1m_rules rules = {.first_queue = 0, .queues = 2};
	char chain[32];
	int error;

	snprintf(chain, sizeof(chain), "PARKBENCH-probe-%d", (int)getpid());
	error = add_chain(&rules, chain, reason, reason_size);
	remove_chain(chain);
	return error;
}
