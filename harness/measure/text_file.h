/* SPDX-License-Identifier: Apache-2.0 */
/* harness/measure/ - small text files of the kernel (proc(5), cgroups(7)): read, parse, write. */
#ifndef HARNESS_MEASURE_TEXT_FILE_H
#define HARNESS_MEASURE_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The whole file as one NUL-terminated string, of any length. The caller frees
 * *text, which is NULL on error. Returns 0 or the negative errno of open or
 * read: -ENOENT, -EACCES, and -ESRCH for a process file whose process is gone.
 */
int text_read(const char *path, char **text);

/* A file that holds one decimal number. -EBADMSG when it holds something else. */
int text_read_int(const char *path, int64_t *value);

/* One write(2) of the string, into an existing file. Returns 0 or a negative errno. */
int text_write(const char *path, const char *text);

/* One decimal number and nothing after it but white space, or -EBADMSG. */
int text_parse_int(const char *text, int64_t *value);

/* snprintf that fails with -ENAMETOOLONG instead of truncating: for paths. */
int text_format(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether `word` is one of the items of `list`, which any of `separators` part. */
bool text_list_has(const char *list, const char *separators, const char *word);

/* Cuts the string at the first line break; returns it. */
char *text_first_line(char *text);

#endif
