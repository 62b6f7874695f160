// SPDX-License-Identifier: Apache-2.0
/* tls_backends/tests/ - what each library must refuse, and how it says so. */
#include "tls_backends/tests/endpoints.h"

#define FIXTURES "tls_backends/tests/fixtures/"
#define RECORD_ALERT 21
#define RECORD_HEADER_BYTES 5

static const char *const names[] = {"openssl", "boringssl"};

static void for_each_library(void (*check)(const struct tls_ops *ops))
{
	size_t found = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct tls_ops *ops = plugin(names[i]);

		if (!ops)
			continue;
		found++;
		print_message("# %s\n", ops->name);
		check(ops);
	}
	if (!found)
		skip();
}

static void open_pair(const struct tls_ops *ops, struct endpoint *client, struct endpoint *server)
{
	endpoint_open(server, ops, (struct tls_config){.server = true, .park = PARK_SHED});
	endpoint_open(client, ops, (struct tls_config){.park = PARK_SHED});
	client->peer = server;
	server->peer = client;
}

static void close_pair(struct endpoint *client, struct endpoint *server)
{
	endpoint_close(client);
	endpoint_close(server);
}

/* `end` failed and told the other, which fails in turn. */
static void assert_alerted(struct endpoint *end)
{
	assert_string_not_equal(end->ops->strerror(end->ctx), "no error");
	assert_true(end->peer->in.len >= RECORD_HEADER_BYTES + 2);
	assert_int_equal(end->peer->in.data[0], RECORD_ALERT);
}

static void check_garbage(const struct tls_ops *ops)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	static const uint8_t not_a_hello[] = {22, 3, 1, 0, 4, 9, 0, 0, 0};
	struct endpoint client, server;

	open_pair(ops, &client, &server);
	queue_append(&server.in, (const uint8_t *)http, sizeof(http));
	assert_int_equal(endpoint_handshake(&server), -EPROTO);
	assert_string_not_equal(ops->strerror(server.ctx), "no error");
	close_pair(&client, &server);

	open_pair(ops, &client, &server);
	queue_append(&server.in, not_a_hello, sizeof(not_a_hello));
	assert_int_equal(endpoint_handshake(&server), -EPROTO);
	assert_alerted(&server);
	/* A session that failed stays failed and can still be asked to close. */
	assert_int_equal(endpoint_handshake(&server), -EPROTO);
	assert_true(endpoint_close_notify(&server) <= 0);
	close_pair(&client, &server);

	open_pair(ops, &client, &server);
	assert_int_equal(endpoint_handshake(&client), -EINPROGRESS);
	queue_append(&client.in, not_a_hello, sizeof(not_a_hello));
	server.in.len = 0;
	assert_int_equal(endpoint_handshake(&client), -EPROTO);
	assert_alerted(&client);
	close_pair(&client, &server);
}

static void garbage_is_eproto_with_an_alert(void **state)
{
	(void)state;
	for_each_library(check_garbage);
}

/* The server's Certificate, CertificateVerify and Finished are under one key: a changed byte. */
static void check_tampering(const struct tls_ops *ops)
{
	struct endpoint client, server;

	open_pair(ops, &client, &server);
	assert_int_equal(endpoint_handshake(&client), -EINPROGRESS);
	assert_int_equal(endpoint_handshake(&server), -EINPROGRESS);
	client.in.data[client.in.len - 1] ^= 1;
	assert_int_equal(endpoint_handshake(&client), -EPROTO);
	assert_string_not_equal(ops->strerror(client.ctx), "no error");
	assert_int_equal(endpoint_handshake(&server), -EPROTO);
	close_pair(&client, &server);

	open_pair(ops, &client, &server);
	complete_handshake(&client, &server);
	endpoint_send(&client, (const uint8_t *)"data", 4);
	server.in.data[server.in.len - 1] ^= 1;
	assert_int_equal(endpoint_expect_none(&server), -EPROTO);
	assert_true(client.in.len > RECORD_HEADER_BYTES);
	assert_int_equal(endpoint_expect_none(&client), -EPROTO);
	assert_string_not_equal(ops->strerror(client.ctx), "no error");
	close_pair(&client, &server);
}

static void tampering_is_eproto(void **state)
{
	(void)state;
	for_each_library(check_tampering);
}

/* What a peer that goes away leaves behind: more is always asked for, and closing frees it all. */
static void check_truncation(const struct tls_ops *ops)
{
	struct endpoint client, server;

	open_pair(ops, &client, &server);
	assert_int_equal(endpoint_handshake(&client), -EINPROGRESS);
	server.in.len /= 2;
	assert_int_equal(endpoint_handshake(&server), -EINPROGRESS);
	assert_int_equal(endpoint_handshake(&server), -EINPROGRESS);
	assert_int_equal(endpoint_close_notify(&server), -EPROTO);
	close_pair(&client, &server);

	open_pair(ops, &client, &server);
	complete_handshake(&client, &server);
	endpoint_send(&client, (const uint8_t *)"data", 4);
	server.in.len -= 1;
	assert_int_equal(endpoint_expect_none(&server), -EINPROGRESS);
	assert_int_equal(endpoint_expect_none(&server), -EINPROGRESS);
	close_pair(&client, &server);
}

