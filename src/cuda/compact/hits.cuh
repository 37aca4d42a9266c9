/* SPDX-License-Identifier: Apache-2.0
 * Which elements of a tile meet the predicate: in a bit for each, whatever they are compared by. */
#ifndef TOPK_SRC_CUDA_COMPACT_HITS_CUH
#define TOPK_SRC_CUDA_COMPACT_HITS_CUH

#include "../predicate/matcher.cuh"
#include "tile.cuh"

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

/* What a thread loads of a tile in one row. */
template <typename Source> struct compact_raw { simt_u32x4 groups[compact_shape<Source>::GROUPS]; };
template <> struct compact_raw<mask_bits> { uint32_t bits; };

/* ---- Elements that are compared ---- */

/* Four bytes at once. */
static const uint32_t TOP_BITS = 0x80808080u;

TOPK_DEVICE uint32_t four_times(uint32_t byte) {
    return byte * 0x01010101u;
}

/* All bits of those bytes whose top bit is set. */
TOPK_DEVICE uint32_t negative_bytes(uint32_t bytes) {
    uint32_t ones = (bytes & TOP_BITS) >> 7;
    return (ones << 8) - ones;
}

/* The top bit of each byte says whether byte - begin is at most span, modulo 256. The low seven bits are
 * subtracted where a bit set above them keeps the next byte from being borrowed from. */
TOPK_DEVICE uint32_t bytes_in_arc(uint32_t bytes, uint32_t begin, uint32_t span) {
    uint32_t turned = ((bytes | TOP_BITS) - (begin & ~TOP_BITS)) ^ ((bytes ^ ~begin) & TOP_BITS);
    uint32_t low_at_most = (span | TOP_BITS) - (turned & ~TOP_BITS);
    return (span & ~turned) | ((span | ~turned) & low_at_most);
}

/* The top bits of eight bytes side by side, those of `low` first. */
TOPK_DEVICE uint32_t gather_tops(uint32_t low, uint32_t high) {
    return ((low >> 7 & 0x01010101u) | (high >> 3 & 0x10101010u)) * 0x01020408u >> 24;
}

/* An element is compared as the upper bits of a word of at least 32: what is below them makes no difference.
 * Four bytes of a tile in one row are compared at once. */
