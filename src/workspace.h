/* SPDX-License-Identifier: Apache-2.0
 * One arena for measuring and for carving a workspace.
 *
 * A layout function takes its buffers from an arena. With a null base the arena only adds up what
 * would be taken, so that size and use of a workspace can never disagree. Every buffer starts on a
 * cache line, and one of no bytes is NULL; the caller's memory may have any alignment. Sums saturate: a
 * layout that overflows measures as SIZE_MAX. What lies between buffers is nobody's; builds for tests watch
 * it (gaps.h), until whoever was called by the user releases the workspace. */
#ifndef TOPK_SRC_WORKSPACE_H
#define TOPK_SRC_WORKSPACE_H

#include <stddef.h>
#include <stdint.h>

#include "gaps.h"

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
    size_t bytes, padded, end;
    if (count == 0 || element_bytes == 0) {
        return NULL;
    }
    char *taken = arena->base == NULL ? NULL : arena->base + arena->used;
    if (__builtin_mul_overflow(count, element_bytes, &bytes) ||
        __builtin_add_overflow(bytes, mask + TOPK_GAP_BYTES, &padded) ||
        __builtin_add_overflow(arena->used, padded & ~mask, &end)) {
        end = SIZE_MAX;
    }
    arena->used = end;
    if (taken != NULL) {
        topk_gaps_take(taken, bytes, arena->base + end);
    }
    return taken;
}

/* Makes one of the buffers that were taken since `used` was `before`, for clearing them at once. Returns
 * their bytes. */
static inline size_t arena_join(const struct arena *arena, size_t before) {
    if (arena->base != NULL) {
        topk_gaps_join(arena->base + before, arena->base + arena->used);
    }
    return arena->used - before;
}

/* An arena over one of several equal parts of what was taken at `base`. */
static inline struct arena arena_part(void *base, size_t part, size_t part_bytes) {
    return (struct arena){part_bytes == 0 ? NULL : (char *)base + part * part_bytes, 0};
}

/* Bytes of the largest buffer that an arena of `limit` bytes can hold, if it is the only one. */
static inline size_t arena_room(size_t limit) {
    const size_t beside = TOPK_WORKSPACE_LINE - 1 + TOPK_GAP_BYTES;
    return limit < beside ? 0 : (limit - beside) / TOPK_WORKSPACE_LINE * TOPK_WORKSPACE_LINE;
}

/* Bytes that a caller must provide for what was measured, whatever its alignment. */
static inline size_t arena_bytes(const struct arena *arena) {
    if (arena->used == 0) {
        return 0;
    }
    return arena->used > SIZE_MAX - TOPK_WORKSPACE_LINE ? SIZE_MAX : arena->used + TOPK_WORKSPACE_LINE - 1;
}

#endif
