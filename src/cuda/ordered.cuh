/* SPDX-License-Identifier: Apache-2.0
 * From bits to places, in order, and on to positions.
 *
 * Each thread of a tile has ITEMS elements that lie side by side, and a bit for each that says whether it is
 * a hit, the lowest for the first. An element's place counts from the tile's start. */
#ifndef TOPK_SRC_CUDA_ORDERED_CUH
#define TOPK_SRC_CUDA_ORDERED_CUH

#include "block.cuh"

/* The lowest `count` of 32 bits. */
TOPK_DEVICE uint32_t low_bits(uint32_t count) {
    return count >= 32 ? 0xffffffffu : (1u << count) - 1;
}

/* Where groups of PER elements lie in the order of group and lane, so that neighbouring lanes read
 * neighbouring memory, and bit g * PER + j is for element j of the lane's group g: brings each lane the bits
 * of PER * GROUPS elements side by side. All lanes. */
template <uint32_t PER, uint32_t GROUPS> TOPK_DEVICE uint32_t gather_bits(uint32_t bits) {
    static_assert(PER * GROUPS <= 32 && SIMT_WARP % GROUPS == 0, "a bit for each element");
    const uint32_t lanes = SIMT_WARP / GROUPS; /* that get the elements of one group */
    const uint32_t group = simt_lane() / lanes, first = simt_lane() % lanes * GROUPS;
    uint32_t gathered = 0;
#pragma unroll
    for (uint32_t i = 0; i < GROUPS; i++)
        gathered |= (simt_shuffle(SIMT_ALL_LANES, bits, first + i) >> group * PER & low_bits(PER)) << i * PER;
    return gathered;
}

/* Hits of a thread, and how many come before them in the warp. */
struct ranked_bits {
    uint32_t bits, before;
};

/* *count is the number of the warp's hits. All lanes. */
TOPK_DEVICE struct ranked_bits rank_in_warp(uint32_t bits, uint32_t *count) {
    return ranked_bits{bits, sum_of_lanes(simt_popc(bits), count)};
}

/* A tile has many hits if more than one of this many elements is one. */
enum { MANY_HITS = 4 };

/* Lists the places of a thread's hits in the order of the tile, where `at` hits come before those of its
 * warp. `many`, alike in all lanes: it pays to go through all bits at an even pace. All lanes. */
template <uint32_t ITEMS>
TOPK_DEVICE void list_hits(simt_shared<uint16_t> places, const struct ranked_bits &r, uint32_t at,
                           bool many) {
    const uint32_t place = simt_thread() * ITEMS;
    if (simt_all(SIMT_ALL_LANES, r.bits == low_bits(ITEMS))) {
        const uint32_t of_warp = simt_warp() * SIMT_WARP * ITEMS;
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++) { /* side by side, so that no bank is asked twice */
            uint32_t at_lane = i * SIMT_WARP + simt_lane();
            places[at + at_lane] = (uint16_t)(of_warp + at_lane);
        }
        return;
    }
    at += r.before;
    if (many) {
        simt_appender list = simt_append_at(places, at);
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            list.append_if(r.bits & 1u << i, (uint16_t)(place + i));
        return;
    }
    simt_appender list = simt_append_at(places, at + simt_popc(r.bits)); /* the last one first */
    for (uint32_t left = r.bits; left != 0;) {
        uint32_t highest = 31 - simt_clz(left);
        list.prepend((uint16_t)(place + highest));
        left ^= 1u << highest;
    }
}

/* ---- From places to results ---- */

/* to[i] = of(i) for i < count. The first THREADS threads of the block. A warp writes whole lines of memory.
 */
template <uint32_t THREADS, typename T, typename Of>
TOPK_DEVICE void write_results(T *to, uint32_t count, const Of &of) {
    const uint32_t BATCH = 4, behind = (uint32_t)((uintptr_t)to / sizeof *to % SIMT_WARP);
    uint32_t i = simt_thread() - behind;
    to += (int32_t)i;
    if (i < count) /* none of those that are before the first */
        *to = of(i);
    for (i += THREADS, to += THREADS; i + (BATCH - 1) * THREADS < count; to += BATCH * THREADS) {
        T batch[BATCH];
#pragma unroll
        for (uint32_t j = 0; j < BATCH; j++)
            batch[j] = of(i + j * THREADS);
#pragma unroll
        for (uint32_t j = 0; j < BATCH; j++)
            to[j * THREADS] = batch[j];
        i += BATCH * THREADS;
    }
#pragma unroll 1
    for (; i < count; i += THREADS, to += THREADS)
        *to = of(i);
}

/* The positions of the first `count` hits of a tile whose first place is `origin`; Index is int32_t or
 * int64_t. */
template <uint32_t THREADS, typename Index>
TOPK_DEVICE void write_positions(Index *to, simt_shared<uint16_t> places, Index origin, uint32_t count) {
    write_results<THREADS>(to, count, [&](uint32_t i) -> Index { return origin + (uint16_t)places[i]; });
}

/* What lies in memory at the places of these hits, where that of the first place is at `from`. */
template <uint32_t THREADS, typename T>
TOPK_DEVICE void write_values(T *to, simt_shared<uint16_t> places, const T *from, uint32_t count) {
    write_results<THREADS>(to, count,
                           [&](uint32_t i) -> T { return simt_load_read_only(from + (uint16_t)places[i]); });
}

#endif
