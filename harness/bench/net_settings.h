/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness/bench/ - settings of a cell's own network that large numbers of connections need; what
 * holds for the whole machine is left alone (parkbench doctor tells). Source: kernel
 * Documentation/networking/ip-sysctl.rst, Documentation/admin-guide/sysctl/net.rst.
 */
#ifndef HARNESS_BENCH_NET_SETTINGS_H
#define HARNESS_BENCH_NET_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#define NET_SETTINGS 5

extern const char *const net_setting_names[NET_SETTINGS];

/* As the kernel writes them; "" where it has no such setting. Plain values. */
struct net_settings {
	char before[NET_SETTINGS][32];
	char after[NET_SETTINGS][32];
};

/*
 * Sets them in the caller's network namespace, which must be one of its own (netns_enter);
 * a number that is higher already stays. One that can not be set stays too: `after` tells.
 */
void net_settings_apply(const char *proc_root, struct net_settings *settings);

/* What a cell's network would have, found out in a process and a network of its own. 0, or
 * a negative errno with the reason as netns_enter gives it. */
int net_settings_probe(struct net_settings *settings, char *reason, size_t reason_size);

/* The number of that setting afterwards; -1: there is none. */
int64_t net_settings_after(const struct net_settings *settings, const char *name);

#endif
