/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the tool: the allocation that FAIL_AT counts to, and every later one, fails. Allocations
 * of the dynamic loader, before main, are not counted. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

static long remaining = -1; /* -1: not counting */

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("FAIL_AT");
    if (text != NULL)
        remaining = atol(text);
}

static int fails(void) {
    if (remaining < 0)
        return 0;
    if (remaining > 0 && --remaining > 0)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes) {
    return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    return fails() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes) {
    return fails() ? NULL : __libc_realloc(memory, bytes);
}
