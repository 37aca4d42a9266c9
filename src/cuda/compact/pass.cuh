/* SPDX-License-Identifier: Apache-2.0
 * The pass: hits of a tile, their places in it, what comes before it by look-back, results.
 *
 * The places of a tile's hits are listed in shared memory in ascending order. Result j of the tile is then
 * thread j's to write, so that writes are coalesced however few or many hits there are, and what is written,
 * but for the position, is fetched again: it is in a cache. */
#ifndef TOPK_SRC_CUDA_COMPACT_PASS_CUH
#define TOPK_SRC_CUDA_COMPACT_PASS_CUH

#include "../lookback.cuh"
#include "../tiles.cuh"
#include "hits.cuh"

struct compact_shared {
    simt_shared<uint32_t> scratch; /* one for each warp */
    simt_shared<uint64_t> words;   /* 4 for ragged_tile(), the unit, and what is before it */
    simt_shared<uint16_t> places;
};

template <typename Source> TOPK_HOST_DEVICE struct compact_shared carve_pass(simt_arena &arena) {
    struct compact_shared s = {};
    s.scratch = simt_carve<uint32_t>(arena, SIMT_WARP);
    s.words = simt_carve<uint64_t>(arena, 4 + 2);
    s.places = simt_carve<uint16_t>(arena, compact_shape<Source>::TILE);
    return s;
}

/* ---- Places ---- */

/* Lists the hits of a tile in one row. */
template <typename Source>
TOPK_DEVICE void list_single(const struct compact_shared &s, uint32_t hits, uint32_t place,
                             const uint32_t (&before)[compact_shape<Source>::GROUPS]) {
    typedef compact_shape<Source> shape;
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        uint32_t at = before[g];
        for (uint32_t left = hits >> g * shape::PER & low_bits(shape::PER); left != 0; left &= left - 1)
            s.places[at++] = (uint16_t)(place + g * SIMT_WARP * shape::PER + simt_ffs(left) - 1);
    }
}

/* The same for hits_of_several(). All lanes. */
template <typename Source>
TOPK_DEVICE void list_several(const struct compact_shared &s, uint32_t hits, uint32_t before) {
    const uint32_t ITEMS = compact_shape<Source>::ITEMS, lower = (1u << simt_lane()) - 1;
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint32_t word = simt_shuffle(SIMT_ALL_LANES, hits, i), at = simt_shuffle(SIMT_ALL_LANES, before, i);
        if ((word >> simt_lane() & 1) != 0)
            s.places[at + simt_popc(word & lower)] =
                (uint16_t)((simt_warp() * ITEMS + i) * SIMT_WARP + simt_lane());
    }
}

