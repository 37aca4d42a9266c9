/* SPDX-License-Identifier: Apache-2.0
 * Rows of different lengths share the blocks of a launch by their lengths. */
#ifndef TOPK_SRC_CUDA_BRACKET_UNEVEN_CUH
#define TOPK_SRC_CUDA_BRACKET_UNEVEN_CUH

#include "../simt/grid.cuh"
#include "sample.cuh"

/* Blocks of a row. Each row has one; the `spare` ones go to rows by their lengths, but no more to a row than
 * have a chunk of it for each warp, or results enough, as the host counts them. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t blocks_of_row(const struct row &r, uint64_t total, uint32_t spare) {
    const int64_t of_block = (int64_t)Shape::CHUNK * tile_shape<Element>::PER * (BRACKET_THREADS / SIMT_WARP);
    const uint64_t chunks = (uint64_t)((r.length + of_block - 1) / of_block),
                   results = (uint64_t)((r.k + BRACKET_THREADS - 1) / BRACKET_THREADS),
                   useful = chunks > results ? chunks : results,
                   share = total == 0 ? 0 : (uint64_t)r.length * spare / total;
    return 1 + (uint32_t)(share < useful ? share : useful == 0 ? 0 : useful - 1);
}

/* The groups of a row that a thread samples: the launch's number, halved until the row has room for them. */
template <typename Element>
TOPK_DEVICE uint32_t groups_of_length(const struct bracket_args &a, int64_t length) {
    const uint32_t least = sample_shape<Element>::GROUPS > 2 ? 2 : 1; /* for_groups() */
    uint32_t groups = a.sample_groups;
    while (groups > least && length < 2 * (int64_t)(groups * simt_threads() * sample_shape<Element>::PER))
        groups /= 2;
    return groups;
}

/* Finds the block's row and its share of it; returns the row, or the number of rows if it has none: then the
 * block has arrived where the others do, and is done. All blocks come to the same result. All threads. */
template <typename Element, typename Shape> TOPK_NOINLINE uint32_t find_team(const struct bracket_args &a) {
    simt_arena arena = simt_shared_arena();
    const bracket_memory<Element, Shape> m = carve_bracket<Element, Shape>(arena);
    const uint32_t rows = (uint32_t)a.rows.rows;
    if (simt_thread() == 0)
        m.team[TEAM_ROW] = rows;
    simt_block_sync();
    if (simt_warp() == 0) {
        uint64_t total = 0;
        for (uint32_t row = simt_lane(); row < rows; row += SIMT_WARP)
            total += (uint64_t)row_at(a.rows, row).length;
        total = simt_reduce_add(SIMT_ALL_LANES, total);
        uint32_t before = 0, of_rows;
#pragma unroll 1
        for (uint32_t first = 0; first < rows; first += SIMT_WARP) {
            const uint32_t row = first + simt_lane();
            const struct row r = row_at(a.rows, row < rows ? row : 0);
            const uint32_t blocks =
                row < rows ? blocks_of_row<Element, Shape>(r, total, simt_blocks() - rows) : 0;
            const uint32_t begin = before + warp_scan(blocks, &of_rows);
            if (simt_block() - begin < blocks) {
                m.team[TEAM_ROW] = row;
                m.team[TEAM_BLOCK] = simt_block() - begin;
                m.team[TEAM_BLOCKS] = blocks;
                m.team[TEAM_GROUPS] = groups_of_length<Element>(a, r.length);
            }
            before += of_rows;
        }
    }
    simt_block_sync();
    if (m.team[TEAM_ROW] == rows)
        simt_grid_sync();
    return m.team[TEAM_ROW];
}

#endif
