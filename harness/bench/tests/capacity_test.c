// SPDX-License-Identifier: Apache-2.0
/* harness/bench/tests/ - limits: each is read, compared and refused with the command that helps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "harness/bench/capacity.h"

#define PROC "harness/bench/tests/fixtures/proc"

static char reason[700];

/* A machine on which nothing is scarce. */
static const struct capacity plenty = {
	.nofile_hard = 1000000,
	.file_max = 1000000,
	.epoll_watches = 1000000,
	.pid_max = 1000000,
	.threads_max = 1000000,
	.nproc = -1,
	.max_map_count = 1000000,
	.tcp_pages = 1000000,
	.memory_available_bytes = INT64_C(1) << 40,
	.memlock_bytes = 65536,
	.somaxconn = 65535,
	.conntrack_max = -1,
};

static const struct capacity_ask ten_thousand = {
	.connections = 10000,
	.in_flight = 64,
	.workers = 2,
	.clients = 1,
	.client_workers = 2,
	.cpus = 2,
};

static const struct capacity_row *find(const struct capacity_rows *rows, const char *what)
{
	for (size_t i = 0; i < rows->count; i++)
		if (!strcmp(rows->row[i].what, what))
			return &rows->row[i];
	fail_msg("there is no row \"%s\"", what);
	return NULL;
}

static int refuse(const struct capacity *capacity, const struct capacity_ask *ask)
{
	struct capacity_rows rows;

	*reason = '\0';
	capacity_check(&rows, capacity, ask);
	assert_true(rows.count < CAPACITY_ROWS - 1);
	return capacity_refuse(&rows, reason, sizeof(reason));
}

static void assert_refused(const struct capacity *capacity, const struct capacity_ask *ask,
			   const char *says)
{
	assert_int_equal(refuse(capacity, ask), -EAGAIN);
	if (!strstr(reason, says))
		fail_msg("said \"%s\", not \"%s\"", reason, says);
}

static void reads_what_the_kernel_says(void **state)
{
	struct capacity capacity;

	(void)state;
	capacity_read(&capacity, PROC);
	assert_int_equal(capacity.file_max, 100000);
	assert_int_equal(capacity.files_open, 4751);
	assert_int_equal(capacity.nr_open, 1048576);
	assert_int_equal(capacity.epoll_watches, 50000);
	assert_int_equal(capacity.pid_max, 32768);
	assert_int_equal(capacity.threads_max, 30000);
	assert_int_equal(capacity.max_map_count, 65530);
	assert_int_equal(capacity.tcp_pages, 15000);
	assert_int_equal(capacity.conntrack_max, 262144);
	assert_int_equal(capacity.memory_available_bytes, 2048000000);
	assert_true(capacity.nofile_hard > 0);
	capacity_read(&capacity, "/nonexistent");
	assert_int_equal(capacity.file_max, -1);
	assert_int_equal(capacity.tcp_pages, -1);
	assert_int_equal(capacity.memory_available_bytes, -1);
}

static void nothing_is_refused_for_what_is_unknown(void **state)
{
	struct capacity capacity;

	(void)state;
	capacity_read(&capacity, "/nonexistent");
	capacity.nofile_hard = -1;
	assert_int_equal(refuse(&capacity, &ten_thousand), 0);
}

static void each_limit_gates_with_its_command(void **state)
{
	struct capacity less = plenty;

	(void)state;
	assert_int_equal(refuse(&plenty, &ten_thousand), 0);
	less.file_max = 20000;
	less.files_open = 1000;
	assert_refused(&less, &ten_thousand, "sudo sysctl -w fs.file-max=25096");
	less = plenty;
	less.epoll_watches = 15000;
	assert_refused(&less, &ten_thousand, "sudo sysctl -w fs.epoll.max_user_watches=24096");
	less = plenty;
	less.tcp_pages = 15000;
	assert_refused(&less, &ten_thousand,
		       "net.ipv4.tcp_mem, most: needs 20000 pages, is 15000; raise it with: sudo "
		       "sysctl -w net.ipv4.tcp_mem='20000 20000 20000'");
}

