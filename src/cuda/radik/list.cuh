/* SPDX-License-Identifier: Apache-2.0
 * A launch for rows of different lengths. It lists the rows that are read here, and counts the tiles before
 * each. Of the other rows it makes spans. One block lists few rows, and needs no memory that is zero. */
#ifndef TOPK_SRC_CUDA_RADIK_LIST_CUH
#define TOPK_SRC_CUDA_RADIK_LIST_CUH

#include "../lookback.cuh"
#include "tasks.cuh"

/* Rows and tiles before a block's rows, and theirs. */
struct list_sums {
    uint64_t rows, tiles;
};

/* Publishes the sums of the block's rows, and returns the sums of all rows before them. All threads. */
TOPK_DEVICE struct list_sums look_back_rows(const struct task_args &t, int64_t number,
                                            const struct list_sums &here, simt_shared<uint64_t> bases) {
    const struct sum_words rows = sum_words_of(t.list_words, t.list_tiles),
                           tiles = sum_words_of(t.list_words + t.sum_words, t.list_tiles);
    if (simt_warp() == 0) {
        if (simt_lane() == 0) {
            publish_sum(rows, number, here.rows);
            publish_sum(tiles, number, here.tiles);
        }
        const uint64_t rows_before = look_back(rows, number, here.rows, look_ahead(rows, number)),
                       tiles_before = look_back(tiles, number, here.tiles, look_ahead(tiles, number));
        if (simt_lane() == 0) {
            bases[0] = rows_before;
            bases[1] = tiles_before;
        }
    }
    simt_block_sync();
    return list_sums{bases[0], bases[1]};
}

/* The thread's row: listed, or a span of its own. */
TOPK_DEVICE void list_row(const struct radik_args &a, int64_t number, simt_shared<uint64_t> scratch,
                          simt_shared<uint64_t> bases) {
    const struct task_args &t = a.tasks;
    const struct short_rows &spans = a.short_rows;
    const int64_t row = number * simt_threads() + simt_thread();
    const bool exists = row < a.rows.rows;
    const struct row r = row_at(a.rows, exists ? row : 0);
    const bool is_listed = exists && (spans.begins == nullptr || r.length > spans.length);
    const uint64_t tiles = is_listed ? (uint64_t)(r.length / t.tile_elements + 1) : 0;
    struct list_sums here;
    const uint64_t row_rank = block_scan(scratch, (uint64_t)is_listed, &here.rows);
    simt_block_sync();
    const uint64_t tile_rank = block_scan(scratch, tiles, &here.tiles);
    const struct list_sums before =
        t.list_tiles > 1 ? look_back_rows(t, number, here, bases) : list_sums{0, 0};
    const uint64_t at = before.rows + row_rank, first_tile = before.tiles + tile_rank;
    if (is_listed && at < (uint64_t)t.rows_max && first_tile + tiles <= (uint64_t)t.tiles_max) {
        t.rows[at] = listed_row{row, (int64_t)first_tile};
    } else if (is_listed) {
        TOPK_REACHED(REACHED_RADIK_OVERFLOW);
        simt_store_relaxed(t.overflow, 1u);
    }
    if (exists && spans.begins != nullptr) {
        spans.begins[row] = is_listed ? 0 : r.begin;
        spans.ends[row] = is_listed ? 0 : r.begin + r.length;
        spans.k[row] = r.wanted;
    }
    if (number == t.list_tiles - 1 && simt_thread() == 0) {
        t.total[0] = before.rows + here.rows;
        t.total[1] = before.tiles + here.tiles;
    }
}

TOPK_KERNEL TOPK_BOUNDS(RADIK_LIST_THREADS, 1) void radik_list(struct radik_args a) {
    simt_arena arena = simt_shared_arena();
    const simt_shared<uint64_t> scratch = simt_carve<uint64_t>(arena, SIMT_WARP);
    const simt_shared<uint64_t> bases = simt_carve<uint64_t>(arena, 2);
    simt_allow_successor();
    if (a.tasks.list_tiles == 1 && simt_thread() == 0)
        *a.tasks.overflow = 0;
    if (is_called_off(a.rows))
        return;
    if (a.tasks.list_tiles == 1) {
        simt_block_sync();
        list_row(a, 0, scratch, bases);
        return;
    }
    while (true) { /* in ascending order, as look-back wants it */
        if (simt_thread() == 0)
            bases[0] = simt_atomic_add(a.tasks.list_ticket, (uint64_t)1);
        simt_block_sync();
        const int64_t number = (int64_t)(uint64_t)bases[0];
        simt_block_sync();
        if (number >= a.tasks.list_tiles)
            return;
        list_row(a, number, scratch, bases);
        simt_block_sync();
    }
}

#endif
