/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the tool: the allocation that FAIL_AT counts to, and every later one, fails. Neither
 * counted nor failed are those of the dynamic loader before main, and those of the OpenMP runtime, which
 * is not ours to repair: LLVM's waits for itself forever. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

static long remaining = -1; /* -1: not counting */

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("FAIL_AT");
    if (text != NULL)
        remaining = atol(text);
}

static int fails(const void *caller) {
    Dl_info object;
    if (remaining < 0 || (dladdr(caller, &object) != 0 && strstr(object.dli_fname, "omp.so") != NULL))
        return 0;
    if (remaining > 0 && --remaining > 0)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, bytes);
}
