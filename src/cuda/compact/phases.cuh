/* SPDX-License-Identifier: Apache-2.0
 * Phases 2 and 3 of the published method (Bakunas-Milanowski, Rego, Sang and Yu). Phase 1 (mask.cuh) made
 * bits and counted them by chunks; phase 2 scans the counts; in phase 3 popc and shuffles give each bit
 * its rank. */
#ifndef TOPK_SRC_CUDA_COMPACT_PHASES_CUH
#define TOPK_SRC_CUDA_COMPACT_PHASES_CUH

#include "mask.cuh"
#include "results.cuh"
#include "scan.cuh"

/* ---- Phase 2 ---- */

/* The counts of chunks; their prefixes become the starts. */
struct chunk_counts {
    const struct compact_args &a;

    TOPK_MEMBER uint64_t of(int64_t chunk) const {
        return a.chunk_counts[chunk];
    }
    TOPK_MEMBER void put(int64_t chunk, uint64_t before) const {
        a.chunk_starts[chunk] = before;
    }
};

TOPK_KERNEL TOPK_BOUNDS(COMPACT_CHUNK_THREADS, CHUNK_BLOCKS) void compact_scan(struct compact_args a) {
    simt_arena arena = simt_shared_arena();
    struct scan_shared s = carve_scan(arena);
    simt_wait_predecessor();
    simt_allow_successor();
    scan_numbers(chunk_counts{a}, (a.total - 1) / COMPACT_CHUNK + 1, &a.tickets[1], a.words, a.word_count, s);
}

/* ---- Phase 3 ---- */

TOPK_DEVICE void write_element(const struct compact_args &a, int64_t to, int64_t element) {
    if (to >= a.capacity)
        return;
    if (a.rows.out_values != nullptr)
        copy_value(a, to, element);
    if (a.rows.out_indices != nullptr)
        write_index(a, to, element, a.rows.rows == 1 ? element : element % a.rows.length_max);
}

/* Writes the results of a chunk behind `base` others. All lanes; lane i has word i and the number of hits of
 * the chunk before it. If there are few, each lane writes its own; else all lanes write word after word. */
TOPK_DEVICE void write_chunk(const struct compact_args &a, int64_t chunk, uint32_t bits, int64_t base,
                             uint32_t before, uint32_t count) {
    const uint32_t lower = (1u << simt_lane()) - 1;
    const int64_t first = chunk * COMPACT_CHUNK;
    const bool plain = wants_positions(a.rows) && a.rows.rows == 1 && base + COMPACT_CHUNK <= a.capacity;
    int32_t *to = (int32_t *)a.rows.out_indices + base;
    const int32_t origin = plain ? (int32_t)(first + a.rows.index_base) : 0;
    if (count <= COMPACT_FEW && plain) {
        TOPK_REACHED(REACHED_COMPACT_FEW);
        for (uint32_t unwritten = bits; unwritten != 0; unwritten &= unwritten - 1)
            to[before++] = origin + (int32_t)(32 * simt_lane() + simt_ffs(unwritten) - 1);
        return;
    }
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t word = simt_shuffle(SIMT_ALL_LANES, bits, i);
        uint32_t rank = simt_shuffle(SIMT_ALL_LANES, before, i) + simt_popc(word & lower),
                 offset = i * SIMT_WARP + simt_lane();
        if ((word >> simt_lane() & 1) == 0)
            continue;
        if (plain)
            to[rank] = origin + (int32_t)offset;
        else
            write_element(a, base + rank, first + offset);
    }
}

/* Writes the offsets of the rows that start in a chunk, or, for the last chunk, at its end. All lanes. */
TOPK_DEVICE void write_chunk_offsets(const struct compact_args &a, int64_t chunk, uint32_t bits, int64_t base,
                                     uint32_t before) {
    const int64_t length = a.rows.length_max, begin = chunk * COMPACT_CHUNK;
    const bool last = a.total - begin <= COMPACT_CHUNK;
    const int64_t row_end = last ? a.rows.rows + 1 : (begin + COMPACT_CHUNK + length - 1) / length;
    for (int64_t first = (begin + length - 1) / length; first < row_end; first += SIMT_WARP) {
        int64_t row = first + simt_lane();
        uint32_t offset = row < row_end ? (uint32_t)(row * length - begin) : 0;
        uint32_t word = simt_shuffle(SIMT_ALL_LANES, bits, offset / 32);
        uint32_t rank = simt_shuffle(SIMT_ALL_LANES, before, offset / 32);
        if (row < row_end && row * length < a.total)
            a.offsets[row] = base + rank + simt_popc(word & low_bits(offset % 32));
    }
    if (last && simt_lane() == 0)
        a.offsets[a.rows.rows] = (int64_t)a.chunk_starts[chunk + 1];
}

TOPK_KERNEL TOPK_BOUNDS(COMPACT_CHUNK_THREADS, CHUNK_BLOCKS) void compact_scatter(struct compact_args a) {
    simt_wait_predecessor();
    const int64_t chunks = (a.total - 1) / COMPACT_CHUNK + 1, warps = (int64_t)simt_blocks() * simt_warps();
    const bool writes = a.rows.out_values != nullptr || a.rows.out_indices != nullptr;
    for (int64_t chunk = (int64_t)simt_block() * simt_warps() + simt_warp(); chunk < chunks; chunk += warps) {
        bool inside = chunk * COMPACT_CHUNK + 32 * simt_lane() < a.total;
        uint32_t bits = inside ? a.masks[chunk * SIMT_WARP + simt_lane()] : 0, count = simt_popc(bits);
        int64_t base = (int64_t)a.chunk_starts[chunk];
        uint32_t inclusive = warp_scan_inclusive(count), before = inclusive - count;
        if (writes)
            write_chunk(a, chunk, bits, base, before, simt_shuffle(SIMT_ALL_LANES, inclusive, SIMT_WARP - 1));
        if (a.offsets != nullptr)
            write_chunk_offsets(a, chunk, bits, base, before);
    }
}

/* ---- Counts of rows ---- */

/* counts[r] = offsets[r + 1] - offsets[r]. */
TOPK_KERNEL TOPK_BOUNDS(COMPACT_CHUNK_THREADS, CHUNK_BLOCKS) void compact_count(struct compact_args a) {
    simt_wait_predecessor();
    const int64_t threads = (int64_t)simt_blocks() * simt_threads();
    for (int64_t row = (int64_t)simt_block() * simt_threads() + simt_thread(); row < a.rows.rows;
         row += threads)
        a.counts[row] = a.offsets[row + 1] - a.offsets[row];
}

#endif
