// SPDX-License-Identifier: Apache-2.0
/* harness/measure/ - small text files of the kernel: read, parse, write. */
#include "harness/measure/text_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_CAPACITY 4096

/* proc files have no size, so the buffer doubles until read(2) answers 0. */
static int read_all(int fd, char **text)
{
	size_t capacity = FIRST_CAPACITY, length = 0;
	char *buffer = malloc(capacity);

	while (buffer) {
		ssize_t got = read(fd, buffer + length, capacity - length - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int err = -errno;
			free(buffer);
			return err;
		}
		if (got == 0) {
			buffer[length] = '\0';
			*text = buffer;
			return 0;
		}
		length += (size_t)got;
		if (capacity - length > 1)
			continue;
		capacity *= 2;
		char *larger = realloc(buffer, capacity);
		if (!larger)
			free(buffer);
		buffer = larger;
	}
	return -ENOMEM;
}

int text_read(const char *path, char **text)
{
	*text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int err = read_all(fd, text);
	close(fd);
	return err;
}

int text_parse_int(const char *text, int64_t *value)
{
	char *end;

	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (errno || end == text)
		return -EBADMSG;
	while (isspace((unsigned char)*end))
		end++;
	if (*end)
		return -EBADMSG;
	*value = number;
	return 0;
}

int text_read_int(const char *path, int64_t *value)
{
	char *text;
	int err = text_read(path, &text);

	if (!err)
		err = text_parse_int(text, value);
	free(text);
	return err;
}

int text_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;

	/* A kernel file takes the string in one write or not at all. */
	ssize_t wrote = write(fd, text, strlen(text));
	int err = wrote < 0 ? -errno : (size_t)wrote < strlen(text) ? -EIO : 0;

	close(fd);
	return err;
}

int text_format(char *out, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = vsnprintf(out, size, format, args);
	va_end(args);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

bool text_list_has(const char *list, const char *separators, const char *word)
{
	size_t length = strlen(word);

	for (;;) {
		list += strspn(list, separators);
		if (!*list)
			return false;
		size_t item = strcspn(list, separators);
		if (item == length && !memcmp(list, word, length))
			return true;
		list += item;
	}
}

char *text_first_line(char *text)
{
	text[strcspn(text, "\r\n")] = '\0';
	return text;
}
