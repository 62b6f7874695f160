// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - a private network for one cell. */
#include "harness/bench/netns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/measure/text_file.h"

/* The most that the kernel takes (net/ipv4/sysctl_net_ipv4.c). */
#define TABLE_ENTRIES_MAX (16 * 1024 * 1024)

struct probe_answer {
	int error;
	char reason[512];
	_Alignas(max_align_t) char result[]; /* of what runs inside */
};

/* The settings that forbid user namespaces, and the value that does. */
static const struct {
	const char *file;
	const char *name;
	long forbids;
	const char *fix;
} forbidders[] = {
	{"/proc/sys/user/max_user_namespaces", "user.max_user_namespaces", 0,
	 "sudo sysctl -w user.max_user_namespaces=15000"},
	{"/proc/sys/user/max_net_namespaces", "user.max_net_namespaces", 0,
	 "sudo sysctl -w user.max_net_namespaces=15000"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone", 0,
	 "sudo sysctl -w kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
	 "kernel.apparmor_restrict_unprivileged_userns", 1,
	 "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
};

/* Says why `what` failed and what to do about it; returns -error. */
static int explain(int error, const char *what, char *reason, size_t size)
{
	int64_t now;

	for (size_t i = 0; i < sizeof(forbidders) / sizeof(*forbidders); i++) {
		if (text_read_int(forbidders[i].file, &now) || now != forbidders[i].forbids)
			continue;
		snprintf(reason, size, "no private network: %s: %s (%s = %ld); allow it with: %s",
			 what, strerror(error), forbidders[i].name, forbidders[i].forbids,
			 forbidders[i].fix);
		return -error;
	}
	snprintf(reason, size,
		 "no private network: %s: %s; user namespaces are forbidden here (by a container's "
		 "seccomp profile?): run parkbench as root: sudo parkbench ...",
		 what, strerror(error));
	return -error;
}

/* user_namespaces(7): setgroups must be denied before an unprivileged gid_map. */
static int map_ids(uid_t uid, gid_t gid)
{
	char uid_map[32], gid_map[32];
	int error = text_write("/proc/self/setgroups", "deny");

	snprintf(uid_map, sizeof(uid_map), "0 %u 1", (unsigned)uid);
	snprintf(gid_map, sizeof(gid_map), "0 %u 1", (unsigned)gid);
	if (!error)
		error = text_write("/proc/self/uid_map", uid_map);
	if (!error)
		error = text_write("/proc/self/gid_map", gid_map);
	return error;
}

static int loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCGIFFLAGS, &request))
		error = -errno;
	request.ifr_flags |= IFF_UP | IFF_RUNNING;
	if (!error && ioctl(fd, SIOCSIFFLAGS, &request))
		error = -errno;
	close(fd);
	return error;
}

/* The size counts for the children of the namespace that it is set in: so into another one.
 * Where that fails the first, with the shared table, is as good a network. */
static void own_socket_table(uint64_t sockets)
{
	char entries[32];

	if (sockets > TABLE_ENTRIES_MAX)
		sockets = TABLE_ENTRIES_MAX;
	snprintf(entries, sizeof(entries), "%" PRIu64, sockets);
	if (!text_write("/proc/sys/net/ipv4/tcp_child_ehash_entries", entries))
		unshare(CLONE_NEWNET);
}

int netns_enter(uint64_t sockets, char *reason, size_t reason_size)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int error;

	if (unshare(CLONE_NEWNET)) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
			return explain(errno, "unshare", reason, reason_size);
		error = map_ids(uid, gid);
		if (error)
			return explain(-error, "mapping the user", reason, reason_size);
	}
	if (sockets)
		own_socket_table(sockets);
	error = loopback_up();
	if (error)
		return explain(-error, "bringing lo up", reason, reason_size);
	return 0;
}

int netns_try(void (*inside)(void *result), void *result, size_t size, char *reason,
	      size_t reason_size)
{
	struct probe_answer *answer = mmap(NULL, sizeof(*answer) + size, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int error;
	pid_t pid;

	if (answer == MAP_FAILED)
		return -errno;
	answer->error = -ECHILD; /* unless it says otherwise */
	pid = fork();
	if (pid == 0) {
		answer->error = netns_enter(0, answer->reason, sizeof(answer->reason));
		if (!answer->error && inside)
			inside(answer->result);
		_exit(0);
	}
	if (pid < 0)
		answer->error = -errno;
	else
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	error = answer->error;
	if (size)
		memcpy(result, answer->result, size);
	snprintf(reason, reason_size, "%s", answer->reason);
	munmap(answer, sizeof(*answer) + size);
	return error;
}

int netns_probe(char *reason, size_t reason_size)
{
	return netns_try(NULL, NULL, 0, reason, reason_size);
}

bool netns_port_answers(uint32_t addr, uint16_t port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(addr),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool answers;

	if (fd < 0)
		return false;
	answers = !connect(fd, (const struct sockaddr *)&to, sizeof(to));
	close(fd);
	return answers;
}
