// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - certificate chain and private key from PEM files. Source: PEM_read_X509(3),
 * RFC 7468. */
#include "tls_backends/libssl_glue.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

/* Without a callback the library would ask the terminal for a passphrase. */
static int refuse_passphrase(char *buffer, int size, int writing, void *asked)
{
	(void)buffer;
	(void)size;
	(void)writing;
	*(bool *)asked = true;
	return -1;
}

static FILE *open_pem(const char *path, char *reason, size_t reason_size)
{
	FILE *file = fopen(path, "re");

	/* A directory opens and fails only when it is read. */
	if (file && (ungetc(getc(file), file) != EOF || feof(file)))
		return file;
	snprintf(reason, reason_size, "%s: can not be read: %s", path, strerror(errno));
	if (file)
		fclose(file);
	return NULL;
}

static void say_unusable(const char *path, const char *what, char *reason, size_t size)
{
	char text[PATH_MAX + 64];

	snprintf(text, sizeof(text), "%s: holds no usable %s in PEM form", path, what);
	libssl_reason(reason, size, text);
}

/* Running out of certificates is how every good file ends. */
static bool at_end_of_pem(void)
{
	unsigned long error = ERR_peek_last_error();

	return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

static int read_chain(struct tls_identity *identity, FILE *file)
{
	X509 *cert;

	identity->leaf = PEM_read_X509(file, NULL, NULL, NULL);
	identity->chain = sk_X509_new_null();
	if (!identity->leaf || !identity->chain)
		return 0;
	while ((cert = PEM_read_X509(file, NULL, NULL, NULL))) {
		if (!sk_X509_push(identity->chain, cert)) {
			X509_free(cert);
			return 0;
		}
	}
	return at_end_of_pem();
}

static int load_chain(struct tls_identity *identity, const char *path, char *reason, size_t size)
{
	FILE *file = open_pem(path, reason, size);
	int ok;

	if (!file)
		return -EINVAL;
	ok = read_chain(identity, file);
	fclose(file);
	if (!ok)
		say_unusable(path, "certificate", reason, size);
	return ok ? 0 : -EINVAL;
}

static int load_key(struct tls_identity *identity, const char *path, char *reason, size_t size)
{
	FILE *file = open_pem(path, reason, size);
	bool asked = false;

	if (!file)
		return -EINVAL;
	identity->key = PEM_read_PrivateKey(file, NULL, refuse_passphrase, &asked);
	fclose(file);
	if (identity->key)
		return 0;
	if (asked)
		snprintf(reason, size,
			 "%s: the private key is encrypted; give one without a passphrase "
			 "(openssl pkey -in %s -out FILE)",
			 path, path);
	else
		say_unusable(path, "private key", reason, size);
	return -EINVAL;
}

static int load_identity(struct tls_identity *identity, const char *cert_file, const char *key_file,
			 char *reason, size_t size)
{
	int rc = load_chain(identity, cert_file, reason, size);

	/* The chain's end left an error queued, which is not the key's. */
	ERR_clear_error();
	if (!rc)
		rc = load_key(identity, key_file, reason, size);
	if (!rc && X509_check_private_key(identity->leaf, identity->key) != 1) {
		snprintf(reason, size, "the private key in %s is not that of the certificate in %s",
			 key_file, cert_file);
		rc = -EINVAL;
	}
	return rc;
}

int libssl_identity_new(struct tls_identity **identity, const char *cert_file, const char *key_file,
			char *reason, size_t reason_size)
{
	struct tls_identity *made;
	int rc = 0;

	if (!cert_file != !key_file) {
		snprintf(reason, reason_size,
			 "a certificate file and a key file go together: %s is missing",
			 cert_file ? "the key file" : "the certificate file");
		return -EINVAL;
	}
	made = calloc(1, sizeof(*made));
	if (!made) {
		snprintf(reason, reason_size, "out of memory");
		return -ENOMEM;
	}
	ERR_clear_error();
	if (RAND_bytes(made->ticket_keys, sizeof(made->ticket_keys)) != 1) {
		libssl_reason(reason, reason_size, "making keys for tickets");
		rc = -EINVAL;
	} else if (cert_file) {
		rc = load_identity(made, cert_file, key_file, reason, reason_size);
	} else if (!libssl_throwaway(made)) {
		libssl_reason(reason, reason_size, "making a certificate");
		rc = -EINVAL;
	}
	ERR_clear_error();
	if (rc)
		libssl_identity_free(made);
	else
		*identity = made;
	return rc;
}

void libssl_identity_free(struct tls_identity *identity)
{
	if (!identity)
		return;
	sk_X509_pop_free(identity->chain, X509_free);
	X509_free(identity->leaf);
	EVP_PKEY_free(identity->key);
	OPENSSL_cleanse(identity->ticket_keys, sizeof(identity->ticket_keys));
	free(identity);
}
