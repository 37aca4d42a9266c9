/* SPDX-License-Identifier: Apache-2.0
 * Which tiles a block reads. The tiles of all rows, one row behind the other, are shared out evenly: a block
 * has a run of them, from some rows, and a row has as many blocks as its elements are worth. So rows of any
 * lengths cost what their elements cost. The paper reschedules tasks to that end: the first passes of all
 * rows in one launch, and then all second ones. */
#ifndef TOPK_SRC_CUDA_RADIK_TASKS_CUH
#define TOPK_SRC_CUDA_RADIK_TASKS_CUH

#include "../rows.cuh"
#include "../select/share.cuh"
#include "../tiles.cuh"
#include "kernels.h"

/* Of a row: its states's number, and where its tiles lie among those of all rows. */
struct task_row {
    int64_t state, row, first_tile, tiles;
};

/* What a block has of a row: tiles `first` to end - 1 of it; and which of its blocks it is. */
struct row_part {
    struct task_row of;
    int64_t first, end;
    struct share share;
};

/* All rows of a launch. */
struct all_tasks {
    int64_t rows, tiles;
    uint32_t blocks; /* that have tiles */

    TOPK_MEMBER int64_t start(uint32_t block) const {
        return (int64_t)((uint64_t)tiles * block / blocks);
    }
    TOPK_MEMBER uint32_t block_of(int64_t tile) const {
        return (uint32_t)((((uint64_t)tile + 1) * blocks - 1) / (uint64_t)tiles);
    }
};

template <typename Element> TOPK_DEVICE int64_t tiles_of_length(int64_t length) {
    const int64_t groups = (int64_t)RADIK_THREADS * tile_shape<Element>::GROUPS;
    return length / (groups * (int64_t)tile_shape<Element>::PER) + 1;
}

template <typename Element> TOPK_DEVICE struct all_tasks tasks_of(const struct radik_args &a) {
    const struct task_args &t = a.tasks;
    struct all_tasks all;
    if (t.only_row >= 0) {
        all.rows = 1;
        all.tiles = tiles_of_length<Element>(row_at(a.rows, t.only_row).length);
    } else if (t.tiles_of_row > 0) {
        all.rows = a.rows.rows;
        all.tiles = all.rows * t.tiles_of_row;
    } else {
        const bool fit = *t.overflow == 0; /* else another method serves the call */
        all.rows = fit ? (int64_t)t.total[0] : 0;
        all.tiles = fit ? (int64_t)t.total[1] : 0;
    }
    all.blocks = all.tiles < simt_blocks() ? (uint32_t)all.tiles : simt_blocks();
    return all;
}

/* Row number `i` of a launch. */
TOPK_DEVICE struct task_row task_row_at(const struct task_args &t, const struct all_tasks &all, int64_t i) {
    if (t.only_row >= 0)
        return task_row{t.only_row, t.only_row, 0, all.tiles};
    if (t.tiles_of_row > 0)
        return task_row{i, i, i * t.tiles_of_row, t.tiles_of_row};
    const struct listed_row listed = t.rows[i];
    const int64_t end = i + 1 < all.rows ? t.rows[i + 1].first_tile : all.tiles;
    return task_row{i, listed.row, listed.first_tile, end - listed.first_tile};
}

/* The number of the row that a tile belongs to. Each warp finds it, in steps of 32 rows. All lanes. */
TOPK_DEVICE int64_t row_of_tile(const struct task_args &t, const struct all_tasks &all, int64_t tile) {
    if (t.only_row >= 0)
        return 0;
    if (t.tiles_of_row > 0)
        return tile / t.tiles_of_row;
    int64_t low = 0, count = all.rows; /* the first row begins no later */
    while (count > 1) {
        const int64_t step = (count + SIMT_WARP - 1) / SIMT_WARP;
        const int64_t at = low + simt_lane() * step;
        const bool begins = at < low + count && t.rows[at].first_tile <= tile;
        const int64_t last = simt_popc(simt_ballot(SIMT_ALL_LANES, begins)) - 1;
        const int64_t end = low + count;
        low += last * step;
        count = step < end - low ? step : end - low;
    }
    return low;
}

/* Calls work(part) with what the block has of each row. Before, the kernel may have touched only shared
 * memory. */
template <typename Element, typename Work>
TOPK_DEVICE void for_own_parts(const struct radik_args &a, const Work &work) {
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    if (is_called_off(a.rows))
        return;
    const struct all_tasks all = tasks_of<Element>(a);
    if (simt_block() >= all.blocks)
        return;
    int64_t at = all.start(simt_block());
    const int64_t end = all.start(simt_block() + 1);
    for (int64_t i = row_of_tile(a.tasks, all, at); at < end; i++) {
        struct row_part part;
        part.of = task_row_at(a.tasks, all, i);
        const int64_t behind = part.of.first_tile + part.of.tiles;
        part.first = at - part.of.first_tile;
        part.end = (end < behind ? end : behind) - part.of.first_tile;
        const uint32_t first_block = all.block_of(part.of.first_tile);
        part.share = share{simt_block() - first_block, all.block_of(behind - 1) - first_block + 1};
        work(part);
        simt_block_sync();
        at = behind;
    }
}

/* Calls work() with the tiles of a part. The row's edges go with its first tile and its last. BACKWARD: the
 * last one comes first, which the cache may still hold. All threads. */
template <typename Element, bool BACKWARD, typename Source, typename Work>
TOPK_DEVICE void for_part_tiles(const Source &source, const struct row_part &part, bool pads,
                                const Work &work) {
    const Element *values = source.values();
    struct row_parts parts = parts_of(values, source.r.length);
    if (!pads && parts.head > 0) { /* element by element */
        const int64_t tile = (int64_t)simt_threads() * tile_shape<Element>::GROUPS * tile_shape<Element>::PER;
        const int64_t end = part.end * tile < source.r.length ? part.end * tile : source.r.length;
        for (int64_t at = part.first * tile; at < end; at += simt_threads())
            work(source.edge(at, end - at < simt_threads() ? (uint32_t)(end - at) : simt_threads()));
        return;
    }
    if (part.first == 0 && parts.head > 0)
        work(source.head(parts));
    if (part.end == part.of.tiles && parts.tail > 0)
        work(source.tail(parts));
    const int64_t tiles = tiles_of<Element>(parts), end = part.end < tiles ? part.end : tiles;
#pragma unroll 1
    for (int64_t i = part.first; i < end; i++) {
        const int64_t tile = BACKWARD ? end - 1 - (i - part.first) : i;
        work(source.test(source.fetch(parts, tile)));
    }
}

/* Whether this block is the last of a row's to come here; otherwise as last_of_blocks(). */
TOPK_DEVICE bool last_of_part(const struct row_part &part, uint32_t *ticket, simt_shared<uint32_t> flag) {
    simt_block_sync();
    if (simt_thread() == 0)
        flag[0] = simt_atomic_ticket(ticket) == part.share.blocks - 1;
    simt_block_sync();
    return flag[0] != 0;
}

#endif
