/* SPDX-License-Identifier: Apache-2.0
 * Tiles: where they begin and end, and which rows they touch.
 *
 * Tile t has about elements [t * STEP, (t + 1) * STEP) of the rows laid end to end. A boundary inside a row
 * moves down to where a line of memory begins, but not out of the row: then aligned loads read the tile. Both
 * tiles at a boundary move it alike. A tile has room for TILE elements, a line more than STEP. */
#ifndef TOPK_SRC_CUDA_COMPACT_TILE_CUH
#define TOPK_SRC_CUDA_COMPACT_TILE_CUH

#include "../ordered.cuh"
#include "../rows.cuh"
#include "kernels.h"

/* Of kernels that go by chunks or by rows. A multiprocessor of sm_75 has 1024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
static const int CHUNK_BLOCKS = 2;
#else
static const int CHUNK_BLOCKS = COMPACT_CHUNK_BLOCKS_PER_SM;
#endif

/* A source of bits, in place of an element's unsigned integer. */
struct mask_bits {};

/* Dense rows are read by the workers of a block; its last warp looks back. */
template <bool SMALL> struct dense_shape {
    static const uint32_t THREADS = SMALL ? COMPACT_THREADS_8 : COMPACT_THREADS,
                          WORKERS = THREADS - SIMT_WARP,
                          BLOCKS_PER_SM = SMALL ? COMPACT_BLOCKS_PER_SM_8 : COMPACT_BLOCKS_PER_SM;
};

/* Each thread reads GROUPS groups of PER elements of a tile, which lie in the order of warp, group, lane and
 * element. */
template <typename Source> struct compact_shape : dense_shape<sizeof(Source) == 1> {
    static const uint32_t PER = 16 / sizeof(Source),
                          GROUPS = sizeof(Source) == 1 ? COMPACT_GROUPS_8 : COMPACT_GROUPS,
                          LINE = COMPACT_LINE_BYTES / sizeof(Source), ITEMS = PER * GROUPS,
                          TILE = COMPACT_RAGGED_THREADS * ITEMS, STEP = TILE - LINE,
                          DENSE_TILE = dense_shape<sizeof(Source) == 1>::WORKERS * ITEMS;
    static_assert(LINE <= STEP, "each tile has a boundary of its own");
    static_assert(LINE <= DENSE_TILE, "compact.c counts on it");
    static_assert(DENSE_TILE <= COMPACT_NARROW_ROW, "of longer rows a tile has parts of two at most");
};

template <> struct compact_shape<mask_bits> : dense_shape<true> {
    static const uint32_t PER = COMPACT_BITS, GROUPS = 1, LINE = 1, ITEMS = PER,
                          TILE = COMPACT_RAGGED_THREADS * ITEMS, STEP = TILE, DENSE_TILE = WORKERS * ITEMS;
};

static_assert(COMPACT_RAGGED_THREADS * COMPACT_BITS <= 1 << 16, "offsets have 16 bits");

/* The offset of the first element that the thread reads; group g begins g * SIMT_WARP * PER behind it. */
template <typename Source> TOPK_DEVICE uint32_t offset_of_thread(void) {
    typedef compact_shape<Source> shape;
    return simt_warp() * SIMT_WARP * shape::ITEMS + simt_lane() * shape::PER;
}

/* How many elements behind a line of memory the row begins. */
template <typename Source> TOPK_DEVICE uint32_t behind_line(const struct compact_args &a, int64_t begin) {
    const uint32_t line_bytes = compact_shape<Source>::LINE * (uint32_t)sizeof(Source);
    return (uint32_t)((uintptr_t)((const Source *)a.source + begin) % line_bytes / sizeof(Source));
}

/* Where a boundary at this position of a row moves to. */
template <typename Source>
TOPK_DEVICE int64_t move_boundary(const struct compact_args &a, int64_t begin, int64_t position) {
    const uint32_t line = compact_shape<Source>::LINE, behind = behind_line<Source>(a, begin);
    int64_t moved = (int64_t)((uint64_t)(position + behind) / line * line) - behind;
    return moved > 0 ? moved : 0;
}

/* ---- Rows ---- */

/* How many of the `count` starts are below `value`. All lanes of a warp: they probe 32 starts at a time. */
TOPK_DEVICE int64_t starts_below(const int64_t *starts, int64_t count, int64_t value) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t part = (int64_t)(((uint64_t)(high - low) + SIMT_WARP - 1) / SIMT_WARP);
        int64_t probe = low + (simt_lane() + 1) * part - 1;
        bool below = probe < high && starts[probe] < value;
        uint32_t parts = simt_popc(simt_ballot(SIMT_ALL_LANES, below));
        int64_t end = low + (parts + 1) * part - 1;
        low += parts * part;
        high = end < high ? end : high;
        low = low < high ? low : high;
    }
    return low;
}

