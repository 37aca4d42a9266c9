/* SPDX-License-Identifier: Apache-2.0 */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "topk.h"

/* Formats into the stack and writes at once: works also when memory has run out. */
__attribute__((format(printf, 1, 0))) static void complain(const char *format, va_list arguments) {
    char line[6000] = "topk: ";
    const size_t prefix = 6;
    int length = vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
    size_t end = prefix + (length < 0 ? 0 : (size_t)length);
    if (end > sizeof line - 2)
        end = sizeof line - 2;
    for (size_t i = 0; i < end; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    line[end++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, end);
    (void)written; /* nowhere left to say so */
}

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    exit(STATUS_FAILED);
}

void fail_usage(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    exit(STATUS_USAGE);
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

void fail_library(void) {
    fail("%s", topk_last_error());
}
