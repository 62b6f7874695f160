// SPDX-License-Identifier: Apache-2.0
/*
 * reactors/tests/ - cases over reactors: each case on each engine, and once more at level deep
 * on those that have it, in a network namespace of their own.
 */
#include "reactors/tests/fixture.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/bench/netns.h"

enum { CASE_SECONDS = 120 /* SIGALRM ends what hangs */ };

static void go_deep(struct bed *bed, uint16_t port)
{
	const struct reactor_deep config = {.service = {.sin_family = AF_INET,
							.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
							.sin_port = htons(port)},
					    .loops = 1};
	char reason[256] = "";

	if (bed->loop.ops->deep(&bed->loop, &config, reason, sizeof(reason)))
		fail_msg("deep: %s", reason);
	bed->deep = true;
}

static struct bed *bed_open(const struct reactor_ops *ops, bool deep)
{
	struct bed *bed = calloc(1, sizeof(*bed));
	uint16_t port;

	assert_non_null(bed);
	bed->loop = (struct reactor_loop){
		.ops = ops, .up = bed_upcalls, .core = bed, .slot_max = BED_SLOTS};
	bed->loop.slots = calloc(BED_SLOTS, sizeof(struct reactor_slot));
	bed->loop.engine = calloc(1, ops->loop_size);
	assert_non_null(bed->loop.slots);
	assert_non_null(bed->loop.engine);
	for (uint32_t slot = 0; slot < BED_SLOTS; slot++)
		bed->loop.slots[slot].fd = REACTOR_FD_FREE;
	assert_int_equal(bed_answer(bed, "init", ops->init(&bed->loop)), 0);
	bed->listen_fd = bed_listener(&port, BED_SLOTS);
	assert_int_equal(bed_answer(bed, "listen", ops->listen(&bed->loop, bed->listen_fd)), 0);
	if (deep)
		go_deep(bed, port);
	return bed;
}

static unsigned open_slots(const struct bed *bed)
{
	unsigned count = 0;

	for (uint32_t slot = 0; slot < BED_SLOTS; slot++)
		count += bed->loop.slots[slot].fd != REACTOR_FD_FREE;
	return count;
}

static void bed_end(struct bed *bed)
{
	for (uint32_t slot = 0; slot < BED_SLOTS; slot++)
		if (bed->loop.slots[slot].fd != REACTOR_FD_FREE && !bed->conns[slot].closing)
			bed_close_conn(bed, slot);
	bed_until(bed, open_slots(bed) == 0);
	bed->loop.ops->fini(&bed->loop);
	for (unsigned i = 0; i < bed->peer_count; i++)
		if (bed->peers[i].fd >= 0)
			close(bed->peers[i].fd);
	close(bed->listen_fd);
	free(bed->loop.engine);
	free(bed->loop.slots);
	free(bed);
}

static unsigned open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

struct bed_test {
	const struct reactor_ops *ops;
	const struct bed_case *what;
	bool deep;
};

/* For the rest of the program. False: it is not to be had, `reason` says why. */
static bool enter_network(char *reason, size_t size)
{
	static bool inside;

	if (!inside && netns_probe(reason, size))
		return false;
	if (!inside && netns_enter(0, reason, size))
		fail_msg("%s", reason);
	inside = true;
	return true;
}

static bool runs_here(const struct bed_test *test, char *reason, size_t size)
{
	if (test->ops->probe(reason, size))
		return false;
	if (!test->deep)
		return true;
	return enter_network(reason, size) && !test->ops->deep_probe(reason, size);
}

/* A case that fails leaves its bed behind: a reactor's threads may be in it. */
static void test_body(void **state)
{
	const struct bed_test *test = *state;
	char reason[512] = "";
	unsigned files;
	struct bed *bed;

	if (!runs_here(test, reason, sizeof(reason))) {
		print_message("# %s%s: %s\n", test->ops->name, test->deep ? " at deep" : "",
			      reason);
		skip();
	}
	alarm(CASE_SECONDS);
	files = open_files();
	bed = bed_open(test->ops, test->deep);
	test->what->run(bed);
	bed_end(bed);
	assert_int_equal(open_files(), files);
	alarm(0);
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Each engine as often as it is to be looked at; those at level deep come last, since the
 * program stays in their network. Room for 2 * REACTOR_MAX. */
static size_t list_subjects(struct bed_test *subjects, bool deep_only)
{
	size_t reactors, count = 0;
	const struct reactor_ops *const *all = reactor_all(&reactors);

	for (size_t i = 0; i < reactors && !deep_only; i++)
		subjects[count++] = (struct bed_test){.ops = all[i]};
	for (size_t i = 0; i < reactors; i++)
		if (all[i]->deep)
			subjects[count++] = (struct bed_test){.ops = all[i], .deep = true};
	return count;
}

/* Names and tests live as long as the program. */
static int run_cases(const char *group, const struct bed_case *cases, size_t count, bool deep_only)
{
	struct bed_test subjects[2 * REACTOR_MAX];
	size_t total = list_subjects(subjects, deep_only) * count;
	struct CMUnitTest *tests = calloc(total + 1, sizeof(*tests));
	struct bed_test *matrix = calloc(total + 1, sizeof(*matrix));
	int failed = 1;

	if (!tests || !matrix)
		goto out;
	bed_fill_pattern();
	raise_file_limit();
	for (size_t i = 0; i < total; i++) {
		struct bed_test *test = &matrix[i];
		char *name;

		*test = subjects[i / count];
		test->what = &cases[i % count];
		if (asprintf(&name, "%s%s: %s", test->ops->name, test->deep ? " at deep" : "",
			     test->what->name) < 0)
			goto out;
		tests[i] = (struct CMUnitTest){
			.name = name, .test_func = test_body, .initial_state = test};
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = _cmocka_run_group_tests(group, tests, total, NULL, NULL);
	for (size_t i = 0; i < total; i++)
		free((char *)tests[i].name);
out:
	free(matrix);
	free(tests);
	return failed;
}

int bed_run_cases(const char *group, const struct bed_case *cases, size_t count)
{
	return run_cases(group, cases, count, false);
}

int bed_run_deep_cases(const char *group, const struct bed_case *cases, size_t count)
{
	return run_cases(group, cases, count, true);
}
