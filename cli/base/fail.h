/* SPDX-License-Identifier: Apache-2.0
 *
 * How the tool ends when it cannot go on: one line on standard error, then exit. What has to be undone
 * at the end of the process is registered with atexit() by whoever did it. */
#ifndef TOPK_CLI_FAIL_H
#define TOPK_CLI_FAIL_H

#include <stddef.h>
#include <stdint.h>

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

/* As fail(), for a line of an input file, from 1: "NAME:LINE: REASON". */
_Noreturn void fail_in_line(const char *name, int64_t file, int64_t line, const char *reason);

/* How a process ends that is one of several. */
struct fail_together {
    /* Ends the process in the place of fail() and fail_usage(), which give the line to print. */
    void (*end)(int status, const char *line, size_t length);
    /* For fail_in_line(): how many lines of the file other ranks have before this one's first line. */
    int64_t (*lines_before)(int64_t file);
};
void fail_by(const struct fail_together *together);

/* As fail(), with the reason that the library gives for its last failure. */
_Noreturn void fail_library(void);

#endif /* TOPK_CLI_FAIL_H */
