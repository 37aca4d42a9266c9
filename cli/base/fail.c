/* SPDX-License-Identifier: Apache-2.0 */
#include "fail.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topk.h"

enum { LINE_BYTES = 6000 };

/* A process ends in one way: this is the job's, or NULL. */
static const struct fail_together *together;

void fail_by(const struct fail_together *job) {
    together = job;
}

/* Formats into the stack: works also when memory has run out. Returns the length of the line. */
__attribute__((format(printf, 2, 0))) static size_t make_line(char line[LINE_BYTES], const char *format,
                                                              va_list arguments) {
    static const char prefix[] = "topk: ";
    const size_t begin = sizeof prefix - 1;
    memcpy(line, prefix, begin);
    int length = vsnprintf(line + begin, LINE_BYTES - begin - 1, format, arguments);
    size_t end = begin + (length < 0 ? 0 : (size_t)length);
    if (end > LINE_BYTES - 2)
        end = LINE_BYTES - 2;
    for (size_t i = 0; i < end; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    line[end++] = '\n';
    return end;
}

/* Writes at once. */
__attribute__((format(printf, 1, 0))) static void complain(const char *format, va_list arguments) {
    char line[LINE_BYTES];
    const size_t length = make_line(line, format, arguments);
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written; /* nowhere left to say so */
}

__attribute__((format(printf, 2, 0))) static _Noreturn void end(int status, const char *format,
                                                                va_list arguments) {
    char line[LINE_BYTES];
    if (together != NULL)
        together->end(status, line, make_line(line, format, arguments));
    complain(format, arguments);
    exit(status);
}

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    end(STATUS_FAILED, format, arguments);
}

void fail_usage(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    end(STATUS_USAGE, format, arguments);
}

void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
}

void fail_at_exit(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    _exit(STATUS_FAILED);
}

void fail_in_line(const char *name, int64_t file, int64_t line, const char *reason) {
    if (together != NULL)
        line += together->lines_before(file);
    fail("%s:%" PRId64 ": %s", name, line, reason);
}

void fail_library(void) {
    fail("%s", topk_last_error());
}
