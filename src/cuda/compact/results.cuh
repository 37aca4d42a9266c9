/* SPDX-License-Identifier: Apache-2.0
 * Results of a tile.
 *
 * The offsets of its hits are listed in shared memory, in ascending order. Thread j then writes result j of
 * the tile, so that writes are coalesced however few or many hits there are. It fetches the element again,
 * from a cache. */
#ifndef TOPK_SRC_CUDA_COMPACT_RESULTS_CUH
#define TOPK_SRC_CUDA_COMPACT_RESULTS_CUH

#include "tile.cuh"

/* How many of a tile's `count` hits lie before an offset. */
TOPK_DEVICE uint32_t hits_before(simt_shared<uint16_t> list, uint32_t count, int64_t offset) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if ((uint16_t)list[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Results, written by the first THREADS threads of the block ---- */

TOPK_DEVICE void copy_value(const struct compact_args &a, int64_t to, int64_t element) {
    if (a.value_bytes == 4)
        ((uint32_t *)a.rows.out_values)[to] = simt_load_read_only((const uint32_t *)a.rows.values + element);
    else if (a.value_bytes == 2)
        ((uint16_t *)a.rows.out_values)[to] = simt_load_read_only((const uint16_t *)a.rows.values + element);
    else if (a.value_bytes == 8)
        ((uint64_t *)a.rows.out_values)[to] = simt_load_read_only((const uint64_t *)a.rows.values + element);
    else
        ((uint8_t *)a.rows.out_values)[to] = simt_load_read_only((const uint8_t *)a.rows.values + element);
}

TOPK_DEVICE void write_index(const struct compact_args &a, int64_t to, int64_t element, int64_t position) {
    const struct row_args &r = a.rows;
    position += r.index_base;
    if (r.wide_indices)
        ((int64_t *)r.out_indices)[to] =
            r.payload != nullptr ? simt_load_read_only((const int64_t *)r.payload + element) : position;
    else
        ((int32_t *)r.out_indices)[to] = r.payload != nullptr
                                             ? simt_load_read_only((const int32_t *)r.payload + element)
                                             : (int32_t)position;
}

/* Positions in dense rows. Elements of a tile are close to one another, so that few divisions take 64 bits.
 */
struct dense_positions {
    int64_t row_start; /* of the row with the tile's first element */
    int64_t length;    /* of each row */
    bool narrow;

    TOPK_MEMBER int64_t of(int64_t at) const {
        int64_t rest = at - row_start;
        if (narrow)
            return (uint32_t)rest % (uint32_t)length;
        TOPK_REACHED(REACHED_COMPACT_LONG_ROWS);
        return rest < length ? rest : rest - length; /* a tile has parts of two rows at most */
    }
};

TOPK_DEVICE struct dense_positions positions_of_dense(const struct compact_args &a,
                                                      const struct compact_tile &t) {
    const int64_t length = a.rows.length_max;
    if (a.rows.rows == 1)
        return dense_positions{0, length, false};
    return dense_positions{t.begin / length * length, length, length <= COMPACT_NARROW_ROW};
}

/* Whether results are positions of 32 bits and nothing else. */
TOPK_DEVICE bool wants_positions(const struct row_args &r) {
    return r.out_values == nullptr && !r.wide_indices && r.payload == nullptr;
}

/* Writes the first `count` hits of a tile in one row behind `base` results. `element` and `index` are those
 * of offset 0. */
template <uint32_t THREADS>
TOPK_DEVICE void write_hits_of_row(const struct compact_args &a, simt_shared<uint16_t> list, int64_t element,
                                   int64_t index, uint64_t base, uint32_t count) {
    const struct row_args &r = a.rows;
    if (r.out_values != nullptr && a.value_bytes == 1)
        write_values<THREADS>((uint8_t *)r.out_values + base, list, (const uint8_t *)r.values + element,
                              count);
    if (r.out_values != nullptr && a.value_bytes == 2)
        write_values<THREADS>((uint16_t *)r.out_values + base, list, (const uint16_t *)r.values + element,
                              count);
    if (r.out_values != nullptr && a.value_bytes == 4)
        write_values<THREADS>((uint32_t *)r.out_values + base, list, (const uint32_t *)r.values + element,
                              count);
    if (r.out_values != nullptr && a.value_bytes == 8)
        write_values<THREADS>((uint64_t *)r.out_values + base, list, (const uint64_t *)r.values + element,
                              count);
    if (r.out_indices == nullptr)
        return;
    if (r.payload != nullptr && r.wide_indices)
        write_values<THREADS>((uint64_t *)r.out_indices + base, list, (const uint64_t *)r.payload + element,
                              count);
    else if (r.payload != nullptr)
        write_values<THREADS>((uint32_t *)r.out_indices + base, list, (const uint32_t *)r.payload + element,
                              count);
    else if (r.wide_indices)
        write_positions<THREADS>((int64_t *)r.out_indices + base, list, index, count);
    else
        write_positions<THREADS>((int32_t *)r.out_indices + base, list, (int32_t)index, count);
}

/* Writes the first `count` hits of the tile behind `base` results. */
template <uint32_t THREADS>
TOPK_DEVICE void write_hits(const struct compact_args &a, simt_shared<uint16_t> list,
                            const struct compact_tile &t, uint64_t base, uint32_t count) {
    struct row_cursor cursor = t.first;
    struct dense_positions dense = {0, 1, false};
    if (t.is_single && (!a.dense || a.rows.rows == 1)) {
        const int64_t position = t.origin - t.first.start;
        write_hits_of_row<THREADS>(a, list, t.first.begin + position, position + a.rows.index_base, base,
                                   count);
        return;
    }
    if (a.dense)
        dense = positions_of_dense(a, t);
    if (t.is_single)
        cursor.end = INT64_MAX;
    for (uint32_t i = simt_thread(); i < count; i += THREADS) {
        int64_t at = t.origin + (uint16_t)list[i], to = (int64_t)base + i;
        cursor.move_to(a, at, t.last_row);
        int64_t position = at - cursor.start, element = cursor.begin + position;
        if (a.rows.out_values != nullptr)
            copy_value(a, to, element);
        if (a.rows.out_indices != nullptr)
            write_index(a, to, element, a.dense ? dense.of(at) : position);
    }
}

/* Writes where the results of those rows begin that start in the tile. */
template <uint32_t THREADS>
TOPK_DEVICE void write_offsets(const struct compact_args &a, simt_shared<uint16_t> list,
                               const struct compact_tile &t, uint64_t base, uint32_t count) {
    for (int64_t row = t.row_begin + simt_thread(); row < t.row_end; row += THREADS) {
        int64_t start = a.dense ? row * a.rows.length_max : a.starts[row];
        a.offsets[row] = (int64_t)base + hits_before(list, count, start - t.origin);
    }
}

/* How many of a tile's hits the outputs have room for, behind `base` results. */
TOPK_DEVICE uint32_t fitting_hits(const struct compact_args &a, uint64_t base, uint32_t count) {
    if (base + count <= (uint64_t)a.capacity)
        return count;
    TOPK_REACHED(REACHED_COMPACT_CAPACITY);
    return base < (uint64_t)a.capacity ? (uint32_t)((uint64_t)a.capacity - base) : 0;
}

/* Writes the results of a tile behind `base` others, and its rows' offsets. */
template <uint32_t THREADS>
TOPK_DEVICE void write_tile(const struct compact_args &a, simt_shared<uint16_t> list,
                            const struct compact_tile &t, uint64_t base, uint32_t count) {
    if (a.rows.out_values != nullptr || a.rows.out_indices != nullptr)
        write_hits<THREADS>(a, list, t, base, fitting_hits(a, base, count));
    if (a.offsets != nullptr)
        write_offsets<THREADS>(a, list, t, base, count);
}

#endif
