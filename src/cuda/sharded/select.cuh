/* SPDX-License-Identifier: Apache-2.0
 * The results of a shard, in order of position, in one pass over its elements (tile_loop.cuh).
 *
 * Elements above the k-th are results. Those that tie with it are results, too, or none of them is, unless
 * ties are cut in this shard: then its first ones are. So a tile has hits of two kinds. Its results come
 * behind the results of earlier tiles, whose ties count only as far as they are results: look-back adds up
 * both kinds, in one word, for each row by itself. */
#ifndef TOPK_SRC_CUDA_SHARDED_SELECT_CUH
#define TOPK_SRC_CUDA_SHARDED_SELECT_CUH

#include "../tile_loop.cuh"
#include "open.cuh"

/* A row's segment, or one of its tiles. */
template <typename Element> struct shard_tile {
    typedef key_word_t<Element> word;
    const Element *values; /* of the segment */
    int64_t row;
    int32_t first;  /* as in filter_tile: maybe before the segment */
    int32_t length; /* of the segment; 0 if nothing is asked of it */
    word begin, span, tie_begin, tie_span;
    bool none, cuts; /* as in selected_row */

    static TOPK_MEMBER shard_tile of_row(const struct sharded_args &a, int64_t row) {
        const struct selected_row selected = a.selected.rows[row];
        const struct row r = row_at(a.rows, row);
        shard_tile t = {};
        t.row = row;
        t.values = (const Element *)a.rows.values + (r.begin + a.selected.segment);
        t.first = -(int32_t)((uintptr_t)t.values % 16 / sizeof(Element));
        t.length = selected.skip ? 0 : (int32_t)clamp_extent(r.length - a.selected.segment, SHARDED_SEGMENT);
        t.begin = (word)selected.begin;
        t.span = (word)selected.span;
        t.tie_begin = (word)selected.tie_begin;
        t.tie_span = (word)selected.tie_span;
        t.none = selected.none != 0;
        t.cuts = selected.cuts != 0;
        return t;
    }
    /* Of the element at offset 0: in the input. */
    TOPK_MEMBER int64_t element(const struct sharded_args &a) const {
        return values - (const Element *)a.rows.values + first;
    }
};

/* All tiles of a launch: as many of each row, with words of its own. */
struct shard_sequence {
    const struct sharded_args &a;
    uint32_t tiles;

    TOPK_MEMBER uint32_t draw(void) const {
        const uint64_t tile = simt_atomic_add(a.selected.ticket, (uint64_t)1);
        return tile < tiles ? (uint32_t)tile : NO_TILE;
    }
    TOPK_MEMBER void publish(uint32_t tile, uint32_t sum) const {
        publish_sum(words_of(tile), in_row(tile), spread(sum));
    }
    /* The slot of the tile's first result, and how many of its ties are results. */
    TOPK_MEMBER uint64_t before(uint32_t tile, uint32_t sum) const {
        const struct sum_words words = words_of(tile);
        const int64_t row = a.selected.first + row_of(tile);
        const struct selected_row &selected = a.selected.rows[row];
        const int64_t left = greater(selected.ties - selected.tied, 0), begun = selected.written,
                      tied = selected.tied;
        const uint64_t both = look_back(words, in_row(tile), spread(sum), look_ahead(words, in_row(tile)));
        const int64_t above = (int64_t)(both & (((uint64_t)1 << SHARDED_TIES_SHIFT) - 1)),
                      equal = (int64_t)(both >> SHARDED_TIES_SHIFT), own = sum >> SECOND_KIND_SHIFT,
                      taken = lesser(equal, left), ties = lesser(own, left - taken),
                      slot = begun + above + taken;
        if (simt_lane() == 0 && in_row(tile) + 1 == a.selected.tiles)
            a.selected.written[row] =
                sharded_written{slot + (int64_t)(sum & FIRST_KIND) + ties, tied + equal + own};
        return (uint64_t)slot | (uint64_t)ties << SHARDED_TAKEN_SHIFT;
    }
    TOPK_MEMBER uint32_t in_row(uint32_t tile) const {
        return a.selected.count == 1 ? tile : tile % a.selected.tiles;
    }

    TOPK_MEMBER uint32_t row_of(uint32_t tile) const {
        return a.selected.count == 1 ? 0 : tile / a.selected.tiles;
    }

  private:
    static TOPK_MEMBER int64_t lesser(int64_t one, int64_t other) {
        return one < other ? one : other;
    }
    static TOPK_MEMBER int64_t greater(int64_t one, int64_t other) {
        return one > other ? one : other;
    }
    TOPK_MEMBER struct sum_words words_of(uint32_t tile) const {
        return sum_words_of(a.selected.words + row_of(tile) * a.selected.words_of_row, a.selected.tiles);
    }
    /* The two counts of a tile, apart: a segment has fewer than 2^31 of each. */
    static TOPK_MEMBER uint64_t spread(uint32_t sum) {
        return (sum & FIRST_KIND) | (uint64_t)(sum >> SECOND_KIND_SHIFT) << SHARDED_TIES_SHIFT;
    }
};

