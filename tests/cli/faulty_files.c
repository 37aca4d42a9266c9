/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the tool: files, and a clock, that behave badly, as the environment's FAULT says.
 *
 *   writes   write() and pwrite() take seven bytes at most, and every other call is interrupted
 *   close    standard output cannot be closed
 *   full     write() takes ROOM bytes in all, then there is no space left
 *   signal   SIGNAL comes right after MOMENT: the creation of a temporary file (create), a link (link) or a
 * change of its name (rename) named    no file system has files without a name slow     a second goes by
 * between any two looks at the clock system   fopen() finds the files of /proc and /sys in the folder SYSTEM
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
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

/* Sends the signal if this is its moment, which has come with the result of a call. */
static int at_moment(const char *moment, int result) {
    if (fault("signal") && result >= 0 && strcmp(getenv("MOMENT"), moment) == 0)
        raise(atoi(getenv("SIGNAL")));
    return result;
}

int mkostemp(char *template, int flags) {
    int (*real)(char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "mkostemp");
    return at_moment("create", real(template, flags));
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    const bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    if (unnamed && fault("named")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    const int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    return unnamed ? at_moment("create", file) : file;
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return at_moment("link", (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

int rename(const char *from, const char *to) {
    return at_moment("rename", (int)syscall(SYS_rename, from, to));
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
