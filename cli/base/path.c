/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "path.h"

#include <limits.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "alloc.h"

/* head[0, head_length) and tail[0, tail_length), terminated. */
static char *join(const char *head, size_t head_length, const char *tail, size_t tail_length) {
    char *path = allocate(head_length + tail_length + 1, 1);
    *(char *)mempcpy(mempcpy(path, head, head_length), tail, tail_length) = '\0';
    return path;
}

char *path_follow(const char *path) {
    enum { LINKS_MAX = 40 }; /* as the kernel has it */
    char *end = join(path, strlen(path), "", 0);
    for (int i = 0; i < LINKS_MAX; i++) {
        char link[PATH_MAX];
        const ssize_t length = readlink(end, link, sizeof link);
        if (length < 0)
            break;
        const char *slash = link[0] != '/' ? strrchr(end, '/') : NULL;
        char *next = join(end, slash != NULL ? (size_t)(slash + 1 - end) : 0, link, (size_t)length);
        release(end);
        end = next;
    }
    return end;
}
