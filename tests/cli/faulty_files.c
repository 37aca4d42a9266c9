/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the tool: files, and a clock, that behave badly, as the environment's FAULT says.
 *
 *   writes   write() and pwrite() take seven bytes at most, and every other call is interrupted
 *   close    standard output cannot be closed
 *   full     write() takes ROOM bytes in all, then there is no space left
 *   signal   SIGTERM comes as soon as there is a temporary file
 *   slow     a second goes by between any two looks at the clock
 *   system   fopen() finds the files of /proc and /sys in the folder SYSTEM */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool fault(const char *name) {
    const char *wanted = getenv("FAULT");
    return wanted != NULL && strcmp(wanted, name) == 0;
}

/* Bytes that the next write to a full disk takes; 0: none is left. */
static size_t taken_by_room(size_t bytes) {
    static size_t used;
    const size_t left = strtoul(getenv("ROOM"), NULL, 10) - used;
    if (left == 0)
        errno = ENOSPC;
    bytes = bytes < left ? bytes : left;
    used += bytes;
    return bytes;
}

/* Bytes that the next write takes; 0: it fails. */
static size_t taken(int file, size_t bytes) {
    static int calls;
    if (fault("full") && file > STDERR_FILENO)
        return taken_by_room(bytes);
    if (!fault("writes"))
        return bytes;
    if (calls++ % 2 == 1) {
        errno = EINTR;
        return 0;
    }
    return bytes < 7 ? bytes : 7;
}

ssize_t write(int file, const void *bytes, size_t length) {
    const size_t part = taken(file, length);
    return part > 0 ? syscall(SYS_write, file, bytes, part) : -1;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
    const size_t part = taken(file, length);
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

int clock_gettime(clockid_t clock, struct timespec *time) {
    static _Atomic time_t seconds;
    const int status = (int)syscall(SYS_clock_gettime, clock, time);
    if (fault("slow"))
        time->tv_sec += ++seconds;
    return status;
}

FILE *fopen(const char *path, const char *mode) {
    FILE *(*real)(const char *, const char *);
    char moved[PATH_MAX];
    *(void **)&real = dlsym(RTLD_NEXT, "fopen");
    if (!fault("system") || (strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0))
        return real(path, mode);
    snprintf(moved, sizeof moved, "%s%s", getenv("SYSTEM"), path);
    return real(moved, mode);
}
