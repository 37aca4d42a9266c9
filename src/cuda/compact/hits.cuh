/* SPDX-License-Identifier: Apache-2.0
 * Which elements of a tile match: a bit for each, whether values or a mask decide. */
#ifndef TOPK_SRC_CUDA_COMPACT_HITS_CUH
#define TOPK_SRC_CUDA_COMPACT_HITS_CUH

#include "../predicate/arcs.cuh"
#include "../predicate/masks.cuh"
#include "tile.cuh"

/* The elements of a tile at offsets [from, to). */
struct offset_range {
    uint32_t from, to;

    /* A bit for each of `per` offsets from `offset` on. */
    TOPK_MEMBER uint32_t mask(uint32_t offset, uint32_t per) const {
        uint32_t end = to > offset ? low_bits(to - offset) : 0;
        return end & low_bits(per) & ~(from > offset ? low_bits(from - offset) : 0);
    }
};

TOPK_DEVICE struct offset_range range_of_tile(const struct compact_tile &t) {
    return offset_range{(uint32_t)(t.begin - t.origin), (uint32_t)(t.end - t.origin)};
}

/* What a thread loads of a tile in one row. */
template <typename Source> struct compact_raw { simt_u32x4 groups[compact_shape<Source>::GROUPS]; };
template <> struct compact_raw<mask_bits> { uint32_t bits; };

/* ---- Elements that are compared ---- */

template <typename Source> struct compact_source {
    typedef key_word_t<Source> word;
    typedef compact_shape<Source> shape;
    const Source *elements;
    arc_test<Source, true> arc;

    static TOPK_MEMBER compact_source of(const struct compact_args &a) {
        return compact_source{(const Source *)a.source, arc_test<Source, true>::of(a.predicate)};
    }
    TOPK_MEMBER word fetch(int64_t element) const {
        return (word)simt_load_read_only(elements + element) << arc.SHIFT;
    }
    TOPK_MEMBER bool is_hit(word fetched, int64_t) const {
        return arc.template holds<true>(fetched) && !arc.none;
    }

    /* Loads the elements of a group that are inside; zeros for the others. */
    TOPK_MEMBER simt_u32x4 load_some(const Source *from, uint32_t inside) const {
        const uint32_t of_word = sizeof(Source) < 4 ? 4 / sizeof(Source) : 1;
        uint32_t words[4] = {};
#pragma unroll
        for (uint32_t j = 0; j < shape::PER; j++)
            if ((inside >> j & 1) != 0) {
                uint64_t bits = (uint64_t)simt_load_read_only(from + j);
                words[j * sizeof(Source) / 4] |= (uint32_t)bits << j % of_word * 8 * sizeof(Source);
                if (sizeof(Source) == 8)
                    words[j * 2 + 1] = (uint32_t)(bits >> 32);
            }
        return simt_u32x4{words[0], words[1], words[2], words[3]};
    }

    /* For a tile in one row. */
    TOPK_MEMBER compact_raw<Source> load(const struct compact_tile &t) const {
        const uint32_t offset = offset_of_thread<Source>(), step = SIMT_WARP * shape::PER;
        const Source *from = elements + (t.first.begin + (t.origin - t.first.start) + offset);
        compact_raw<Source> raw;
        const struct offset_range range = range_of_tile(t);
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++) {
            uint32_t inside = range.mask(offset + g * step, shape::PER);
            raw.groups[g] = inside == low_bits(shape::PER) ? simt_load16_read_only(from + g * step)
                                                           : load_some(from + g * step, inside);
        }
        return raw;
    }

    /* For a tile of dense rows that has an element at each offset. */
    TOPK_MEMBER compact_raw<Source> load_full(const struct compact_args &a, uint32_t tile) const {
        const uint32_t offset = offset_of_thread<Source>(), step = SIMT_WARP * shape::PER;
        const Source *from = elements - behind_line<Source>(a, 0) + offset;
        compact_raw<Source> raw;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++)
            raw.groups[g] = simt_load16_read_only(from + (int64_t)tile * shape::DENSE_TILE + g * step);
        return raw;
    }

    /* Bit PER * g + j: element j of group g, whether or not it is in the tile. */
    TOPK_MEMBER uint32_t hits(const compact_raw<Source> &raw) const {
        uint32_t hits =
            arc.flip == 0 ? arc.template matches<false>(raw.groups) : arc.template matches<true>(raw.groups);
        return arc.none ? 0 : hits;
    }

    /* The bits of the elements that are in the tile. */
    TOPK_MEMBER uint32_t inside(const struct compact_tile &t) const {
        const uint32_t offset = offset_of_thread<Source>(), step = SIMT_WARP * shape::PER;
        const struct offset_range range = range_of_tile(t);
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++)
            bits |= range.mask(offset + g * step, shape::PER) << g * shape::PER;
        return bits;
    }
};

