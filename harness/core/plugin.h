/* SPDX-License-Identifier: Apache-2.0 */
/* harness/core/ - opens TLS backends: the plug-ins tls/<name>.so beside the program. */
#ifndef HARNESS_CORE_PLUGIN_H
#define HARNESS_CORE_PLUGIN_H

#include <stddef.h>

#include "tls_backends/tls_backend.h"

#define PLUGIN_NAME_BYTES 32

/*
 * Opens the backend of that name and has it check that the right library
 * answers. 0; -ENOENT: no such plug-in (the reason lists those there are);
 * -EINVAL: it can not be loaded or is not what it says. Never closed again: a
 * TLS library does not survive dlclose.
 */
int plugin_open(const char *name, const struct tls_ops **ops, char *reason, size_t reason_size);

/* The names of the plug-ins built, sorted; how many, at most `max`. */
int plugin_list(char names[][PLUGIN_NAME_BYTES], size_t max);

/* A path beside the running executable, "<its directory>/<name>". 0, or a
 * negative errno. */
int beside_executable(char *path, size_t size, const char *name);

/* "OpenSSL 3.0.17 …; libssl3 3.0.17-1; api …; build …": how results name it. */
void plugin_version_line(const struct tls_ops *ops, char *line, size_t size);

#endif
