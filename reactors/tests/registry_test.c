// SPDX-License-Identifier: Apache-2.0
/* reactors/tests/ - the registry: order, lookup, refusal of a name taken twice. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "reactors/reactor.h"

static void ordered_by_name(void **state)
{
	size_t count;
	const struct reactor_ops *const *all = reactor_all(&count);

	(void)state;
	assert_true(count >= 2);
	for (size_t i = 1; i < count; i++)
		assert_true(strcmp(all[i - 1]->name, all[i]->name) < 0);
}

static void found_by_name(void **state)
{
	size_t count;
	const struct reactor_ops *const *all = reactor_all(&count);

	(void)state;
	for (size_t i = 0; i < count; i++)
		assert_ptr_equal(reactor_find(all[i]->name), all[i]);
	assert_non_null(reactor_find("epoll"));
	assert_null(reactor_find("epol"));
	assert_null(reactor_find(""));
}

/* No op may be missing: the core calls them without asking. */
static void complete(void **state)
{
	size_t count;
	const struct reactor_ops *const *all = reactor_all(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const struct reactor_ops *ops = all[i];

		assert_true(ops->summary && ops->kernel_floor && ops->loop_size > 0);
		assert_true(ops->probe && ops->init && ops->fini && ops->listen);
		assert_true(ops->accept_gate && ops->attach && ops->recv_gate && ops->send);
		assert_true(ops->park && ops->unpark && ops->close && ops->run && ops->wake);
	}
}

/* In a child: it aborts, without a core file, and says why on stderr. */
static void name_taken_twice(void **state)
{
	const struct rlimit no_core = {0, 0};
	char said[256] = "";
	int pipe_fds[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGABRT, SIG_DFL);
		dup2(pipe_fds[1], STDERR_FILENO);
		reactor_register(reactor_find("epoll"));
		_exit(0);
	}
	close(pipe_fds[1]);
	assert_true(read(pipe_fds[0], said, sizeof(said) - 1) > 0);
	close(pipe_fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(said, "epoll"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordered_by_name),
		cmocka_unit_test(found_by_name),
		cmocka_unit_test(complete),
		cmocka_unit_test(name_taken_twice),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("reactor registry", tests, NULL, NULL);
}