/* ---- A mask of bits ---- */

template <> struct compact_source<mask_bits> {
    typedef uint32_t word;
    typedef compact_shape<mask_bits> shape;
    const uint8_t *bytes;

    static TOPK_MEMBER compact_source of(const struct compact_args &a) {
        return compact_source{(const uint8_t *)a.source};
    }
    TOPK_MEMBER uint32_t fetch(int64_t element) const {
        return simt_load_read_only(bytes + element / 8);
    }
    TOPK_MEMBER bool is_hit(uint32_t fetched, int64_t element) const {
        return (fetched >> (uint32_t)(element % 8) & 1) != 0;
    }
    TOPK_MEMBER compact_raw<mask_bits> load(const struct compact_tile &t) const {
        const uint32_t offset = offset_of_thread<mask_bits>(),
                       inside = range_of_tile(t).mask(offset, shape::PER);
        if (inside == 0)
            return compact_raw<mask_bits>{0};
        int64_t element = t.first.begin + (t.origin - t.first.start) + offset;
        return compact_raw<mask_bits>{load_mask_bits(bytes, element, simt_popc(inside)) & inside};
    }
    TOPK_MEMBER compact_raw<mask_bits> load_full(const struct compact_args &a, uint32_t tile) const {
        return load(dense_tile<mask_bits>(a, tile));
    }
    TOPK_MEMBER uint32_t hits(const compact_raw<mask_bits> &raw) const {
        return raw.bits;
    }
    TOPK_MEMBER uint32_t inside(const struct compact_tile &) const {
        return 0xffffffffu; /* load() has left out the rest */
    }
};

/* ---- Tiles of several rows ---- */

/* Element by element: lane i gets the bits of its warp's elements [32 i, 32 i + 32). All lanes. */
template <typename Source>
TOPK_DEVICE uint32_t hits_of_several(const struct compact_args &a, const compact_source<Source> &source,
                                     const struct compact_tile &t) {
    const uint32_t ITEMS = compact_shape<Source>::ITEMS, BATCH = COMPACT_BATCH;
    struct row_cursor cursor = t.first;
    int64_t at = t.begin + simt_warp() * SIMT_WARP * ITEMS + simt_lane();
    uint32_t mine = 0;
    for (uint32_t i = 0; i < ITEMS; i += BATCH) {
        typename compact_source<Source>::word fetched[BATCH];
        uint32_t bit[BATCH];
#pragma unroll
        for (uint32_t j = 0; j < BATCH; j++) {
            int64_t here = at + (i + j) * SIMT_WARP;
            fetched[j] = 0;
            bit[j] = 0;
            if (here < t.end) {
                cursor.move_to(a, here, t.last_row);
                int64_t element = cursor.begin + (here - cursor.start);
                fetched[j] = source.fetch(element);
                bit[j] = (uint32_t)(element % 8);
            }
        }
#pragma unroll
        for (uint32_t j = 0; j < BATCH; j++) {
            bool inside = at + (i + j) * SIMT_WARP < t.end;
            uint32_t word = simt_ballot(SIMT_ALL_LANES, inside && source.is_hit(fetched[j], bit[j]));
            if (simt_lane() == i + j)
                mine = word;
        }
    }
    return mine;
}

#endif
