// SPDX-License-Identifier: Apache-2.0
/* harness/measure/tests/ - the manifest's description of the machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/measure/host_facts.h"
#include "harness/measure/tests/fixture.h"

static const struct host_facts_query fixture_query = {
	.proc_root = FIXTURES "host/proc",
	.sys_root = FIXTURES "host/sys",
	.os_release = FIXTURES "host/os-release",
	.cgroup = {FIXTURES "hybrid/proc/self/mountinfo", FIXTURES "hybrid/proc/self/cgroup", ""},
	.git_dir = "/",
	.packages = (const char *const[]){"parkbench-no-such-package", NULL},
};

static json_t *fill(const struct host_facts_query *query)
{
	json_t *manifest = json_object();

	assert_int_equal(host_facts_fill(manifest, query), 0);
	return manifest;
}

/* The string at "a" or, two levels down, "a"."b". */
static const char *string_at(const json_t *manifest, const char *key, const char *below)
{
	const json_t *value = json_object_get(manifest, key);

	return json_string_value(below ? json_object_get(value, below) : value);
}

static void reads_fixture_files(void **state)
{
	json_t *manifest = fill(&fixture_query);
	const json_t *cpu = json_object_get(manifest, "cpu");
	const json_t *memory = json_object_get(manifest, "memory");
	const json_t *load = json_object_get(manifest, "load_average");

	(void)state;
	assert_string_equal(string_at(manifest, "distribution", NULL), "Test GNU/Linux 12");
	assert_string_equal(string_at(manifest, "cpu", "model"), "Test CPU @ 2.30GHz");
	assert_true(json_is_true(json_object_get(cpu, "hypervisor")));
	assert_int_equal(json_integer_value(json_object_get(memory, "total_bytes")),
			 INT64_C(24684084) * 1024);
	assert_true(json_is_integer(json_object_get(memory, "swap_bytes")));
	assert_int_equal(json_array_size(load), 3);
	assert_true(json_number_value(json_array_get(load, 1)) == 1.25);
	assert_string_equal(string_at(manifest, "clocksource", NULL), "kvm-clock");
	assert_string_equal(string_at(manifest, "transparent_hugepage", NULL), "madvise");
	assert_string_equal(string_at(manifest, "cgroup_mode", NULL), "hybrid");
	json_decref(manifest);
}

static void sysctls_are_numbers_strings_or_null(void **state)
{
	json_t *manifest = fill(&fixture_query);
	const json_t *sysctls = json_object_get(manifest, "sysctls");

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(sysctls, "net.core.somaxconn")), 4096);
	assert_true(json_integer_value(json_object_get(sysctls, "fs.file-max")) == INT64_MAX);
	assert_string_equal(json_string_value(json_object_get(sysctls, "net.ipv4.tcp_mem")),
			    "283158 377545 566316");
	assert_true(json_is_null(json_object_get(sysctls, "kernel.io_uring_disabled")));
	json_decref(manifest);
}

static void what_is_missing_is_null(void **state)
{
	const struct host_facts_query nowhere = {
		.proc_root = FIXTURES "absent",
		.sys_root = FIXTURES "absent",
		.os_release = FIXTURES "absent",
		.cgroup = {FIXTURES "absent", FIXTURES "absent", ""},
		.git_dir = FIXTURES "absent",
		.packages = (const char *const[]){"parkbench-no-such-package", NULL},
	};
	static const char *const nulls[] = {"distribution", "load_average", "clocksource",
					    "transparent_hugepage", "cgroup_mode"};
	json_t *manifest = fill(&nowhere);

	(void)state;
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
		assert_true(json_is_null(json_object_get(manifest, nulls[i])));
	assert_true(json_is_null(json_object_get(json_object_get(manifest, "cpu"), "model")));
	assert_true(json_is_null(json_object_get(json_object_get(manifest, "packages"),
						 "parkbench-no-such-package")));
	assert_true(json_is_null(json_object_get(json_object_get(manifest, "git"), "commit")));
	assert_true(json_is_null(json_object_get(json_object_get(manifest, "git"), "dirty")));
	assert_non_null(string_at(manifest, "git", "reason"));
	json_decref(manifest);
}

