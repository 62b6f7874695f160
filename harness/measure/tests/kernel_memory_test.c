// SPDX-License-Identifier: Apache-2.0
/* harness/measure/tests/ - cgroup discovery and the four methods on fixture trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "harness/measure/kernel_memory.h"
#include "harness/measure/slabinfo.h"
#include "harness/measure/tests/fixture.h"

/* What fixtures/slab counts: TCPv6, TCP, sock_inode_cache, filp and kmalloc-cg-64. */
#define SLAB_BYTES (2 * 2496 + 10 * 2368 + 12 * 832 + 100 * 192 + 5 * 64)

/* A copied tree and roots that point into it. */
struct tree {
	char dir[PATH_MAX], mountinfo[PATH_MAX], cgroup[PATH_MAX];
	char slabinfo[PATH_MAX], os_release[PATH_MAX];
	struct kernel_roots roots;
};

static void copy_tree(struct tree *tree, const char *name, const char *cgroup_file)
{
	fixture_copy(name, tree->dir);
	assert_int_equal(
		text_format(tree->mountinfo, PATH_MAX, "%s/proc/self/mountinfo", tree->dir), 0);
	assert_int_equal(
		text_format(tree->cgroup, PATH_MAX, "%s/proc/self/%s", tree->dir, cgroup_file), 0);
	assert_int_equal(text_format(tree->slabinfo, PATH_MAX, "%s/proc/slabinfo", tree->dir), 0);
	assert_int_equal(text_format(tree->os_release, PATH_MAX, "%s/proc/osrelease", tree->dir),
			 0);
	tree->roots = (struct kernel_roots){
		.cgroup = {tree->mountinfo, tree->cgroup, tree->dir},
		.slabinfo = tree->slabinfo,
		.os_release = tree->os_release,
	};
}

static void assert_ends(const char *path, const char *end)
{
	assert_true(strlen(path) > strlen(end));
	assert_string_equal(path + strlen(path) - strlen(end), end);
}

static void assert_file(const char *dir, const char *name, const char *start)
{
	char path[PATH_MAX], *text;

	assert_int_equal(text_format(path, sizeof(path), "%s/%s", dir, name), 0);
	assert_int_equal(text_read(path, &text), 0);
	assert_memory_equal(text, start, strlen(start));
	free(text);
}

static void mode_by_mounts(void **state)
{
	static const char *const modes[] = {"v1", "v2", "hybrid", "none"};

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		char mountinfo[PATH_MAX];
		assert_int_equal(text_format(mountinfo, sizeof(mountinfo),
					     FIXTURES "%s/proc/self/mountinfo", modes[i]),
				 0);
		struct cgroup_roots roots = {mountinfo, "", ""};
		int mode = cgroup_mode_read(&roots);
		assert_true(mode >= 0);
		assert_string_equal(cgroup_mode_name((enum cgroup_mode)mode), modes[i]);
	}
	struct cgroup_roots bad = {FIXTURES "none/proc/self/mountinfo_bad", "", ""};
	assert_int_equal(cgroup_mode_read(&bad), -EBADMSG);
	struct cgroup_roots absent = {FIXTURES "absent", "", ""};
	assert_int_equal(cgroup_mode_read(&absent), -ENOENT);
}

static void places_of_a_container(void **state)
{
	struct cgroup_roots roots = {FIXTURES "hybrid/proc/self/mountinfo",
				     FIXTURES "hybrid/proc/self/cgroup", "/x"};
	struct cgroup_place place;

	(void)state;
	assert_int_equal(cgroup_find(&roots, CGROUP_V1_MEMORY, &place), 0);
	assert_string_equal(place.mount, "/x/sys/fs/cgroup/me mory");
	assert_string_equal(place.own, "/x/sys/fs/cgroup/me mory/job");
	assert_int_equal(cgroup_find(&roots, CGROUP_V2, &place), 0);
	assert_string_equal(place.own, "/x/sys/fs/cgroup/unified");

	roots.cgroup = FIXTURES "hybrid/proc/self/cgroup_outside";
	assert_int_equal(cgroup_find(&roots, CGROUP_V1_MEMORY, &place), -EXDEV);
	assert_int_equal(cgroup_find(&roots, CGROUP_V2, &place), -EXDEV);
}