/* Level deep on both sides: only those that are awake have a socket. */
static void without_sockets_few_files_will_do(void **state)
{
	struct capacity_ask deep = ten_thousand;
	struct capacity_rows rows;
	struct capacity less = plenty;

	(void)state;
	deep.connections = 400000;
	deep.server_deep = deep.client_deep = true;
	less.file_max = less.epoll_watches = less.tcp_pages = 30000;
	assert_int_equal(refuse(&less, &deep), 0);
	capacity_check(&rows, &less, &deep);
	assert_string_equal(find(&rows, "files a table, server")->need,
			    "any: what is idle has no file");
	deep.client_deep = false;
	assert_refused(&less, &deep, "fs.file-max");
}

static void threads_need_ids_and_maps(void **state)
{
	struct capacity_ask threads = ten_thousand;
	struct capacity less = plenty;

	(void)state;
	threads.thread_per_connection = true;
	assert_int_equal(refuse(&plenty, &threads), 0);
	less.pid_max = 4096;
	assert_refused(&less, &threads, "sudo sysctl -w kernel.pid_max=11024");
	less = plenty;
	less.max_map_count = 10000;
	assert_refused(&less, &threads, "sudo sysctl -w vm.max_map_count=22048");
	less.nproc = 5000;
	assert_refused(&less, &threads, "vm.max_map_count");
	less.max_map_count = plenty.max_map_count;
	assert_refused(&less, &threads, "sudo prlimit --pid $$ --nproc=11024");
	/* Without a thread a connection neither matters. */
	assert_int_equal(refuse(&less, &ten_thousand), 0);
}

/* Of a table, not of all of them together. */
static void tables_of_their_own_divide_the_need(void **state)
{
	struct capacity_ask million = {
		.connections = 1000000, .in_flight = 64, .clients = 8, .cpus = 2};
	struct capacity capacity = plenty;
	struct capacity_rows rows;

	(void)state;
	capacity.nofile_hard = 20000;
	capacity.file_max = capacity.epoll_watches = capacity.tcp_pages = 4000000;
	assert_int_equal(refuse(&capacity, &million), 0);
	capacity_check(&rows, &capacity, &million);
	assert_string_equal(find(&rows, "files a table, server")->need,
			    "15697: 64 workers, a table each");
	assert_string_equal(find(&rows, "files a table, client")->need,
			    "17929: 7 workers, a table each");
	million.workers = 2;
	assert_refused(&capacity, &million, "files a table, server: needs more for 1000000");
	assert_non_null(strstr(reason, "--workers 64"));
	million.workers = 0;
	million.model = WORKER_THREADS;
	assert_refused(&capacity, &million, "--nofile=");
}

static void the_memory_of_a_large_cell_is_the_pilots_affair(void **state)
{
	struct capacity_ask many = ten_thousand;
	struct capacity less = plenty;
	struct capacity_rows rows;

	(void)state;
	less.memory_available_bytes = 500 * 1048576;
	assert_int_equal(refuse(&less, &ten_thousand), 0);
	capacity_check(&rows, &less, &ten_thousand);
	assert_false(find(&rows, "memory available")->ok);
	assert_string_equal(find(&rows, "memory available")->now, "500 MiB");
	many.connections = 100000;
	capacity_check(&rows, &less, &many);
	assert_true(find(&rows, "memory available")->ok);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_the_kernel_says),
		cmocka_unit_test(nothing_is_refused_for_what_is_unknown),
		cmocka_unit_test(each_limit_gates_with_its_command),
		cmocka_unit_test(without_sockets_few_files_will_do),
		cmocka_unit_test(threads_need_ids_and_maps),
		cmocka_unit_test(tables_of_their_own_divide_the_need),
		cmocka_unit_test(the_memory_of_a_large_cell_is_the_pilots_affair),
	};

	return cmocka_run_group_tests_name("capacity", tests, NULL, NULL);
}
