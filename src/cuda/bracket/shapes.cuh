/* SPDX-License-Identifier: Apache-2.0
 * The shapes of a block: how its shared memory is divided, for GPUs that have much of it, half, or a quarter.
 * Kernels take one of them as a template argument. An architecture has kernels of the shape that suits its
 * GPUs. */
#ifndef TOPK_SRC_CUDA_BRACKET_SHAPES_CUH
#define TOPK_SRC_CUDA_BRACKET_SHAPES_CUH

#include "../codes.cuh"
#include "../select/entries.cuh"
#include "kernels.h"

template <enum bracket_size OF, uint32_t SLOTS_OF_WARP, uint32_t GROUPS_OF_LANE, uint32_t CANDIDATES,
          uint32_t ENTRIES>
struct block_shape {
    static const enum bracket_size SIZE_OF_BLOCK = OF;
    /* Slots of a warp's ring, into which it copies chunks of a row; and groups of 16 bytes of a chunk for
     * each lane. */
    static const uint32_t SLOTS = SLOTS_OF_WARP, LANE_GROUPS = GROUPS_OF_LANE;
    static const uint32_t CHUNK = LANE_GROUPS * SIMT_WARP;                           /* groups of a slot */
    static const uint32_t RING_GROUPS = BRACKET_THREADS / SIMT_WARP * SLOTS * CHUNK; /* of all warps */
    static const uint32_t PAGE = CANDIDATES; /* that a block keeps in shared memory at a time */
    static const uint32_t SENT = ENTRIES;    /* candidates that one block puts in order */
    /* Groups of a sample that a thread stages in the ring. */
    static const uint32_t STAGED =
        SLOTS * LANE_GROUPS < BRACKET_GROUPS_MANY ? SLOTS * LANE_GROUPS : (uint32_t)BRACKET_GROUPS_MANY;

    static_assert(SENT <= (uint32_t)ENTRIES_PER_THREAD * BRACKET_THREADS, "a block sorts so many");
    static_assert(SENT <= RING_GROUPS, "the ring holds entries of two words");
    static_assert(PAGE <= 16 * BRACKET_THREADS, "a thread has 16 candidates of a page at most");
};

/* Candidates that fit so many bytes, as words with positions. */
template <typename Element, uint32_t BYTES> struct candidates_of_bytes {
    static const uint32_t COUNT =
        BYTES / (sizeof(key_word_t<Element>) + sizeof(uint32_t)) / SIMT_WARP * SIMT_WARP;
};

template <typename Element>
struct large_shape : block_shape<BRACKET_LARGE, 2, SIZE(8, 4), BRACKET_PAGE, BRACKET_SENT> {};

template <typename Element>
struct half_shape : block_shape<BRACKET_HALF, 1, SIZE(8, 4),
                                candidates_of_bytes<Element, BRACKET_HALF_PAGE_BYTES>::COUNT, BRACKET_SENT> {
};

template <typename Element>
struct quarter_shape
    : block_shape<BRACKET_QUARTER, 1, 4, candidates_of_bytes<Element, BRACKET_QUARTER_PAGE_BYTES>::COUNT,
                  BRACKET_QUARTER_SENT> {};

/* Whether kernels of a shape are compiled for an architecture, such as 90 for sm_90: those of the largest
 * that its GPUs have room for. Only TOPK_PORTABLE has two. */
TOPK_HOST_DEVICE constexpr bool is_compiled_for(enum bracket_size size, uint32_t architecture) {
#ifdef TOPK_PORTABLE
    return architecture >= 75 && size != BRACKET_LARGE;
#else
    const bool is_large = architecture >= 90 && architecture < 120;
    return architecture >= 75 && size == (is_large             ? BRACKET_LARGE
                                          : architecture >= 80 ? BRACKET_HALF
                                                               : BRACKET_QUARTER);
#endif
}

/* Whether the code at hand has kernels of the shape. The emulation has all. */
template <typename Shape> TOPK_HOST_DEVICE constexpr bool is_compiled(void) {
#ifdef SIMT_ARCHITECTURE
    return is_compiled_for(Shape::SIZE_OF_BLOCK, SIMT_ARCHITECTURE);
#else
    return true;
#endif
}

/* Whether the code for any of its architectures has. */
template <typename Shape> TOPK_HOST_DEVICE constexpr bool is_in_build(void) {
#ifdef SIMT_ARCHITECTURE
    constexpr uint32_t architectures[] = {SIMT_ARCHITECTURES};
    bool is_one = false;
    for (uint32_t tenfold : architectures)
        is_one |= is_compiled_for(Shape::SIZE_OF_BLOCK, tenfold / 10);
    return is_one;
#else
    return true;
#endif
}

#endif