/* How many of the `count` hits lie before a place. */
TOPK_DEVICE uint32_t places_below(const struct compact_shared &s, uint32_t count, int64_t place) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if ((uint16_t)s.places[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Results ---- */

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

/* Positions in dense rows: those of a tile are close to one another, so that few divisions are of 64 bits. */
struct dense_positions {
    int64_t row_start; /* of the row that has the tile's first element */
    int64_t length;    /* of each row */
    bool narrow;

    TOPK_MEMBER int64_t of(int64_t at) const {
        int64_t rest = at - row_start;
        if (narrow)
            return (uint32_t)rest % (uint32_t)length;
        return rest < length ? rest : rest - length; /* a tile has the parts of two rows at most */
    }
};

template <typename Source>
TOPK_DEVICE struct dense_positions positions_of_dense(const struct compact_args &a,
                                                      const struct compact_tile &t) {
    const int64_t length = a.rows.length_max;
    if (a.rows.rows == 1)
        return dense_positions{0, length, false};
    return dense_positions{t.begin / length * length, length, length <= (int64_t)compact_shape<Source>::TILE};
}

/* Writes the first `count` hits of the tile behind `base` results. */
template <typename Source>
TOPK_DEVICE void write_hits(const struct compact_args &a, const struct compact_shared &s,
                            const struct compact_tile &t, uint64_t base, uint32_t count) {
    struct row_cursor cursor = t.first;
    struct dense_positions dense = {0, 1, false};
    if (a.dense)
        dense = positions_of_dense<Source>(a, t);
    if (t.is_single)
        cursor.end = INT64_MAX;
    for (uint32_t i = simt_thread(); i < count; i += COMPACT_THREADS) {
        int64_t at = t.origin + (uint16_t)s.places[i], to = (int64_t)base + i;
        cursor.move_to(a, at, t.last_row);
        int64_t position = at - cursor.start, element = cursor.begin + position;
        if (a.rows.out_values != nullptr)
            copy_value(a, to, element);
        if (a.rows.out_indices != nullptr)
            write_index(a, to, element, a.dense ? dense.of(at) : position);
    }
}

/* The offsets of the rows that start in the tile. */
TOPK_DEVICE void write_offsets(const struct compact_args &a, const struct compact_shared &s,
                               const struct compact_tile &t, uint64_t base, uint32_t count) {
    for (int64_t row = t.row_begin + simt_thread(); row < t.row_end; row += COMPACT_THREADS) {
        int64_t start = a.dense ? row * a.rows.length_max : a.starts[row];
        a.offsets[row] = (int64_t)base + places_below(s, count, start - t.origin);
    }
}

/* ---- Tiles and units ---- */

/* A unit is one tile, unless rows overlap so much that there would be too many: then it is several, which
 * are read twice, first to be counted. */
struct compact_units {
    int64_t total, tiles, of_unit, count;
};

template <typename Source> TOPK_DEVICE struct compact_units units_of(const struct compact_args &a) {
    const int64_t step = compact_shape<Source>::STEP;
    struct compact_units u;
    u.total = a.dense ? a.total : a.starts[a.rows.rows];
    u.tiles = u.total <= step ? 1 : (u.total - 1) / step + 1;
    u.of_unit = (u.tiles - 1) / a.word_count + 1;
    u.count = (u.tiles - 1) / u.of_unit + 1;
    return u;
}

/* A tile's hits on their way. */
template <typename Source> struct tile_hits {
    uint32_t bits;
    uint32_t before[compact_shape<Source>::GROUPS];
    uint32_t count; /* of the tile */
};

template <typename Source> TOPK_DEVICE uint32_t place_of_thread(void) {
    typedef compact_shape<Source> shape;
    return simt_warp() * SIMT_WARP * shape::ITEMS + simt_lane() * shape::PER;
}

template <typename Source>
TOPK_DEVICE struct tile_hits<Source>
hits_of_tile(const struct compact_args &a, const struct compact_shared &s,
             const compact_source<Source> &source, const struct compact_tile &t) {
    typedef compact_shape<Source> shape;
    struct tile_hits<Source> h;
    h.bits =
        t.is_single ? source.hits_of_single(t, place_of_thread<Source>()) : hits_of_several(a, source, t);
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++)
        h.before[g] = t.is_single ? simt_popc(h.bits >> g * shape::PER & low_bits(shape::PER))
                      : g == 0    ? simt_popc(h.bits)
                                  : 0;
    h.count = rank_hits(s.scratch, h.before);
    return h;
}

/* All threads, as all below. */
template <typename Source>
TOPK_DEVICE struct compact_tile tile_at(const struct compact_args &a, const struct compact_shared &s,
                                        const struct compact_units &u, int64_t tile) {
    const int64_t step = compact_shape<Source>::STEP, from = tile * step;
    int64_t to = u.total - from < step ? u.total : from + step;
    simt_shared<uint64_t> found = s.words;
    return a.dense ? dense_tile<Source>(a, from, to) : ragged_tile<Source>(a, found, from, to, u.total);
}

template <typename Source>
TOPK_DEVICE void write_tile(const struct compact_args &a, const struct compact_shared &s,
                            const struct compact_tile &t, const struct tile_hits<Source> &h, uint64_t base) {
    uint64_t room = base < (uint64_t)a.capacity ? (uint64_t)a.capacity - base : 0;
    if (a.rows.out_values != nullptr || a.rows.out_indices != nullptr)
        write_hits<Source>(a, s, t, base, room < h.count ? (uint32_t)room : h.count);
    if (a.offsets != nullptr)
        write_offsets(a, s, t, base, h.count);
}

template <typename Source>
TOPK_DEVICE void run_unit(const struct compact_args &a, const struct compact_shared &s,
                          const compact_source<Source> &source, const struct compact_units &u, int64_t unit) {
    const int64_t first = unit * u.of_unit, end = u.tiles - first < u.of_unit ? u.tiles : first + u.of_unit;
    bool counts = u.of_unit > 1;
    uint64_t sum = 0, base = 0;
    for (int64_t tile = first; tile < end;) {
        struct compact_tile t = tile_at<Source>(a, s, u, tile);
        struct tile_hits<Source> h = hits_of_tile(a, s, source, t);
        if (!counts) {
            if (t.is_single)
                list_single<Source>(s, h.bits, place_of_thread<Source>(), h.before);
            else
                list_several<Source>(s, h.bits, h.before[0]);
            if (tile == first && simt_warp() == 0) {
                uint64_t before = look_back(a.words, unit, u.of_unit > 1 ? sum : h.count);
                if (simt_lane() == 0)
                    s.words[5] = before;
            }
        }
        simt_block_sync();
        if (counts) {
            sum += h.count;
        } else {
            base = tile == first ? (uint64_t)s.words[5] : base;
            write_tile(a, s, t, h, base);
            base += h.count;
            simt_block_sync();
        }
        tile++;
        if (counts && tile == end) {
            counts = false;
            tile = first;
        }
    }
}

template <typename Source>
TOPK_KERNEL TOPK_BOUNDS(COMPACT_THREADS, COMPACT_BLOCKS_PER_SM) void compact_pass(struct compact_args a) {
    simt_arena arena = simt_shared_arena();
    struct compact_shared s = carve_pass<Source>(arena);
    simt_wait_predecessor();
    const compact_source<Source> source = source_of(a, (Source *)nullptr);
    const struct compact_units u = units_of<Source>(a);
    while (true) {
        if (simt_thread() == 0)
            s.words[4] = simt_atomic_add(&a.tickets[1], (uint64_t)1);
        simt_block_sync();
        int64_t unit = (int64_t)(uint64_t)s.words[4];
        if (unit >= u.count)
            return;
        run_unit(a, s, source, u, unit);
    }
}

#endif
