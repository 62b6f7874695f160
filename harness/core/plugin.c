// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - opens TLS backends. */
#include "harness/core/plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int beside_executable(char *path, size_t size, const char *name)
{
	ssize_t len = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (len < 0)
		return -errno;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + strlen(name) >= size)
		return -ENAMETOOLONG;
	strcpy(slash + 1, name);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

int plugin_list(char names[][PLUGIN_NAME_BYTES], size_t max)
{
	char path[PATH_MAX];
	struct dirent *entry;
	size_t count = 0;
	DIR *dir;

	if (beside_executable(path, sizeof(path), "tls"))
		return 0;
	dir = opendir(path);
	if (!dir)
		return 0;
	while (count < max && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		if (len <= 3 || len - 3 >= PLUGIN_NAME_BYTES ||
		    strcmp(entry->d_name + len - 3, ".so"))
			continue;
		memcpy(names[count], entry->d_name, len - 3);
		names[count++][len - 3] = '\0';
	}
	closedir(dir);
	qsort(names, count, PLUGIN_NAME_BYTES, by_name);
	return (int)count;
}

static void say_unknown(const char *name, char *reason, size_t size)
{
	char names[16][PLUGIN_NAME_BYTES];
	int count = plugin_list(names, 16);
	size_t len = (size_t)snprintf(reason, size, "no TLS backend \"%s\"; built are:", name);

	for (int i = 0; i < count && len < size; i++)
		len += (size_t)snprintf(reason + len, size - len, "%s %s", i ? "," : "", names[i]);
	if (!count && len < size)
		snprintf(reason + len, size - len, " none (run make tls)");
}

static bool plain_name(const char *name)
{
	return *name && strlen(name) < PLUGIN_NAME_BYTES && !strpbrk(name, "/.");
}

int plugin_open(const char *name, const struct tls_ops **ops, char *reason, size_t reason_size)
{
	char path[PATH_MAX], file[PLUGIN_NAME_BYTES + 8];
	const struct tls_ops *found;
	void *handle;

	snprintf(file, sizeof(file), "tls/%.31s.so", name);
	if (!plain_name(name) || beside_executable(path, sizeof(path), file) ||
	    access(path, F_OK)) {
		say_unknown(name, reason, reason_size);
		return -ENOENT;
	}
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	found = handle ? dlsym(handle, TLS_PLUGIN_SYMBOL) : NULL;
	if (!found) {
		snprintf(reason, reason_size, "TLS backend \"%s\" can not be loaded: %s", name,
			 dlerror());
		return -EINVAL;
	}
	if (found->abi != TLS_PLUGIN_ABI || strcmp(found->name, name)) {
		snprintf(reason, reason_size,
			 "%s is backend \"%s\" of contract %u, not \"%s\" of %u: rebuild it", path,
			 found->name, found->abi, name, TLS_PLUGIN_ABI);
		return -EINVAL;
	}
	if (found->check(reason, reason_size))
		return -EINVAL;
	*ops = found;
	return 0;
}

void plugin_version_line(const struct tls_ops *ops, char *line, size_t size)
{
	struct tls_version v = {0};

	ops->version(&v);
	snprintf(line, size, "%s; %s; api %s; build %s", v.library, v.package, v.api, v.build);
}
