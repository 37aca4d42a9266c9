/* SPDX-License-Identifier: Apache-2.0
 *
 * How the tool ends when it cannot go on: one line on standard error, then exit. What has to be undone
 * at the end of the process is registered with atexit() by whoever did it. */
#ifndef TOPK_CLI_FAIL_H
#define TOPK_CLI_FAIL_H

#include <stddef.h>

enum { STATUS_FAILED = 1, STATUS_USAGE = 2 };

/* Prints "topk: " and the message, with every control character replaced by '?', and exits with
 * STATUS_FAILED. */
__attribute__((format(printf, 1, 2))) _Noreturn void fail(const char *format, ...);

/* As fail(), for a command line that makes no sense: exits with STATUS_USAGE. */
__attribute__((format(printf, 1, 2))) _Noreturn void fail_usage(const char *format, ...);

/* Prints the same, and goes on. */
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);

/* As fail(), from a function that exit() calls: no other is called any more. */
__attribute__((format(printf, 1, 2))) _Noreturn void fail_at_exit(const char *format, ...);

/* Has fail() and fail_usage() call a function that ends the process in their place, with the status and the
 * line to print. */
typedef void fail_together(int status, const char *line, size_t length);
void fail_by(fail_together *end);

/* As fail(), with the reason that the library gives for its last failure. */
_Noreturn void fail_library(void);

#endif /* TOPK_CLI_FAIL_H */