/* How many of the first `count` offsets, which ascend, are below one. */
TOPK_DEVICE uint32_t offsets_below(simt_shared<uint16_t> offsets, uint32_t count, uint32_t offset) {
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if ((uint16_t)offsets[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The tiles, for tile_loop.cuh. */
template <typename Element> struct shard_tiles {
    typedef tile_shape<Element> shape;
    typedef body_tile<Element> raw;
    typedef key_word_t<Element> word;
    static const uint32_t THREADS = SHARDED_SELECT_THREADS, ITEMS = shape::PER * shape::GROUPS,
                          WORKERS = THREADS - SIMT_WARP, SIZE = WORKERS * ITEMS;
    static_assert(SIZE <= FIRST_KIND && SIZE == SHARDED_SELECT_TILE(sizeof(Element)),
                  "sharded.c counts on it");
    static_assert(SHARDED_SEGMENT % (16 / sizeof(Element)) == 0, "all segments of a row begin alike");
    const struct sharded_args &a;
    shard_sequence sequence;
    bool by_points;
    shard_tile<Element> first_row;

    TOPK_MEMBER bool lists(void) const {
        return true;
    }
    TOPK_MEMBER shard_tile<Element> at(uint32_t tile) const {
        shard_tile<Element> t = first_row;
        if (a.selected.count > 1)
            t = shard_tile<Element>::of_row(a, a.selected.first + sequence.row_of(tile));
        t.first += (int32_t)(sequence.in_row(tile) * SIZE);
        return t;
    }
    /* As in survivor_tiles. */
    static TOPK_MEMBER uint32_t offset(void) {
        return simt_warp() * SIMT_WARP * ITEMS + simt_lane() * shape::PER;
    }
    TOPK_MEMBER bool is_full(const shard_tile<Element> &t) const {
        return t.first >= 0 && t.first + (int32_t)SIZE <= t.length;
    }
    TOPK_MEMBER void load(uint32_t tile, raw &to) const {
        const shard_tile<Element> t = at(tile);
        const int32_t first = t.first + (int32_t)offset();
        const bool full = is_full(t);
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++) {
            const int32_t from = first + (int32_t)(g * SIMT_WARP * shape::PER);
            to.raw[g] = full ? simt_load16_read_only(t.values + from) : load_within(t.values, from, t.length);
        }
    }
    TOPK_MEMBER struct paired_bits hits(uint32_t tile, const raw &from) const {
        const shard_tile<Element> t = at(tile);
        struct paired_bits bits = {t.none ? 0 : in_arc(from, t.begin, t.span), 0};
        const bool ties = t.cuts && simt_any(SIMT_ALL_LANES, may_tie(t, from));
        if (ties)
            bits.second = in_arc(from, t.tie_begin, t.tie_span);
        uint32_t wanted = is_full(t) ? low_bits(ITEMS) : inside(t);
        if (a.predicate.is_given)
            wanted = matching(t, from, wanted);
        bits.first &= wanted;
        bits.second &= wanted;
        bits.first = gather_bits<shape::PER, shape::GROUPS>(bits.first);
        if (ties)
            bits.second = gather_bits<shape::PER, shape::GROUPS>(bits.second);
        return bits;
    }
    TOPK_MEMBER void write(uint32_t tile, simt_shared<uint16_t> list, uint64_t base, uint32_t count) const {
        const shard_tile<Element> t = at(tile);
        const uint32_t above = count & FIRST_KIND, ties = (uint32_t)(base >> SHARDED_TAKEN_SHIFT);
        const int64_t slot = (int64_t)(base & (((uint64_t)1 << SHARDED_TAKEN_SHIFT) - 1)),
                      room = a.rows.k_max - slot;
        if (ties == 0)
            write_run(t, list, slot, room < above ? (uint32_t)clamp_extent(room, above) : above);
        else
            write_merged(t, list, slot, above, ties);
    }

  private:
    /* Whether an element may tie with the k-th. Where few tiles have ties, a minimum takes fewer instructions
     * than a bit for each element; elements of 32 bits alone gain by it. */
    TOPK_MEMBER bool may_tie(const shard_tile<Element> &t, const raw &from) const {
        if (!by_points || sizeof(Element) != 4)
            return true;
        const word flip = (word)a.rows.map.negative;
        word nearest = ~(word)0;
#pragma unroll
        for (uint32_t item = 0; item < ITEMS; item++) {
            const word element = from.bits(item / shape::PER, item % shape::PER),
                       negative = (word)0 - (element >> (8 * sizeof(Element) - 1)),
                       distance = (element ^ (negative & flip)) - t.tie_begin;
            nearest = distance < nearest ? distance : nearest;
        }
        return nearest <= t.tie_span;
    }
    /* Bit PER * g + i: whether element i of group g is in an arc. */
    TOPK_MEMBER uint32_t in_arc(const raw &from, word begin, word span) const {
        typedef arc_test<Element, true> test;
        if (by_points) {
            const word below = ((word)1 << test::SHIFT) - 1, flip = (word)a.rows.map.negative << test::SHIFT;
            const test arc = {flip, begin << test::SHIFT, span << test::SHIFT | below, false};
            return flip == 0 ? arc.template matches<false>(from.raw) : arc.template matches<true>(from.raw);
        }
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t item = 0; item < ITEMS; item++) {
            const word element = from.bits(item / shape::PER, item % shape::PER),
                       code = uncut_code_of<Element>(element, a.rows.map);
            bits |= (uint32_t)((word)(code - begin) <= span) << item;
        }
        return bits;
    }
    /* The bits of elements that are in the segment. */
    TOPK_MEMBER uint32_t inside(const shard_tile<Element> &t) const {
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++) {
            const int32_t first = t.first + (int32_t)(offset() + g * SIMT_WARP * shape::PER);
            const uint32_t wanted =
                bits_below<shape::PER>(t.length - first) & ~bits_below<shape::PER>(-first);
            bits |= wanted << g * shape::PER;
        }
        return bits;
    }
    /* The `wanted` elements that meet the predicate. */
    TOPK_MEMBER uint32_t matching(const shard_tile<Element> &t, const raw &from, uint32_t wanted) const {
        const matcher<Element, true> predicate = matcher<Element, true>::of(a.predicate);
        uint32_t bits = 0;
        if (predicate.mask == nullptr) {
#pragma unroll
            for (uint32_t item = 0; item < ITEMS; item++)
                bits |= (uint32_t)predicate.in_arc(from.bits(item / shape::PER, item % shape::PER)) << item;
            return predicate.none ? 0 : bits & wanted;
        }
        const int64_t element = t.element(a) + offset();
#pragma unroll 1
        for (uint32_t left = wanted; left != 0; left &= left - 1) {
            const uint32_t item = simt_ffs(left) - 1, g = item / shape::PER, i = item % shape::PER;
            bits |= (uint32_t)predicate.is_masked_in(element + g * SIMT_WARP * shape::PER + i) << item;
        }
        return bits;
    }
    /* Writes the first `count` hits, side by side. */
    TOPK_MEMBER void write_run(const shard_tile<Element> &t, simt_shared<uint16_t> list, int64_t slot,
                               uint32_t count) const {
        const struct row_args &r = a.rows;
        const int64_t to = t.row * r.k_max + slot, element = t.element(a),
                      index = a.selected.segment + t.first + r.index_base;
        if (r.out_values != nullptr)
            write_values<WORKERS>((Element *)r.out_values + to, list, t.values + t.first, count);
        if (r.out_indices == nullptr)
            return;
        if (r.payload != nullptr && r.wide_indices)
            write_values<WORKERS>((uint64_t *)r.out_indices + to, list, (const uint64_t *)r.payload + element,
                                  count);
        else if (r.payload != nullptr)
            write_values<WORKERS>((uint32_t *)r.out_indices + to, list, (const uint32_t *)r.payload + element,
                                  count);
        else if (r.wide_indices)
            write_positions<WORKERS>((int64_t *)r.out_indices + to, list, index, count);
        else
            write_positions<WORKERS>((int32_t *)r.out_indices + to, list, (int32_t)index, count);
    }
    /* Writes `above` hits and the first `ties` of those that lie behind them in the list, by position. */
    TOPK_MEMBER void write_merged(const shard_tile<Element> &t, simt_shared<uint16_t> list, int64_t slot,
                                  uint32_t above, uint32_t ties) const {
        const int64_t position = a.selected.segment + t.first, begin = t.element(a) - position;
        const simt_shared<uint16_t> tied = simt_shared_part(list, above, ties);
        for (uint32_t i = simt_thread(); i < above + ties; i += WORKERS) {
            const uint32_t offset = (uint16_t)list[i];
            const uint32_t others =
                i < above ? offsets_below(tied, ties, offset) : offsets_below(list, above, offset);
            const int64_t to = slot + (i < above ? i : i - above) + others;
            if (to < a.rows.k_max)
                write_output<Element>(a.rows, t.row * a.rows.k_max + to, begin,
                                      simt_load_read_only(t.values + t.first + offset), position + offset);
        }
    }
};

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(SHARDED_SELECT_THREADS,
                        SHARDED_SELECT_BLOCKS_PER_SM) void sharded_select(struct sharded_args a) {
    simt_arena arena = simt_shared_arena();
    const struct tile_shared s = carve_tiles<shard_tiles<Element>>(arena);
    if (!is_begun(a))
        return;
    const shard_sequence sequence = {a, (uint32_t)(a.selected.count * a.selected.tiles)};
    run_tiles(shard_tiles<Element>{a, sequence, codes_follow_points<Element>(a.rows.map),
                                   shard_tile<Element>::of_row(a, a.selected.first)},
              sequence, s);
}

#endif
