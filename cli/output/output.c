/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/fail.h"

enum { CAPACITY = 1 << 16 };

/* A process has one standard output, and so one buffer for it. */
static char buffer[CAPACITY];
static size_t used;

static void write_all(const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write(STDOUT_FILENO, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            fail("standard output: %s", strerror(errno));
        bytes += written;
        length -= (size_t)written;
    }
}

void output_flush(void) {
    write_all(buffer, used);
    used = 0;
}

void output_close(void) {
    if (fflush(stdout) != 0 || (close(STDOUT_FILENO) != 0 && errno != EBADF))
        fail_at_exit("standard output: %s", strerror(errno));
}

void output_bytes(const void *bytes, size_t length) {
    if (length > CAPACITY - used)
        output_flush();
    if (length > CAPACITY) {
        write_all(bytes, length);
        return;
    }
    memcpy(buffer + used, bytes, length);
    used += length;
}

void output_string(const char *string) {
    output_bytes(string, strlen(string));
}

char *output_digits(bool negative, uint64_t integer, char *end) {
    char *at = end;
    uint64_t rest = negative ? 0 - integer : integer;
    for (; rest >= 10; rest /= 100) {
        unsigned pair = (unsigned)(rest % 100);
        *--at = (char)('0' + pair % 10);
        *--at = (char)('0' + pair / 10);
    }
    if (rest > 0 || at == end)
        *--at = (char)('0' + rest);
    if (negative)
        *--at = '-';
    return at;
}

void output_integer(int64_t integer) {
    char text[20];
    char *end = text + sizeof text;
    const char *begin = output_digits(integer < 0, (uint64_t)integer, end);
    output_bytes(begin, (size_t)(end - begin));
}
