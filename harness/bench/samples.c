// SPDX-License-Identifier: Apache-2.0
/* harness/bench/ - the handshake times of several clients in one file. */
#include "harness/bench/samples.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/measure/stats.h"
#include "harness/measure/text_file.h"

struct list {
	double *value; /* owned */
	size_t count;
	size_t room;
};

static int add(struct list *list, double value)
{
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 4096;
		double *larger = reallocarray(list->value, room, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		list->value = larger;
		list->room = room;
	}
	list->value[list->count++] = value;
	return 0;
}

static int read_part(struct list *list, const char *path)
{
	FILE *file = fopen(path, "re");
	int ret = 0, got = 1;
	double value;

	if (!file)
		return -errno;
	while (!ret && (got = fscanf(file, "%lf", &value)) == 1)
		ret = add(list, value);
	if (!ret && got != EOF)
		ret = -EBADMSG;
	fclose(file);
	return ret;
}

static int write_all(const struct list *list, const char *path)
{
	FILE *file = fopen(path, "we");
	int ret = 0;

	if (!file)
		return -errno;
	for (size_t i = 0; i < list->count && !ret; i++)
		if (fprintf(file, "%.0f\n", list->value[i]) < 0)
			ret = -EIO;
	if (fclose(file) && !ret)
		ret = -errno;
	return ret;
}

int samples_merge(const char *path, unsigned count, struct samples *samples)
{
	struct list list = {0};
	char part[PATH_MAX];
	int ret = 0;

	for (unsigned i = 1; i <= count && !ret; i++) {
		ret = text_format(part, sizeof(part), "%s.%u", path, i);
		if (!ret)
			ret = read_part(&list, part);
	}
	stats_sort(list.value, list.count);
	if (!ret)
		ret = write_all(&list, path);
	for (unsigned i = 1; i <= count && !ret; i++)
		if (!text_format(part, sizeof(part), "%s.%u", path, i))
			unlink(part);
	*samples = (struct samples){
		.p50 = stats_percentile(list.value, list.count, 50),
		.p99 = stats_percentile(list.value, list.count, 99),
		.max = stats_max(list.value, list.count),
	};
	free(list.value);
	return ret;
}
