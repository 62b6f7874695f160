// SPDX-License-Identifier: Apache-2.0
/*
 * tls_backends/ - which library answers, and is it the one this plug-in was
 * compiled for. Two libraries with the same symbol names on one machine make it
 * easy to measure the wrong one without noticing.
 *
 * From the build (harness/mk/tls.mk): TLS_PACKAGE, TLS_BUILD, and TLS_LIBDIR,
 * the directory of the shared libraries, or "" when they are linked statically
 * and so must answer from the plug-in itself. Source: dladdr(3).
 */
#include "tls_backends/libssl_glue.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

/* Each library numbers its API; the highest four bits are the major version. */
#define API_MAJOR(number) ((unsigned)((number) >> 28))

/* The file that holds the address, links resolved; "unknown" if none does. */
static void object_of(const void *address, char path[PATH_MAX])
{
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname)
		strcpy(path, "unknown");
	else if (!realpath(info.dli_fname, path))
		snprintf(path, PATH_MAX, "%s", info.dli_fname);
}

static bool is_expected_object(const char *object)
{
	size_t len = strlen(TLS_LIBDIR);
	char self[PATH_MAX];

	if (len)
		return !strncmp(object, TLS_LIBDIR, len) && object[len] == '/' &&
		       !strchr(object + len + 1, '/');
	object_of((const void *)libssl_check, self);
	return !strcmp(object, self);
}

int libssl_check(const char *library, char *reason, size_t reason_size)
{
	const char *answers = OpenSSL_version(OPENSSL_VERSION);
	unsigned major = API_MAJOR(OpenSSL_version_num());
	char ssl[PATH_MAX], crypto[PATH_MAX];

	object_of((const void *)SSL_new, ssl);
	object_of((const void *)ERR_clear_error, crypto);
	if (strncmp(answers, library, strlen(library)) != 0 ||
	    major != API_MAJOR(OPENSSL_VERSION_NUMBER)) {
		snprintf(reason, reason_size,
			 "compiled for %s (API %u), but \"%s\" (API %u) answers, from %s; "
			 "make clean tls, and look at LD_LIBRARY_PATH and LD_PRELOAD",
			 library, API_MAJOR(OPENSSL_VERSION_NUMBER), answers, major, ssl);
		return -EINVAL;
	}
	if (!is_expected_object(ssl) || !is_expected_object(crypto)) {
		snprintf(reason, reason_size,
			 "linked with %s in %s, but SSL_new answers from %s and ERR_clear_error "
			 "from %s; look at LD_LIBRARY_PATH and LD_PRELOAD",
			 library, *TLS_LIBDIR ? TLS_LIBDIR : "the plug-in itself", ssl, crypto);
		return -EINVAL;
	}
	return 0;
}

static void set_text(char *text, size_t size, const char *from)
{
	snprintf(text, size, "%.*s", (int)size - 1, from);
}

void libssl_version(struct tls_version *version)
{
	char object[PATH_MAX];

	object_of((const void *)SSL_new, object);
	set_text(version->library, sizeof(version->library), OpenSSL_version(OPENSSL_VERSION));
	set_text(version->package, sizeof(version->package), TLS_PACKAGE);
	set_text(version->build, sizeof(version->build), TLS_BUILD);
	set_text(version->object, sizeof(version->object), object);
#ifdef BORINGSSL_API_VERSION
	snprintf(version->api, sizeof(version->api), "BORINGSSL_API_VERSION %d",
		 BORINGSSL_API_VERSION);
#else
	snprintf(version->api, sizeof(version->api), "0x%lx",
		 (unsigned long)OPENSSL_VERSION_NUMBER);
#endif
}
