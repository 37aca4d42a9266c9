/* SPDX-License-Identifier: Apache-2.0
 * From a bit for each element of a tile to the offsets of its hits, in order, and on to results.
 *
 * Each thread has ITEMS elements side by side, and a bit for each that says whether it is a hit: the lowest
 * bit is for the first element. Offsets count elements from the start of the tile. */
#ifndef TOPK_SRC_CUDA_ORDERED_CUH
#define TOPK_SRC_CUDA_ORDERED_CUH

#include "block.cuh"

/* The lowest `count` of 32 bits. */
TOPK_DEVICE uint32_t low_bits(uint32_t count) {
    return count >= 32 ? 0xffffffffu : (1u << count) - 1;
}

/* For loads in which neighbouring lanes read neighbouring groups of PER elements: a warp's elements lie in
 * the order of group, lane and element. Bit g * PER + j of a lane is for element j of its group g. Returns,
 * for each lane, the bits of PER * GROUPS elements side by side. All lanes. */
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

/* A thread's hits, and the rank of the first one in its warp. */
struct ranked_bits {
    uint32_t bits, rank;
};

/* *count is the number of the warp's hits. All lanes. */
TOPK_DEVICE struct ranked_bits rank_bits(uint32_t bits, uint32_t *count) {
    return ranked_bits{bits, warp_scan(simt_popc(bits), count)};
}

/* A tile has many hits if more than one in MANY_HITS elements is a hit. */
enum { MANY_HITS = 4 };

/* Lists the offsets of a thread's hits in ascending order; the warp's go to slot `first` and on.
 * `many`, alike in all lanes: it pays to go through all bits at an even pace. All lanes. */
template <uint32_t ITEMS>
TOPK_DEVICE void list_hits(simt_shared<uint16_t> offsets, const struct ranked_bits &hits, uint32_t first,
                           bool many) {
    const uint32_t offset = simt_thread() * ITEMS;
    if (simt_all(SIMT_ALL_LANES, hits.bits == low_bits(ITEMS))) {
        const uint32_t of_warp = simt_warp() * SIMT_WARP * ITEMS;
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++) { /* side by side, so that no bank is asked twice */
            uint32_t rank = i * SIMT_WARP + simt_lane();
            offsets[first + rank] = (uint16_t)(of_warp + rank);
        }
        return;
    }
    first += hits.rank;
    if (many) {
        simt_appender list = simt_append_at(offsets, first);
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            list.append_if(hits.bits & 1u << i, (uint16_t)(offset + i));
        return;
    }
    simt_appender list = simt_append_at(offsets, first + simt_popc(hits.bits)); /* the last one first */
    for (uint32_t unlisted = hits.bits; unlisted != 0;) {
        uint32_t highest = 31 - simt_clz(unlisted);
        list.prepend((uint16_t)(offset + highest));
        unlisted ^= 1u << highest;
    }
}

/* ---- From offsets to results ---- */

/* to[i] = of(i) for i < count. The first THREADS threads of the block. A warp writes whole lines of memory.
 */
template <uint32_t THREADS, typename T, typename Of>
TOPK_DEVICE void write_results(T *to, uint32_t count, const Of &of) {
    const uint32_t BATCH = 4, behind = (uint32_t)((uintptr_t)to / sizeof *to % SIMT_WARP);
    uint32_t i = simt_thread() - behind;
    to += (int32_t)i;
    if (i < count) /* which a thread before the first result, wrapped around, is not */
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

/* Writes the positions of the first `count` hits of a tile; `origin` is the position of offset 0. Index is
 * int32_t or int64_t. */
template <uint32_t THREADS, typename Index>
TOPK_DEVICE void write_positions(Index *to, simt_shared<uint16_t> offsets, Index origin, uint32_t count) {
    write_results<THREADS>(to, count, [&](uint32_t i) -> Index { return origin + (uint16_t)offsets[i]; });
}

/* Copies what lies in memory at the offsets of the first `count` hits, counted from `from`. */
template <uint32_t THREADS, typename T>
TOPK_DEVICE void write_values(T *to, simt_shared<uint16_t> offsets, const T *from, uint32_t count) {
    write_results<THREADS>(to, count,
                           [&](uint32_t i) -> T { return simt_load_read_only(from + (uint16_t)offsets[i]); });
}

#endif
