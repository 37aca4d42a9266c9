/* SPDX-License-Identifier: Apache-2.0 */
#include "allocation.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Visible to the shared libraries of the process, whose calls are meant. */
#pragma GCC visibility push(default)

/* The C library's own, under the names that it keeps for this purpose. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *realloc(void *block, size_t bytes);
void *memalign(size_t alignment, size_t bytes);
void *aligned_alloc(size_t alignment, size_t bytes);
int posix_memalign(void **block, size_t alignment, size_t bytes);
void free(void *block);

#pragma GCC visibility pop

static atomic_long count, live, until_failure = -1;

long allocation_count(void) {
    return count;
}

long allocation_live(void) {
    return live;
}

void allocation_fail_nth(long nth) {
    until_failure = nth;
}

static bool fails(void) {
    atomic_fetch_add(&count, 1);
    return until_failure >= 0 && atomic_fetch_sub(&until_failure, 1) == 0;
}

static void *counted(void *block) {
    if (block != NULL) {
        atomic_fetch_add(&live, 1);
    }
    return block;
}

void *malloc(size_t bytes) {
    return fails() ? NULL : counted(__libc_malloc(bytes));
}

void *calloc(size_t number, size_t bytes) {
    return fails() ? NULL : counted(__libc_calloc(number, bytes));
}

void *realloc(void *block, size_t bytes) {
    if (block == NULL) {
        return malloc(bytes);
    }
    return fails() ? NULL : __libc_realloc(block, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
    return fails() ? NULL : counted(__libc_memalign(alignment, bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes) {
    *block = memalign(alignment, bytes);
    return *block == NULL ? ENOMEM : 0;
}

void free(void *block) {
    if (block != NULL) {
        atomic_fetch_sub(&live, 1);
        __libc_free(block);
    }
}
