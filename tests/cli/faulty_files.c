/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the tool: files that behave badly, as the environment's FAULT says.
 *
 *   writes   write() and pwrite() take seven bytes at most, and every other call is interrupted
 *   close    standard output cannot be closed
 *   signal   SIGTERM comes as soon as there is a temporary file */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool fault(const char *name) {
    const char *wanted = getenv("FAULT");
    return wanted != NULL && strcmp(wanted, name) == 0;
}

/* Bytes that the next write takes; 0: it is interrupted. */
static size_t taken(size_t bytes) {
    static int calls;
    if (!fault("writes"))
        return bytes;
    if (calls++ % 2 == 1) {
        errno = EINTR;
        return 0;
    }
    return bytes < 7 ? bytes : 7;
}

ssize_t write(int file, const void *bytes, size_t length) {
    const size_t part = taken(length);
    return part > 0 ? syscall(SYS_write, file, bytes, part) : -1;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
    const size_t part = taken(length);
    return part > 0 ? syscall(SYS_pwrite64, file, bytes, part, offset) : -1;
}

int close(int file) {
    if (file == STDOUT_FILENO && fault("close")) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_close, file);
}

int mkostemp(char *template, int flags) {
    int (*real)(char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "mkostemp");
    const int file = real(template, flags);
    if (fault("signal"))
        raise(SIGTERM);
    return file;
}
