/* SPDX-License-Identifier: Apache-2.0
 * Which tiles a block reads. The tiles of all rows, one row behind the other, are shared out evenly: a block
 * has a run of them, from some rows, and a row has as many blocks as its elements are worth. So rows of any
 * lengths cost what their elements cost. The paper reschedules tasks to that end: the first passes of all
 * rows in one launch, and then all second ones. */
#ifndef TOPK_SRC_CUDA_RADIK_TASKS_CUH
#define TOPK_SRC_CUDA_RADIK_TASKS_CUH

#include "../../reached.h"
#include "../rows.cuh"
#include "../select/share.cuh"
#include "../tiles.cuh"
#include "kernels.h"

/* Of a row: its state's number, and where its tiles lie among the tiles of all rows. */
struct task_row {
    int64_t state, row, first_tile, tiles;
};

/* What a block has of a row: tiles `first` to end - 1 of it; and which of its blocks it is. */
struct block_part {
    struct task_row of;
    int64_t first, end;
    struct share share;
};

/* All rows of a launch. Tiles are fewer than 2^31. */
struct all_tasks {
    int64_t rows, tiles;
    uint32_t blocks;      /* that have tiles */
    uint32_t each, extra; /* tiles of a block, and blocks that have one more: the first ones */

    static TOPK_MEMBER all_tasks of(int64_t rows, int64_t tiles) {
        const uint32_t blocks = tiles < simt_blocks() ? (uint32_t)tiles : simt_blocks();
        const uint32_t each = blocks == 0 ? 0 : (uint32_t)tiles / blocks;
        return all_tasks{rows, tiles, blocks, each, (uint32_t)tiles - each * blocks};
    }
    TOPK_MEMBER int64_t start(uint32_t block) const {
        return each * block + (block < extra ? block : extra);
    }
    TOPK_MEMBER uint32_t block_of(int64_t tile) const {
        const uint32_t of_extra = extra * (each + 1), at = (uint32_t)tile;
        return at < of_extra ? at / (each + 1) : extra + (at - of_extra) / each;
    }
};

template <typename Element> TOPK_DEVICE int64_t tile_elements(void) {
    return (int64_t)RADIK_THREADS * tile_shape<Element>::GROUPS * tile_shape<Element>::PER;
}

template <typename Element> TOPK_DEVICE struct all_tasks tasks_of(const struct radik_args &a) {
    const struct task_args &t = a.tasks;
    if (t.only_row >= 0)
        return all_tasks::of(1, row_at(a.rows, t.only_row).length / tile_elements<Element>() + 1);
    if (t.tiles_of_row > 0)
        return all_tasks::of(a.rows.rows, a.rows.rows * t.tiles_of_row);
    return *t.overflow == 0 ? all_tasks::of((int64_t)t.total[0], (int64_t)t.total[1])
                            : all_tasks::of(0, 0); /* another method serves the call */
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
        return (uint32_t)tile / (uint32_t)t.tiles_of_row;
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

/* Whether all rows are finished: the same for all threads, though other blocks go on. All threads. */
TOPK_DEVICE bool are_finished(const struct radik_args &a, const struct all_tasks &all,
                              simt_shared<uint32_t> flag) {
    if (simt_thread() == 0)
        flag[0] = simt_load_relaxed(a.tasks.finished) == (uint64_t)all.rows;
    simt_block_sync();
    return flag[0] != 0;
}

/* Calls work(part) with what the block has of each row. Before, the kernel may have touched only shared
 * memory. `skips`: nothing is to be done if all rows are finished. NEXT_ROW: the path that counts further
 * rows. */
template <typename Element, int NEXT_ROW, typename Work>
TOPK_DEVICE void for_own_parts(const struct radik_args &a, bool skips, simt_shared<uint32_t> flag,
                               const Work &work) {
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    if (is_called_off(a.rows))
        return;
    const struct all_tasks all = tasks_of<Element>(a);
    if (simt_block() >= all.blocks || (skips && are_finished(a, all, flag)))
        return;
    int64_t at = all.start(simt_block());
    const int64_t end = all.start(simt_block() + 1);
    for (int64_t i = row_of_tile(a.tasks, all, at); at < end; i++) {
        struct block_part part;
        if (at != all.start(simt_block()))
            TOPK_REACHED(NEXT_ROW);
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
TOPK_DEVICE void for_part_tiles(const Source &source, const struct block_part &part, bool pads,
                                const Work &work) {
    const Element *values = source.values();
    const struct row_parts parts = parts_of(values, source.r.length);
    const bool by_elements = !pads && parts.head > 0;
    const int64_t length = source.r.length, first = part.first * tile_elements<Element>(),
                  stop = part.end * tile_elements<Element>();
#pragma unroll 1
    for (uint32_t edge = 0; edge < 2; edge++) { /* or all of the part, before its tail */
        const int64_t tail = part.end == part.of.tiles && !by_elements ? length - parts.tail : length;
        const int64_t head = part.first == 0 ? parts.head : 0, middle = stop < length ? stop : length;
        const int64_t end = edge == 1 ? length : by_elements ? middle : head;
#pragma unroll 1
        for (int64_t at = edge == 1 ? tail : by_elements ? first : 0; at < end; at += simt_threads())
            work(source.edge(at, end - at < simt_threads() ? (uint32_t)(end - at) : simt_threads()));
    }
    if (by_elements)
        return;
    const int64_t tiles = tiles_of<Element>(parts), end = part.end < tiles ? part.end : tiles;
#pragma unroll 1
    for (int64_t i = part.first; i < end; i++) {
        const int64_t tile = BACKWARD ? end - 1 - (i - part.first) : i;
        work(source.test(source.fetch(parts, tile)));
    }
}

/* Whether this block is the last of a row's to come here; otherwise as last_of_blocks(). */
TOPK_DEVICE bool last_of_part(const struct block_part &part, uint32_t *ticket, simt_shared<uint32_t> flag) {
    simt_block_sync();
    if (simt_thread() == 0)
        flag[0] = simt_atomic_ticket(ticket) == part.share.blocks - 1;
    simt_block_sync();
    return flag[0] != 0;
}

#endif