static void memcg_v1(void **state)
{
	struct kernel_meter meter;
	struct tree tree;
	int64_t bytes;

	(void)state;
	copy_tree(&tree, "v1", "cgroup");
	assert_int_equal(kernel_meter_open(&meter, &tree.roots, "parkbench-server"), 0);
	assert_string_equal(kernel_method_name(meter.method), "memcg-v1");
	assert_ends(meter.path, "/sys/fs/cgroup/memory/user/bench/parkbench-server");
	assert_string_equal(meter.reason, "");
	assert_false(meter.system_wide);
	assert_false(meter.misses_accepted);
	assert_file(meter.path, "memory.kmem.tcp.limit_in_bytes", "-1");
	assert_int_equal(kernel_meter_read(&meter, &bytes), 0);
	assert_int_equal(bytes, 1048576 + 8192);
	assert_int_equal(kernel_meter_add_pid(&meter, 1234), 0);
	assert_file(meter.path, "cgroup.procs", "1234\n");

	/* Ordinary files don't vanish with their directory as a cgroup's do. */
	assert_int_equal(kernel_meter_close(&meter), -ENOTEMPTY);
	fixture_remove(meter.path);
	assert_int_equal(kernel_meter_close(&meter), 0);
	assert_int_equal(kernel_meter_read(&meter, &bytes), -ENODATA);
	fixture_remove(tree.dir);
}

static void memcg_v1_malformed(void **state)
{
	struct kernel_meter meter;
	struct tree tree;
	int64_t bytes;

	(void)state;
	copy_tree(&tree, "v1", "cgroup");
	assert_int_equal(kernel_meter_open(&meter, &tree.roots, "parkbench-bad"), 0);
	assert_int_equal(meter.method, KERNEL_METHOD_MEMCG_V1);
	assert_int_equal(kernel_meter_read(&meter, &bytes), -EBADMSG);
	fixture_remove(tree.dir);
}

/* A group with processes in it is somebody else's; slab is what remains. */
static void busy_group_is_left_alone(void **state)
{
	struct kernel_meter meter;
	struct tree tree;

	(void)state;
	copy_tree(&tree, "v1", "cgroup");
	assert_int_equal(kernel_meter_open(&meter, &tree.roots, "parkbench-busy"), 0);
	assert_int_equal(meter.method, KERNEL_METHOD_SLAB);
	assert_non_null(strstr(meter.reason, "parkbench-busy"));
	assert_non_null(strstr(meter.reason, strerror(EBUSY)));
	assert_int_equal(kernel_meter_close(&meter), 0);
	fixture_remove(tree.dir);
}

static void hybrid_takes_v1_where_memory_is(void **state)
{
	struct kernel_meter meter;
	struct tree tree;

	(void)state;
	copy_tree(&tree, "hybrid", "cgroup");
	assert_int_equal(kernel_meter_open(&meter, &tree.roots, "parkbench-server"), 0);
	assert_int_equal(meter.method, KERNEL_METHOD_MEMCG_V1);
	assert_ends(meter.path, "/sys/fs/cgroup/me mory/job/parkbench-server");
	assert_true(meter.misses_accepted); /* the fixture's kernel is 6.1 */
	fixture_remove(tree.dir);
}

static void hybrid_from_outside_falls_back_to_slab(void **state)
{
	struct kernel_meter meter;
	struct tree tree;
	int64_t bytes;

	(void)state;
	copy_tree(&tree, "hybrid", "cgroup_outside");
	assert_int_equal(kernel_meter_open(&meter, &tree.roots, "parkbench-server"), 0);
	assert_int_equal(meter.method, KERNEL_METHOD_SLAB);
	assert_true(meter.system_wide);
	assert_non_null(strstr(meter.reason, "memcg-v1: "));
	assert_non_null(strstr(meter.reason, "; memcg-v2: "));
	assert_int_equal(kernel_meter_read(&meter, &bytes), 0);
	assert_int_equal(bytes, SLAB_BYTES);
	fixture_remove(tree.dir);
}

static void memcg_v2(void **state)
{
	static const struct {
		const char *group;
		int err;
		int64_t bytes;
	} cases[] = {
		{"parkbench-server", 0, 500000 + 4096},
		{"parkbench-old", 0, 16384 + 8192 + 100 + 500 + 4096}, /* no `kernel` line */
		{"parkbench-bad", -ENODATA, 0},                        /* no `sock` line */
	};
	struct tree tree;

	(void)state;
	copy_tree(&tree, "v2", "cgroup");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kernel_meter meter;
		int64_t bytes;
		assert_int_equal(kernel_meter_open(&meter, &tree.roots, cases[i].group), 0);
		assert_string_equal(kernel_method_name(meter.method), "memcg-v2");
		assert_string_equal(meter.reason, "");
		assert_false(meter.misses_accepted);
		assert_int_equal(kernel_meter_read(&meter, &bytes), cases[i].err);
		if (!cases[i].err)
			assert_int_equal(bytes, cases[i].bytes);
	}
	char own[PATH_MAX];
	assert_int_equal(text_format(own, sizeof(own), "%s/sys/fs/cgroup/user.slice/session.scope",
				     tree.dir),
			 0);
	assert_file(own, "cgroup.subtree_control", "+memory");
	fixture_remove(tree.dir);
}