static void this_machine(void **state)
{
	struct host_facts_query query = host_facts_system;
	json_t *manifest = json_pack("{s:s}", "run", "kept");
	int year;

	(void)state;
	assert_int_equal(host_facts_fill(manifest, &query), 0);
	assert_string_equal(string_at(manifest, "run", NULL), "kept");
	assert_string_equal(string_at(manifest, "kernel", "sysname"), "Linux");
	assert_non_null(string_at(manifest, "compiler", NULL));
	assert_int_equal(
		sscanf(string_at(manifest, "date", NULL), "%d-%*2d-%*2dT%*2d:%*2d:%*2dZ", &year),
		1);
	assert_int_equal(strlen(string_at(manifest, "date", NULL)), 20);
	const json_t *nofile = json_object_get(json_object_get(manifest, "rlimits"), "nofile");
	assert_true(json_integer_value(json_object_get(nofile, "soft")) > 0);
	assert_true(json_integer_value(
			    json_object_get(json_object_get(manifest, "cpu"), "online")) >= 1);
	json_decref(manifest);
}

static void run_git(char *const argv[])
{
	char output[512];

	assert_int_equal(command_capture(argv, true, output, sizeof(output)), 0);
}

/* A new repository, clean and then with one file that nobody added. */
static void git_commit_and_dirtiness(void **state)
{
	char dir[PATH_MAX], file[PATH_MAX], output[64];
	struct host_facts_query query = fixture_query;
	char *const version[] = {"git", "--version", NULL};

	(void)state;
	if (command_capture(version, true, output, sizeof(output))) {
		print_message("skipped: git is not installed\n");
		skip();
	}
	fixture_copy("net", dir);
	query.git_dir = dir;
	run_git((char *const[]){"git", "-C", dir, "init", "-q", NULL});
	run_git((char *const[]){"git", "-C", dir, "add", ".", NULL});
	run_git((char *const[]){"git", "-C", dir, "-c", "user.name=t", "-c",
				"user.email=t@t.invalid", "-c", "commit.gpgsign=false", "-c",
				"core.hooksPath=/dev/null", "commit", "-q", "-m", "t", NULL});
	json_t *manifest = fill(&query);
	assert_int_equal(strlen(string_at(manifest, "git", "commit")), 40);
	assert_true(json_is_false(json_object_get(json_object_get(manifest, "git"), "dirty")));
	assert_true(json_is_null(json_object_get(json_object_get(manifest, "git"), "reason")));
	json_decref(manifest);

	assert_int_equal(text_format(file, sizeof(file), "%s/results", dir), 0);
	assert_int_equal(mkdir(file, 0777), 0);
	assert_int_equal(text_format(file, sizeof(file), "%s/results/run", dir), 0);
	fclose(fopen(file, "w"));
	manifest = fill(&query);
	assert_true(json_is_false(json_object_get(json_object_get(manifest, "git"), "dirty")));
	json_decref(manifest);

	assert_int_equal(text_format(file, sizeof(file), "%s/new", dir), 0);
	fclose(fopen(file, "w"));
	manifest = fill(&query);
	assert_true(json_is_true(json_object_get(json_object_get(manifest, "git"), "dirty")));
	json_decref(manifest);
	fixture_remove(dir);
}

static void installed_package(void **state)
{
	struct host_facts_query query = fixture_query;
	char output[64];
	char *const dpkg[] = {"dpkg-query", "-W", "dpkg", NULL};

	(void)state;
	if (command_capture(dpkg, true, output, sizeof(output))) {
		print_message("skipped: no dpkg here\n");
		skip();
	}
	query.packages = (const char *const[]){"dpkg", "parkbench-no-such-package", NULL};
	json_t *manifest = fill(&query);
	assert_non_null(string_at(manifest, "packages", "dpkg"));
	assert_int_equal(json_object_size(json_object_get(manifest, "packages")), 2);
	json_decref(manifest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_fixture_files),
		cmocka_unit_test(sysctls_are_numbers_strings_or_null),
		cmocka_unit_test(what_is_missing_is_null),
		cmocka_unit_test(this_machine),
		cmocka_unit_test(git_commit_and_dirtiness),
		cmocka_unit_test(installed_package),
	};

	return cmocka_run_group_tests_name("host_facts", tests, NULL, NULL);
}
