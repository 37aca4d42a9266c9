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

void output_integer(int64_t integer) {
    char text[20];
    size_t at = sizeof text;
    uint64_t rest = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    do
        text[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (integer < 0)
        text[--at] = '-';
    output_bytes(text + at, sizeof text - at);
}
