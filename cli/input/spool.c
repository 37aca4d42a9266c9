/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"

static int open_nameless(const char *folder) {
    static const char name[] = "/topk-XXXXXX";
    const int unnamed = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (unnamed >= 0)
        return unnamed;
    /* Not every file system has such files. */
    const size_t length = strlen(folder);
    char *path = allocate(length + sizeof name, 1);
    memcpy(path, folder, length);
    memcpy(path + length, name, sizeof name);
    const int file = mkostemp(path, O_CLOEXEC);
    const int reason = errno;
    if (file >= 0)
        unlink(path);
    release(path);
    if (file < 0)
        fail("%s: no temporary file: %s", folder, strerror(reason));
    return file;
}

static void write_fully(int file, const char *from, size_t bytes, const char *folder) {
    while (bytes > 0) {
        const ssize_t written = write(file, from, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            fail("%s: temporary file: %s", folder, strerror(errno));
        from += written;
        bytes -= (size_t)written;
    }
}

size_t read_fully(int descriptor, void *to, size_t bytes, const char *name) {
    size_t filled = 0;
    while (filled < bytes) {
        const ssize_t got = read(descriptor, (char *)to + filled, bytes - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail("%s: %s", name, strerror(errno));
        if (got == 0)
            break;
        filled += (size_t)got;
    }
    return filled;
}

int spool(int descriptor, const void *head, size_t head_bytes, const char *name) {
    enum { BUFFER_BYTES = 1 << 20 };
    const char *given = getenv("TMPDIR");
    const char *folder = given != NULL && *given != '\0' ? given : "/tmp";
    const int file = open_nameless(folder);
    char *buffer = allocate(BUFFER_BYTES, 1);
    write_fully(file, head, head_bytes, folder);
    for (size_t got; (got = read_fully(descriptor, buffer, BUFFER_BYTES, name)) > 0;)
        write_fully(file, buffer, got, folder);
    release(buffer);
    return file;
}
