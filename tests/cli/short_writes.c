/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the tool: write() and pwrite() take seven bytes at most, and every other call is
 * interrupted. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t taken(size_t bytes) {
    static int calls;
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
