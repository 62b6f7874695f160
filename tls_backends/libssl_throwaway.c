// SPDX-License-Identifier: Apache-2.0
/* tls_backends/ - a throwaway identity: an ECDSA P-256 key and a self-signed certificate for
 * localhost and 127.0.0.1. Source: RFC 5280 section 4.1; X509_sign(3), X509V3_EXT_nconf_nid(3). */
#include "tls_backends/libssl_glue.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#define DAY_S (24L * 60 * 60)
#define VALID_DAYS 30
/* Positive and at most 20 octets (RFC 5280 section 4.1.2.2). */
#define SERIAL_BITS 127

static EVP_PKEY *new_key(void)
{
	EVP_PKEY_CTX *keygen = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
	EVP_PKEY *key = NULL;

	if (keygen && EVP_PKEY_keygen_init(keygen) == 1 &&
	    EVP_PKEY_CTX_set_ec_paramgen_curve_nid(keygen, NID_X9_62_prime256v1) == 1)
		EVP_PKEY_keygen(keygen, &key);
	EVP_PKEY_CTX_free(keygen);
	return key;
}

static int set_serial(X509 *cert)
{
	BIGNUM *number = BN_new();
	int ok = number && BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
		 BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));

	BN_free(number);
	return ok;
}

/* Subject and issuer are one: it signs itself. */
static int set_names(X509 *cert)
{
	X509_NAME *name = X509_get_subject_name(cert);

	return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC,
					  (const unsigned char *)"localhost", -1, -1, 0) &&
	       X509_set_issuer_name(cert, name);
}

static int add_alt_names(X509 *cert)
{
	X509_EXTENSION *extension;
	X509V3_CTX context;
	int ok;

	X509V3_set_ctx(&context, cert, cert, NULL, NULL, 0);
	extension = X509V3_EXT_nconf_nid(NULL, &context, NID_subject_alt_name,
					 "DNS:localhost, IP:127.0.0.1");
	ok = extension && X509_add_ext(cert, extension, -1);
	X509_EXTENSION_free(extension);
	return ok;
}

/* Valid since yesterday: the clocks of two hosts need not agree. */
int libssl_throwaway(struct tls_identity *identity)
{
	EVP_PKEY *key = new_key();
	X509 *cert = X509_new();

	identity->key = key;
	identity->leaf = cert;
	identity->chain = sk_X509_new_null();
	return key && cert && identity->chain && X509_set_version(cert, 2 /* v3 */) &&
	       set_serial(cert) && set_names(cert) &&
	       X509_gmtime_adj(X509_getm_notBefore(cert), -DAY_S) &&
	       X509_gmtime_adj(X509_getm_notAfter(cert), VALID_DAYS * DAY_S) &&
	       X509_set_pubkey(cert, key) && add_alt_names(cert) &&
	       X509_sign(cert, key, EVP_sha256());
}
