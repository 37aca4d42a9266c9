/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the tool: the allocation that FAIL_AT counts to, and every later one, fails. Neither
 * counted nor failed are those before main, which are the loader's and the runtimes'. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

static long remaining = -1; /* -1: not counting */

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *main, int argc, char **argv, void (*init)(void), void (*end)(void),
                           void (*loader_end)(void), void *stack_end);

static main_function *real_main;

static int counting_main(int argc, char **argv, char **environment) {
    const char *text = getenv("FAIL_AT");
    if (text != NULL)
        remaining = atol(text);
    return real_main(argc, argv, environment);
}

start_function __libc_start_main;

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*end)(void),
                      void (*loader_end)(void), void *stack_end) {
    start_function *real;
    *(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    return real(counting_main, argc, argv, init, end, loader_end, stack_end);
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