static void truncated_input_asks_for_more(void **state)
{
	(void)state;
	for_each_library(check_truncation);
}

struct bad_files {
	const char *cert_file;
	const char *key_file;
	const char *expected; /* in the reason */
};

static const struct bad_files bad_files[] = {
	{FIXTURES "absent.pem", FIXTURES "key.pem", "absent.pem: can not be read"},
	{FIXTURES "chain.pem", FIXTURES "absent.pem", "absent.pem: can not be read"},
	{"tls_backends", FIXTURES "key.pem", "tls_backends: can not be read"},
	{FIXTURES "README", FIXTURES "key.pem", "README: holds no usable certificate"},
	{"/dev/null", FIXTURES "key.pem", "/dev/null: holds no usable certificate"},
	{FIXTURES "broken.pem", FIXTURES "key.pem", "broken.pem: holds no usable certificate"},
	{FIXTURES "chain.pem", FIXTURES "README", "README: holds no usable private key"},
	{FIXTURES "chain.pem", FIXTURES "chain.pem", "chain.pem: holds no usable private key"},
	{FIXTURES "chain.pem", FIXTURES "encrypted-key.pem", "the private key is encrypted"},
	{FIXTURES "chain.pem", FIXTURES "other-key.pem",
	 "other-key.pem is not that of the certificate in " FIXTURES "chain.pem"},
	{FIXTURES "chain.pem", NULL, "the key file is missing"},
	{NULL, FIXTURES "key.pem", "the certificate file is missing"},
};

static void refuse_files(const struct tls_ops *ops, const struct bad_files *files)
{
	struct tls_identity *identity = NULL;
	char reason[REASON_BYTES] = "";

	assert_int_equal(ops->identity_new(&identity, files->cert_file, files->key_file, reason,
					   sizeof(reason)),
			 -EINVAL);
	assert_null(identity);
	if (!strstr(reason, files->expected))
		fail_msg("\"%s\" does not say \"%s\"", reason, files->expected);
}

static void check_bad_files(const struct tls_ops *ops)
{
	for (size_t i = 0; i < sizeof(bad_files) / sizeof(*bad_files); i++)
		refuse_files(ops, &bad_files[i]);
}

static void bad_files_are_einval_with_their_name(void **state)
{
	(void)state;
	for_each_library(check_bad_files);
}

static void check_server_without_identity(const struct tls_ops *ops)
{
	const struct tls_config config = {.server = true};
	char reason[REASON_BYTES] = "";
	struct tls_ctx *ctx = NULL;

	assert_int_equal(ops->ctx_new(&ctx, &config, reason, sizeof(reason)), -EINVAL);
	assert_null(ctx);
	assert_non_null(strstr(reason, "certificate"));
}

static void server_needs_an_identity(void **state)
{
	(void)state;
	for_each_library(check_server_without_identity);
}

static void check_version(const struct tls_ops *ops)
{
	struct tls_version version = {0};
	char reason[REASON_BYTES] = "";

	if (ops->check(reason, sizeof(reason)))
		fail_msg("%s", reason);
	ops->version(&version);
	/* "OpenSSL 3..." of openssl, "BoringSSL" of boringssl */
	assert_int_equal(strncasecmp(version.library, ops->name, strlen(ops->name)), 0);
	assert_true(*version.package && *version.api && *version.build);
	assert_int_equal(access(version.object, R_OK), 0);
}

static void the_right_library_is_accepted(void **state)
{
	(void)state;
	for_each_library(check_version);
}

/* Plug-ins compiled for one library and linked, by harness/mk/tls.mk, with the other. */
static void the_wrong_library_is_refused(void **state)
{
	char dir[PATH_MAX];
	size_t found = 0;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/tests/tls_wrong", output_dir());
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct tls_ops *ops = plugin_at(dir, names[i], RTLD_LAZY);
		char reason[REASON_BYTES] = "";

		if (!ops)
			continue;
		found++;
		assert_int_equal(ops->check(reason, sizeof(reason)), -EINVAL);
		print_message("# %s: %s\n", names[i], reason);
		assert_non_null(strstr(reason, "compiled for"));
		assert_non_null(strstr(reason, "libssl.so"));
	}
	if (!found)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(garbage_is_eproto_with_an_alert),
		cmocka_unit_test(tampering_is_eproto),
		cmocka_unit_test(truncated_input_asks_for_more),
		cmocka_unit_test(bad_files_are_einval_with_their_name),
		cmocka_unit_test(server_needs_an_identity),
		cmocka_unit_test(the_right_library_is_accepted),
		cmocka_unit_test(the_wrong_library_is_refused),
	};

	return cmocka_run_group_tests_name("tls failures", tests, NULL, NULL);
}
