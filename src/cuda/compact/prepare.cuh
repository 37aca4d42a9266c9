/* SPDX-License-Identifier: Apache-2.0
 * What has to be known before the pass, where the host cannot know it. */
#ifndef TOPK_SRC_CUDA_COMPACT_PREPARE_CUH
#define TOPK_SRC_CUDA_COMPACT_PREPARE_CUH

#include "../predicate/bounds.cuh"
#include "scan.cuh"
#include "tile.cuh"

/* The lengths of rows; their prefixes become the starts. */
struct row_lengths {
    const struct compact_args &a;

    TOPK_MEMBER uint64_t of(int64_t row) const {
        return (uint64_t)row_at(a.rows, row).length;
    }
    TOPK_MEMBER void put(int64_t row, uint64_t before) const {
        a.starts[row] = (int64_t)before;
    }
};

TOPK_KERNEL TOPK_BOUNDS(COMPACT_CHUNK_THREADS, CHUNK_BLOCKS) void compact_prepare(struct compact_args a) {
    simt_arena arena = simt_shared_arena();
    struct scan_shared s = carve_scan(arena);
    simt_wait_predecessor();
    simt_allow_successor();
    read_bounds(a.predicate);
    if (!a.dense)
        scan_numbers(row_lengths{a}, a.rows.rows, &a.tickets[0], a.row_words,
                     a.rows.rows / COMPACT_SCANNED + 1, s);
}

#endif
