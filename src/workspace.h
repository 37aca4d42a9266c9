/* SPDX-License-Identifier: Apache-2.0
 * One arena for measuring and for carving a workspace.
 *
 * A layout function takes its buffers from an arena. With a null base the arena only adds up what
 * would be taken, so that size and use of a workspace can never disagree. Every buffer starts on a
 * cache line, and one of no bytes is NULL; the caller's memory may have any alignment. Sums saturate: a
 * layout that overflows measures as SIZE_MAX. */
#ifndef TOPK_SRC_WORKSPACE_H
#define TOPK_SRC_WORKSPACE_H

#include <stddef.h>
#include <stdint.h>

enum { TOPK_WORKSPACE_LINE = 64 };

struct arena {
    char *base;  /* aligned start, or NULL to measure */
    size_t used; /* bytes taken so far, SIZE_MAX after an overflow */
};

static inline struct arena arena_over(void *workspace) {
    const uintptr_t mask = TOPK_WORKSPACE_LINE - 1;
    struct arena arena = {NULL, 0};
    if (workspace != NULL) {
        arena.base = (char *)workspace + (-(uintptr_t)workspace & mask);
    }
    return arena;
}

static inline void *arena_take(struct arena *arena, size_t count, size_t element_bytes) {
    const size_t mask = TOPK_WORKSPACE_LINE - 1;
    size_t bytes, end;
    void *taken = arena->base == NULL || count == 0 || element_bytes == 0 ? NULL : arena->base + arena->used;
    if (__builtin_mul_overflow(count, element_bytes, &bytes) || __builtin_add_overflow(bytes, mask, &bytes) ||
        __builtin_add_overflow(arena->used, bytes & ~mask, &end)) {
        end = SIZE_MAX;
    }
    arena->used = end;
    return taken;
}

/* An arena over one of several equal parts of what was taken at `base`. */
static inline struct arena arena_part(void *base, size_t part, size_t part_bytes) {
    return (struct arena){part_bytes == 0 ? NULL : (char *)base + part * part_bytes, 0};
}

/* Bytes that a caller must provide for what was measured, whatever its alignment. */
static inline size_t arena_bytes(const struct arena *arena) {
    if (arena->used == 0) {
        return 0;
    }
    return arena->used > SIZE_MAX - TOPK_WORKSPACE_LINE ? SIZE_MAX : arena->used + TOPK_WORKSPACE_LINE - 1;
}

#endif
