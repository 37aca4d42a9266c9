/* SPDX-License-Identifier: Apache-2.0
 * Which elements of a tile meet the predicate: in a bit for each, whatever they are compared by. */
#ifndef TOPK_SRC_CUDA_COMPACT_HITS_CUH
#define TOPK_SRC_CUDA_COMPACT_HITS_CUH

#include "tile.cuh"

/* The lowest `count` of 32 bits. */
TOPK_DEVICE uint32_t low_bits(uint32_t count) {
    return count >= 32 ? 0xffffffffu : (1u << count) - 1;
}

/* The elements of a tile that lie in [from, to), by their places. */
struct place_range {
    uint32_t from, to;

    /* As bits of the `per` places from `place` on. */
    TOPK_MEMBER uint32_t mask(uint32_t place, uint32_t per) const {
        uint32_t end = to > place ? low_bits(to - place) : 0;
        return end & low_bits(per) & ~(from > place ? low_bits(from - place) : 0);
    }
};

TOPK_DEVICE struct place_range range_of_tile(const struct compact_tile &t) {
    return place_range{(uint32_t)(t.begin - t.origin), (uint32_t)(t.end - t.origin)};
}

/* ---- Elements that are compared ---- */

template <typename Source> struct compact_source {
    typedef key_word_t<Source> word;
    typedef compact_shape<Source> shape;
    const Source *elements;
    word flip, begin, span;
    bool complement;

    TOPK_MEMBER bool in_arc(word bits) const {
        word negative = (word)0 - (bits >> (8 * sizeof(Source) - 1));
        word turned = (bits ^ (negative & flip)) - begin;
        if (sizeof(Source) < sizeof(word))
            turned &= (word)(Source) ~(Source)0;
        return turned <= span;
    }
    TOPK_MEMBER word fetch(int64_t element) const {
        return simt_load_read_only(elements + element);
    }
    TOPK_MEMBER bool hit(word fetched, int64_t) const {
        return in_arc(fetched) != complement;
    }

    /* Bits of a full group. */
    TOPK_MEMBER uint32_t hits_of_group(const simt_u32x4 &raw) const {
        uint32_t hits = 0;
#pragma unroll
        for (uint32_t j = 0; j < shape::PER; j++) {
            const uint32_t byte = j * (uint32_t)sizeof(Source);
            uint32_t low = byte / 4 == 0 ? raw.x : byte / 4 == 1 ? raw.y : byte / 4 == 2 ? raw.z : raw.w;
            word bits = (word)(Source)(low >> byte % 4 * 8);
            if (sizeof(Source) == 8)
                bits = (word)(byte == 0 ? raw.x | (uint64_t)raw.y << 32 : raw.z | (uint64_t)raw.w << 32);
            hits |= (uint32_t)in_arc(bits) << j;
        }
        return hits;
    }

    /* Of a tile in one row: bit PER * g + j is for element j of the thread's group g. */
    TOPK_MEMBER uint32_t hits_of_single(const struct compact_tile &t, uint32_t place) const {
        const struct place_range range = range_of_tile(t);
        const Source *from = elements + (t.first.begin + (t.origin - t.first.start) + place);
        simt_u32x4 raw[shape::GROUPS];
        uint32_t hits = 0;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++) {
            const uint32_t ahead = g * SIMT_WARP * shape::PER;
            bool full = range.mask(place + ahead, shape::PER) == low_bits(shape::PER);
            raw[g] = full ? simt_load16_read_only(from + ahead) : simt_u32x4{0, 0, 0, 0};
        }
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++) {
            const uint32_t ahead = g * SIMT_WARP * shape::PER;
            uint32_t inside = range.mask(place + ahead, shape::PER), found = 0;
            if (inside == low_bits(shape::PER))
                found = hits_of_group(raw[g]);
            else
                for (uint32_t left = inside; left != 0; left &= left - 1)
                    found |= (uint32_t)in_arc(simt_load_read_only(from + ahead + simt_ffs(left) - 1))
                             << (simt_ffs(left) - 1);
            hits |= ((complement ? ~found : found) & inside) << g * shape::PER;
        }
        return hits;
    }
};

template <typename Source>
TOPK_DEVICE compact_source<Source> source_of(const struct compact_args &a, Source *) {
    typedef key_word_t<Source> word;
    const struct compact_match match = a.bounds.bounds != nullptr ? *a.found_match : a.match;
    return compact_source<Source>{(const Source *)a.source, (word)a.flip, (word)match.begin, (word)match.span,
                                  match.complement};
}

/* ---- A mask of bits ---- */

template <> struct compact_source<mask_bits> {
    typedef uint32_t word;
    typedef compact_shape<mask_bits> shape;
    const uint8_t *bytes;

    TOPK_MEMBER uint32_t fetch(int64_t element) const {
        return simt_load_read_only(bytes + element / 8);
    }
    TOPK_MEMBER bool hit(uint32_t fetched, int64_t element) const {
        return (fetched >> (uint32_t)(element % 8) & 1) != 0;
    }
    TOPK_MEMBER uint32_t hits_of_single(const struct compact_tile &t, uint32_t place) const {
        uint32_t inside = range_of_tile(t).mask(place, shape::PER);
        if (inside == 0)
            return 0;
        int64_t element = t.first.begin + (t.origin - t.first.start) + place;
        uint32_t shift = (uint32_t)(element % 8), count = simt_popc(inside); /* the lowest ones */
        uint64_t bits = 0;
        for (uint32_t i = 0; i < (shift + count + 7) / 8; i++)
            bits |= (uint64_t)simt_load_read_only(bytes + element / 8 + i) << 8 * i;
        return (uint32_t)(bits >> shift) & inside;
    }
};

TOPK_DEVICE compact_source<mask_bits> source_of(const struct compact_args &a, mask_bits *) {
    return compact_source<mask_bits>{(const uint8_t *)a.source};
}

/* ---- Tiles of several rows ---- */

/* Element by element: lane i has the bits of elements [32 i, 32 i + 32) of what its warp has. All lanes. */
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
            uint32_t word = simt_ballot(SIMT_ALL_LANES, inside && source.hit(fetched[j], bit[j]));
            if (simt_lane() == i + j)
                mine = word;
        }
    }
    return mine;
}

#endif