/* A row on the way through a tile. */
struct row_cursor {
    int64_t row, start, end; /* where the row begins and ends in the sequence of all */
    int64_t begin;           /* its first element in memory */

    /* Moves to the row of element `at` of the sequence: this row or a later one, up to `last`. */
    TOPK_MEMBER void move_to(const struct compact_args &a, int64_t at, int64_t last) {
        if (at < end)
            return;
        int64_t high = last;
        for (int64_t step = 1; row < high; step *= 2) {
            int64_t probe = high - row > step ? row + step : high;
            if (a.starts[probe] > at) {
                high = probe - 1;
                break;
            }
            row = probe;
        }
        while (row < high) {
            int64_t middle = high - (high - row) / 2;
            if (a.starts[middle] <= at)
                row = middle;
            else
                high = middle - 1;
        }
        start = a.starts[row];
        end = a.starts[row + 1];
        begin = row_at(a.rows, row).begin;
    }
};

/* ---- Tiles ---- */

/* Numbers of elements and rows in the sequence of all rows. */
struct compact_tile {
    int64_t begin, end;
    int64_t origin;             /* the element at offset 0: `begin`, or the start of its line */
    struct row_cursor first;    /* row of the first element; all elements are its if is_single */
    int64_t last_row;           /* of the last element, or behind it */
    int64_t row_begin, row_end; /* rows that start here: their offsets are this tile's to write */
    bool is_single;
};

/* Dense rows count as one. Tiles begin every DENSE_TILE elements from the start of the line with the first
 * element. */
template <typename Source>
TOPK_DEVICE struct compact_tile dense_tile(const struct compact_args &a, int64_t tile) {
    const int64_t length = a.rows.length_max, size = compact_shape<Source>::DENSE_TILE;
    struct compact_tile t;
    t.origin = tile * size - (int64_t)behind_line<Source>(a, 0);
    t.begin = t.origin > 0 ? t.origin : 0;
    t.end = a.total - t.origin < size ? a.total : t.origin + size;
    t.first = row_cursor{0, 0, INT64_MAX, 0};
    t.last_row = 0;
    t.is_single = true;
    if (a.rows.rows == 1) { /* divisions of 64 bits take long */
        t.row_begin = tile == 0 ? 0 : 1;
        t.row_end = t.end == a.total ? 2 : 1;
    } else {
        t.row_begin = (t.begin + length - 1) / length;
        t.row_end = t.end == a.total ? a.rows.rows + 1 : (t.end + length - 1) / length;
    }
    return t;
}

/* The tile about elements [from, to). All threads; begins after a barrier. `found` has 4 words. */
template <typename Source>
TOPK_DEVICE struct compact_tile ragged_tile(const struct compact_args &a, simt_shared<uint64_t> found,
                                            int64_t from, int64_t to, int64_t total) {
    const int64_t rows = a.rows.rows;
    struct compact_tile t;
    for (uint32_t i = simt_warp(); i < 4; i += simt_warps()) {
        int64_t below = starts_below(a.starts, rows + 1, (i < 2 ? from : to) + i % 2);
        if (simt_lane() == 0)
            found[i] = (uint64_t)below;
    }
    simt_block_sync();
    int64_t row = (int64_t)(uint64_t)found[1] - 1, last = (int64_t)(uint64_t)found[3] - 1;
    row = row < rows ? row : rows - 1; /* if no row has any elements */
    last = last < rows ? last : rows - 1;
    int64_t start = a.starts[row], begin = row_at(a.rows, row).begin;
    t.first = row_cursor{row, start, a.starts[row + 1], begin};
    t.last_row = last;
    t.is_single = to <= t.first.end;
    t.begin = start + move_boundary<Source>(a, begin, from - start);
    t.end = to;
    if (to < total)
        t.end = a.starts[last] + move_boundary<Source>(a, row_at(a.rows, last).begin, to - a.starts[last]);
    t.origin = t.begin;
    if (t.is_single && t.begin == start)
        t.origin -= behind_line<Source>(a, begin);
    t.row_begin = (int64_t)(uint64_t)found[0];
    t.row_end = to == total ? rows + 1 : (int64_t)(uint64_t)found[2];
    return t;
}

#endif
