// SPDX-License-Identifier: Apache-2.0
/* tls_backends/tests/ - workers of one server have one identity and each a context of its own: a
 * ticket of one's is good at the other. Source: SSL_get1_session(3), SSL_session_reused(3). */
#include "tls_backends/tests/endpoints.h"

#define LIBRARIES 2

static const char *const names[LIBRARIES] = {"openssl", "boringssl"};

/* What a client does with its session, asked of the library that the plug-in has loaded: sessions
 * are beyond the contract. */
struct resumption {
	void *(*get)(struct tls_session *session);
	int (*set)(struct tls_session *session, void *library_session);
	int (*reused)(const struct tls_session *session);
	void (*free)(void *library_session);
};

static void *library_symbol(const char *name)
{
	char dir[PATH_MAX], path[PATH_MAX + 64];
	void *handle, *found;

	plugin_dir(dir);
	snprintf(path, sizeof(path), "%s/openssl.so", dir);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(handle);
	found = dlsym(handle, name);
	assert_non_null(found);
	dlclose(handle);
	return found;
}

static struct resumption resumption(void)
{
	struct resumption r;

	*(void **)&r.get = library_symbol("SSL_get1_session");
	*(void **)&r.set = library_symbol("SSL_set_session");
	*(void **)&r.reused = library_symbol("SSL_session_reused");
	*(void **)&r.free = library_symbol("SSL_SESSION_free");
	return r;
}

/* One connection to a worker of that identity; returns the client's session for the next. Whether
 * it was resumed is what `offered` decides: NULL is a first connection. */
static void *connect_to_worker(const struct tls_ops *ops, enum park_level park,
			       const struct tls_identity *identity, void *offered)
{
	const struct resumption r = resumption();
	struct endpoint client, server;
	void *session;
	size_t got;

	endpoint_open(&server, ops,
		      (struct tls_config){
			      .server = true, .park = park, .tickets = 1, .identity = identity});
	endpoint_open(&client, plugin("openssl"), (struct tls_config){.park = park});
	if (offered)
		assert_int_equal(r.set(client.session, offered), 1);
	join(&client, &server);
	complete_handshake(&client, &server);
	endpoint_send(&server, (const uint8_t *)"x", 1);
	assert_int_equal(endpoint_receive(&client, (uint8_t[1]){0}, 1, &got), 0);
	assert_int_equal(r.reused(client.session), offered != NULL);
	session = r.get(client.session);
	assert_int_equal(endpoint_close_notify(&client), 0);
	endpoint_close(&client);
	endpoint_close(&server);
	return session;
}

static void check(const struct tls_ops *ops, enum park_level park)
{
	struct tls_identity *identity;
	char reason[REASON_BYTES] = "";
	void *first, *second;

	print_message("# server %s, level %d\n", ops->name, park);
	assert_int_equal(ops->identity_new(&identity, NULL, NULL, reason, sizeof(reason)), 0);
	first = connect_to_worker(ops, park, identity, NULL);
	second = connect_to_worker(ops, park, identity, first);
	resumption().free(first);
	resumption().free(second);
	ops->identity_free(identity);
}

static void a_ticket_is_good_at_every_worker(void **state)
{
	(void)state;
	if (!plugin("openssl"))
		skip();
	for (size_t i = 0; i < LIBRARIES; i++)
		for (enum park_level park = PARK_HOLD; plugin(names[i]) && park < PARK_LEVELS;
		     park++)
			check(plugin(names[i]), park);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ticket_is_good_at_every_worker),
	};

	return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