/* Our own group passes no controller on: the one above it does. */
static void memcg_v2_climbs(void **state)
{
	struct kernel_meter meter;
	char controllers[PATH_MAX];
	struct tree tree;

	(void)state;
	copy_tree(&tree, "v2", "cgroup");
	assert_int_equal(text_format(controllers, sizeof(controllers),
				     "%s/sys/fs/cgroup/user.slice/session.scope/cgroup.controllers",
				     tree.dir),
			 0);
	assert_int_equal(unlink(controllers), 0);
	assert_int_equal(kernel_meter_open(&meter, &tree.roots, "parkbench-above"), 0);
	assert_int_equal(meter.method, KERNEL_METHOD_MEMCG_V2);
	assert_ends(meter.path, "/sys/fs/cgroup/user.slice/parkbench-above");
	fixture_remove(tree.dir);
}

/* A directory where nothing appears after mkdir is no cgroup: it must not be left behind. */
static void leaves_no_group_behind(void **state)
{
	struct kernel_meter meter;
	char path[PATH_MAX];
	struct tree tree;

	(void)state;
	copy_tree(&tree, "v2", "cgroup");
	assert_int_equal(kernel_meter_open(&meter, &tree.roots, "parkbench-new"), 0);
	assert_int_equal(meter.method, KERNEL_METHOD_SLAB);
	assert_non_null(strstr(meter.reason, "memcg-v2"));
	assert_int_equal(text_format(path, sizeof(path),
				     "%s/sys/fs/cgroup/user.slice/session.scope/parkbench-new",
				     tree.dir),
			 0);
	assert_int_equal(access(path, F_OK), -1);
	fixture_remove(tree.dir);
}

static void slab_is_system_wide(void **state)
{
	struct kernel_meter meter;
	struct tree tree;
	int64_t bytes;

	(void)state;
	copy_tree(&tree, "slab", "cgroup");
	assert_int_equal(kernel_meter_open(&meter, &tree.roots, "parkbench-server"), 0);
	assert_string_equal(kernel_method_name(meter.method), "slab");
	assert_true(meter.system_wide);
	assert_int_equal(kernel_meter_add_pid(&meter, 1234), 0);
	assert_int_equal(kernel_meter_read(&meter, &bytes), 0);
	assert_int_equal(bytes, SLAB_BYTES);
	assert_int_equal(kernel_meter_close(&meter), 0);
	fixture_remove(tree.dir);
}

/* Of the fixture's caches only kmalloc-cg-64 holds a reactor's objects. */
static void slab_of_reactors_leaves_the_socket_out(void **state)
{
	struct tree tree;
	int64_t bytes;

	(void)state;
	copy_tree(&tree, "slab", "cgroup");
	assert_int_equal(slabinfo_reactor_bytes(tree.slabinfo, &bytes), 0);
	assert_int_equal(bytes, 5 * 64);
	fixture_remove(tree.dir);
	assert_int_equal(slabinfo_reactor_bytes("/nonexistent/slabinfo", &bytes), -ENOENT);
}

static void none_says_why(void **state)
{
	struct kernel_meter meter;
	struct tree tree;
	int64_t bytes;

	(void)state;
	copy_tree(&tree, "none", "cgroup");
	assert_int_equal(kernel_meter_open(&meter, &tree.roots, "parkbench-server"), 0);
	assert_string_equal(kernel_method_name(meter.method), "none");
	assert_string_equal(meter.path, "");
	assert_non_null(strstr(meter.reason, "memcg-v1: "));
	assert_non_null(strstr(meter.reason, "memcg-v2: "));
	assert_non_null(strstr(meter.reason, "slab: "));
	assert_int_equal(kernel_meter_add_pid(&meter, 1234), 0);
	assert_int_equal(kernel_meter_read(&meter, &bytes), -ENODATA);
	assert_int_equal(kernel_meter_close(&meter), 0);
	fixture_remove(tree.dir);
}

static void group_names_are_names(void **state)
{
	static const char *const bad[] = {"", ".", "..", "a/b", "../up"};
	struct kernel_meter meter;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(kernel_meter_open(&meter, &kernel_system_roots, bad[i]), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mode_by_mounts),
		cmocka_unit_test(places_of_a_container),
		cmocka_unit_test(memcg_v1),
		cmocka_unit_test(memcg_v1_malformed),
		cmocka_unit_test(busy_group_is_left_alone),
		cmocka_unit_test(hybrid_takes_v1_where_memory_is),
		cmocka_unit_test(hybrid_from_outside_falls_back_to_slab),
		cmocka_unit_test(memcg_v2),
		cmocka_unit_test(memcg_v2_climbs),
		cmocka_unit_test(leaves_no_group_behind),
		cmocka_unit_test(slab_is_system_wide),
		cmocka_unit_test(slab_of_reactors_leaves_the_socket_out),
		cmocka_unit_test(none_says_why),
		cmocka_unit_test(group_names_are_names),
	};

	return cmocka_run_group_tests_name("kernel_memory", tests, NULL, NULL);
}
