// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - kernel bytes an idle connection, as the newest run measured them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/bench/measured.h"
#include "harness/bench/rundir.h"

#define FIXTURES "harness/bench/tests/fixtures/"

/* Medians of what passed, and of two methods the one that sees more. */
static void is_beyond_the_socket_alone(void **state)
{
	char error[512] = "";
	json_t *lines;

	(void)state;
	assert_int_equal(rundir_load(FIXTURES "active", &lines, error, sizeof(error)), 0);
	assert_true(measured_kernel_conn_bytes(lines, "epoll") == 3861 - 3652);
	assert_true(measured_kernel_conn_bytes(lines, "uring") == 1373 - 500);
	assert_true(measured_kernel_conn_bytes(lines, "poll") == 0);
	assert_true(isnan(measured_kernel_conn_bytes(lines, "ur")));
	assert_true(isnan(measured_kernel_conn_bytes(lines, "classic")));
	json_decref(lines);
	/* No reference, no answer. */
	assert_int_equal(rundir_load(FIXTURES "run", &lines, error, sizeof(error)), 0);
	assert_true(isnan(measured_kernel_conn_bytes(lines, "epoll")));
	json_decref(lines);
}

static void put(const char *top, const char *run, const char *file, const char *text)
{
	char path[512];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", top, run);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s", top, run, file);
	stream = fopen(path, "w");
	assert_non_null(stream);
	fputs(text, stream);
	fclose(stream);
}

/* A run in which `reactor` takes so much beyond a socket of 3652 bytes. */
static void put_run(const char *top, const char *run, const char *date, const char *reactor,
		    int beyond)
{
	char text[1024];

	snprintf(text, sizeof(text), "{\"date\":\"%s\"}", date);
	put(top, run, "manifest.json", text);
	snprintf(text, sizeof(text),
		 "{\"cell\":\"poll+plain+shed\",\"verdict\":\"pass\",\"repeat\":1,"
		 "\"connections\":9,\"memory\":{\"kernel_bytes_per_conn\":3652}}\n"
		 "{\"cell\":\"%s+plain+shed\",\"verdict\":\"pass\",\"repeat\":1,"
		 "\"connections\":9,\"memory\":{\"kernel_bytes_per_conn\":%d}}\n",
		 reactor, 3652 + beyond);
	put(top, run, "cells.jsonl", text);
}

static void assert_found(const struct measured *measured, const char *reactor, const char *run,
			 double bytes)
{
	double found = NAN;
	const struct measured_run *where = measured_find(measured, reactor, &found);

	assert_non_null(where);
	assert_non_null(strstr(where->path, run));
	assert_true(found == bytes);
}

static void takes_the_newest_run_that_tells(void **state)
{
	char top[] = "/tmp/parkbench-measured-XXXXXX", local[64], published[64], path[128];
	char command[128];
	struct measured measured;
	double bytes;

	(void)state;
	assert_non_null(mkdtemp(top));
	snprintf(local, sizeof(local), "%s/local", top);
	snprintf(published, sizeof(published), "%s/published", top);
	put_run(top, "local/z-old", "2026-01-01T00:00:00Z", "epoll", 1);
	put_run(top, "local/a-new", "2026-02-01T00:00:00Z", "epoll", 2);
	put_run(top, "local/b-newest", "2026-03-01T00:00:00Z", "libev", 3);
	put_run(top, "published/host/c10k", "2027-01-01T00:00:00Z", "epoll", 4);
	put_run(top, "published/host/reactors", "2027-01-01T00:00:00Z", "classic", 5);
	put(top, "local/broken", "cells.jsonl", "{\"cell\":\n");
	snprintf(path, sizeof(path), "%s/latest", local);
	assert_int_equal(symlink("b-newest", path), 0);
	assert_int_equal(measured_load(&measured, local, published), 0);
	assert_int_equal(measured.count, 5);
	assert_found(&measured, "epoll", "local/a-new", 2);
	assert_found(&measured, "libev", "local/b-newest", 3);
	assert_found(&measured, "classic", "published/host/reactors", 5);
	assert_null(measured_find(&measured, "io_uring", &bytes));
	measured_free(&measured);
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	assert_int_equal(system(command), 0);
}

static void finds_nothing_where_nothing_is(void **state)
{
	struct measured measured;
	double bytes;

	(void)state;
	assert_int_equal(measured_load(&measured, "/nonexistent/a", "/nonexistent/b"), 0);
	assert_null(measured_find(&measured, "epoll", &bytes));
	measured_free(&measured);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_beyond_the_socket_alone),
		cmocka_unit_test(takes_the_newest_run_that_tells),
		cmocka_unit_test(finds_nothing_where_nothing_is),
	};

	return cmocka_run_group_tests_name("measured", tests, NULL, NULL);
}
