// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - settings of a cell's network: raised, never lowered, and told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/bench/net_settings.h"

static char root[] = "/tmp/parkbench-settings-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_root(void **state)
{
	static const char *const dirs[] = {"sys", "sys/net", "sys/net/core", "sys/net/ipv4"};
	char path[128];

	(void)state;
	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		if (mkdir(path, 0777))
			return -1;
	}
	return 0;
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command);
}

static void raises_and_tells(void **state)
{
	struct net_settings settings;

	(void)state;
	write_file("sys/net/core/somaxconn", "4096\n");
	write_file("sys/net/ipv4/ip_local_port_range", "2000\t9999\n");
	write_file("sys/net/ipv4/tcp_max_syn_backlog", "1000000\n");
	net_settings_apply(root, &settings);
	assert_string_equal(net_setting_names[0], "net.core.somaxconn");
	assert_string_equal(settings.before[0], "4096");
	assert_string_equal(settings.after[0], "65535");
	assert_string_equal(settings.before[1], "2000 9999");
	assert_string_equal(settings.after[1], "1024 65535");
	assert_int_equal(net_settings_after(&settings, "net.core.somaxconn"), 65535);
	/* Never lowered; and what this kernel lacks is no number. */
	assert_int_equal(net_settings_after(&settings, "net.ipv4.tcp_max_syn_backlog"), 1000000);
	assert_int_equal(net_settings_after(&settings, "net.ipv4.tcp_migrate_req"), -1);
	assert_int_equal(net_settings_after(&settings, "net.ipv4.ip_local_port_range"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(raises_and_tells),
	};

	return cmocka_run_group_tests_name("net_settings", tests, make_root, remove_root);
}
