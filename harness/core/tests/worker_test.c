// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - the worker's thread against a reactor that turns and turns without an upcall. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/common/clock.h"
#include "harness/core/worker.h"

/* As worker.c has it. */
#define QUIET_NS (200 * NS_PER_MS)

static int fake_init(struct reactor_loop *loop)
{
	(void)loop;
	return 0;
}

static void fake_fini(struct reactor_loop *loop)
{
	(void)loop;
}

static int fake_run(struct reactor_loop *loop, uint64_t deadline_ns)
{
	(void)loop, (void)deadline_ns;
	poll(NULL, 0, 1);
	return 0;
}

static void fake_wake(struct reactor_loop *loop)
{
	(void)loop;
}

static const struct reactor_ops fake_reactor = {
	.name = "fake",
	.loop_size = 8,
	.conn_size = 8,
	.init = fake_init,
	.fini = fake_fini,
	.run = fake_run,
	.wake = fake_wake,
};

static int tls_ctx_new(struct tls_ctx **ctx, const struct tls_config *config, char *reason,
		       size_t reason_size)
{
	(void)config, (void)reason, (void)reason_size;
	*ctx = NULL;
	return 0;
}

static const struct tls_ops fake_tls = {.name = "fake", .ctx_new = tls_ctx_new};
static const struct app_ops fake_app = {0};

/* Something is freed in an upcall. */
static void be_active(struct worker *worker, void *arg)
{
	uint64_t *now_ns = arg;

	worker->activity++;
	worker->trim_due = true;
	*now_ns = clock_now_ns();
}

static void has_trimmed(struct worker *worker, void *arg)
{
	bool *trimmed = arg;

	*trimmed = !worker->trim_due;
}

static void stop(struct worker *worker, void *arg)
{
	(void)arg;
	worker_stop(worker, 0);
}

/* Hundreds of turns in which nothing happens do not make it quiet: only time does. */
static void is_quiet_after_a_time(void **state)
{
	const struct worker_config config = {
		.reactor = &fake_reactor,
		.tls = &fake_tls,
		.tls_config = {.park = PARK_SHED},
		.app = &fake_app,
		.connections_max = 4,
	};
	uint64_t active_ns = 0;
	bool trimmed = false;
	struct worker worker;
	char reason[256];

	(void)state;
	assert_int_equal(worker_start(&worker, &config, reason, sizeof(reason)), 0);
	for (int spell = 0; spell < 2; spell++) {
		worker_call(&worker, be_active, &active_ns);
		do
			worker_call(&worker, has_trimmed, &trimmed);
		while (!trimmed);
		assert_true(clock_now_ns() - active_ns >= QUIET_NS);
	}
	worker_call(&worker, stop, NULL);
	worker_join(&worker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_quiet_after_a_time),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