template <typename Source> struct compact_source {
    typedef key_word_t<Source> word;
    typedef compact_shape<Source> shape;
    static const uint32_t BELOW = 8 * (sizeof(word) - sizeof(Source));
    const Source *elements;
    word flip, begin, span;
    bool complement;

    template <bool FLIPS> TOPK_MEMBER bool in_arc(word upper) const {
        word negative = FLIPS ? (word)0 - (upper >> (8 * sizeof(word) - 1)) : 0;
        return (word)((upper ^ (negative & flip)) - begin) <= span;
    }
    TOPK_MEMBER word fetch(int64_t element) const {
        return (word)simt_load_read_only(elements + element) << BELOW;
    }
    TOPK_MEMBER bool hit(word fetched, int64_t) const {
        return in_arc<true>(fetched) != complement;
    }
    TOPK_MEMBER static word element_of(const simt_u32x4 &group, uint32_t j) {
        const uint32_t byte = j * (uint32_t)sizeof(Source);
        uint32_t low = byte / 4 == 0 ? group.x : byte / 4 == 1 ? group.y : byte / 4 == 2 ? group.z : group.w;
        if (sizeof(Source) == 8)
            return (word)(byte == 0 ? group.x | (uint64_t)group.y << 32 : group.z | (uint64_t)group.w << 32);
        return (word)(low << (32 - 8 * (byte % 4 + (uint32_t)sizeof(Source))));
    }

    /* Those elements of a group that are inside; zeros for the others. */
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

    /* Of a tile in one row. */
    TOPK_MEMBER compact_raw<Source> load(const struct compact_tile &t) const {
        const uint32_t place = place_of_thread<Source>(), step = SIMT_WARP * shape::PER;
        const Source *from = elements + (t.first.begin + (t.origin - t.first.start) + place);
        compact_raw<Source> raw;
        const struct place_range range = range_of_tile(t);
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++) {
            uint32_t inside = range.mask(place + g * step, shape::PER);
            raw.groups[g] = inside == low_bits(shape::PER) ? simt_load16_read_only(from + g * step)
                                                           : load_some(from + g * step, inside);
        }
        return raw;
    }

    /* Of a tile of dense rows that has an element at each place. */
    TOPK_MEMBER compact_raw<Source> load_full(const struct compact_args &a, uint32_t tile) const {
        const uint32_t place = place_of_thread<Source>(), step = SIMT_WARP * shape::PER;
        const Source *from = elements - behind_line(a, 0, (Source *)nullptr) + place;
        compact_raw<Source> raw;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++)
            raw.groups[g] = simt_load16_read_only(from + (int64_t)tile * shape::DENSE_TILE + g * step);
        return raw;
    }

    /* A bit for each element that was loaded, or whose place was: PER * g + j for element j of group g. */
    TOPK_MEMBER uint32_t hits(const compact_raw<Source> &raw) const {
        uint32_t hits = flip == 0 ? hits_of<false>(raw) : hits_of<true>(raw);
        return complement ? ~hits & low_bits(shape::ITEMS) : hits;
    }
    template <bool FLIPS> TOPK_MEMBER uint32_t hits_of(const compact_raw<Source> &raw) const {
        uint32_t hits = 0;
        if (sizeof(Source) == 1) {
            hits = hits_of_bytes<FLIPS>(raw);
        } else {
#pragma unroll
            for (uint32_t i = 0; i < shape::ITEMS; i++)
                hits |= (uint32_t)in_arc<FLIPS>(element_of(raw.groups[i / shape::PER], i % shape::PER)) << i;
        }
        return hits;
    }
    template <bool FLIPS> TOPK_MEMBER uint32_t bytes_met(uint32_t bytes) const {
        if (FLIPS)
            bytes ^= negative_bytes(bytes) & four_times((uint32_t)flip >> 24);
        return bytes_in_arc(bytes, four_times((uint32_t)begin >> 24), four_times((uint32_t)span >> 24));
    }
    template <bool FLIPS> TOPK_MEMBER uint32_t hits_of_bytes(const compact_raw<Source> &raw) const {
        uint32_t hits = 0;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++) {
            const simt_u32x4 &group = raw.groups[g];
            uint32_t low = gather_tops(bytes_met<FLIPS>(group.x), bytes_met<FLIPS>(group.y)),
                     high = gather_tops(bytes_met<FLIPS>(group.z), bytes_met<FLIPS>(group.w));
            hits |= (low | high << 8) << g * shape::PER;
        }
        return hits;
    }

    /* The bits of elements that are in the tile. */
    TOPK_MEMBER uint32_t inside(const struct compact_tile &t) const {
        const uint32_t place = place_of_thread<Source>(), step = SIMT_WARP * shape::PER;
        const struct place_range range = range_of_tile(t);
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++)
            bits |= range.mask(place + g * step, shape::PER) << g * shape::PER;
        return bits;
    }
};

template <typename Source>
TOPK_DEVICE compact_source<Source> source_of(const struct compact_args &a, Source *) {
    typedef compact_source<Source> source;
    typedef typename source::word word;
    const struct match match = match_of(a.predicate);
    const word below = ((word)1 << source::BELOW) - 1;
    return source{(const Source *)a.source, (word)((word)a.predicate.flip << source::BELOW),
                  (word)((word)match.arc.begin << source::BELOW),
                  (word)((word)match.arc.span << source::BELOW | below), match.complement};
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
    TOPK_MEMBER compact_raw<mask_bits> load(const struct compact_tile &t) const {
        const uint32_t place = place_of_thread<mask_bits>(),
                       inside = range_of_tile(t).mask(place, shape::PER);
        if (inside == 0)
            return compact_raw<mask_bits>{0};
        int64_t element = t.first.begin + (t.origin - t.first.start) + place;
        uint32_t shift = (uint32_t)(element % 8), count = simt_popc(inside); /* the lowest ones */
        if (count == 32 && (uintptr_t)(bytes + element / 8) % 4 == 0 && shift == 0)
            return compact_raw<mask_bits>{simt_load_read_only((const uint32_t *)(bytes + element / 8))};
        uint64_t bits = 0;
        for (uint32_t i = 0; i < (shift + count + 7) / 8; i++)
            bits |= (uint64_t)simt_load_read_only(bytes + element / 8 + i) << 8 * i;
        return compact_raw<mask_bits>{(uint32_t)(bits >> shift) & inside};
    }
    TOPK_MEMBER compact_raw<mask_bits> load_full(const struct compact_args &a, uint32_t tile) const {
        return load(dense_tile<mask_bits>(a, tile));
    }
    TOPK_MEMBER uint32_t hits(const compact_raw<mask_bits> &raw) const {
        return raw.bits;
    }
    TOPK_MEMBER uint32_t inside(const struct compact_tile &) const {
        return 0xffffffffu; /* what is outside has not been loaded */
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
