// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - settings of a cell's own network. */
#include "harness/bench/net_settings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/netns.h"
#include "harness/measure/text_file.h"

const char *const net_setting_names[NET_SETTINGS] = {
	"net.core.somaxconn",           "net.ipv4.ip_local_port_range", "net.ipv4.tcp_migrate_req",
	"net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_max_tw_buckets",
};

/* In that order. A full accept queue loses handshakes; a listener that leaves its group hands
 * on those that wait in it; a million that close at once all wait out their time. */
static const char *const wanted[NET_SETTINGS] = {
	"65535", "1024 65535", "1", "65536", "2097152",
};

static int path_of(char path[PATH_MAX], const char *proc_root, const char *name)
{
	if (text_format(path, PATH_MAX, "%s/sys/%s", proc_root, name))
		return -ENAMETOOLONG;
	for (char *dot = path + strlen(proc_root); (dot = strchr(dot, '.'));)
		*dot = '/';
	return 0;
}

static void read_value(const char *path, char value[32])
{
	char *text = NULL;

	*value = '\0';
	if (!text_read(path, &text))
		snprintf(value, 32, "%.31s", text_first_line(text));
	for (char *tab = value; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	free(text);
}

static void set_value(const char *path, const char *now, const char *want)
{
	int64_t is, should;

	if (!text_parse_int(now, &is) && !text_parse_int(want, &should) && is >= should)
		return;
	/* Where it may not be set, what it is afterwards says so. */
	text_write(path, want);
}

void net_settings_apply(const char *proc_root, struct net_settings *settings)
{
	char path[PATH_MAX];

	*settings = (struct net_settings){0};
	for (int i = 0; i < NET_SETTINGS; i++) {
		if (path_of(path, proc_root, net_setting_names[i]))
			continue;
		read_value(path, settings->before[i]);
		if (*settings->before[i])
			set_value(path, settings->before[i], wanted[i]);
		read_value(path, settings->after[i]);
	}
}

static void apply_inside(void *settings)
{
	net_settings_apply("/proc", settings);
}

int net_settings_probe(struct net_settings *settings, char *reason, size_t reason_size)
{
	*settings = (struct net_settings){0};
	return netns_try(apply_inside, settings, sizeof(*settings), reason, reason_size);
}

int64_t net_settings_after(const struct net_settings *settings, const char *name)
{
	int64_t value;

	for (int i = 0; i < NET_SETTINGS; i++)
		if (!strcmp(net_setting_names[i], name) &&
		    !text_parse_int(settings->after[i], &value))
			return value;
	return -1;
}
