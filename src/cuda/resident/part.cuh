/* SPDX-License-Identifier: Apache-2.0
 * A row in the registers of a team: each warp holds a part of it, as codes. In the order of warps, and in a
 * warp as held_row says, positions ascend. */
#ifndef TOPK_SRC_CUDA_RESIDENT_PART_CUH
#define TOPK_SRC_CUDA_RESIDENT_PART_CUH

#include "../select/held.cuh"
#include "../select/sorted_results.cuh"
#include "bracket.cuh"
#include "sums.cuh"

/* Where a row comes from and goes to. */
template <typename Element, typename Team> struct team_task {
    static const bool TWO = entry_size<Element>::TWO;
    const struct resident_args &a;
    const row_memory<Element, Team> &memory;
    int64_t row;
    struct row r;

    TOPK_MEMBER Element element(uint32_t position) const {
        return simt_load_read_only(row_values<Element>(a.rows, r) + position);
    }
    TOPK_MEMBER Element element_of(const struct entry &e) const {
        return element_of_entry<Element>(a.decode, row_values<Element>(a.rows, r), TWO, e);
    }
    TOPK_MEMBER void write(uint32_t slot, Element element, uint32_t position) const {
        write_result<Element>(a.rows, row, r, slot, element, position);
    }
};

/* A map of held_row: codes.h. With less than 64 bits, elements are extended by their sign and go through a
 * multiplication by 1 or -1, since multiplications have a pipe of their own, while all else shares one. */
template <typename Element> struct as_uncut_codes {
    typedef key_word_t<Element> word;
    static const bool FILTERS = false;
    const struct code_map &map;
    uint32_t flip, sign, turn, less; /* of elements with less than 64 bits; `less` is -add */

    static TOPK_MEMBER as_uncut_codes of_map(const struct code_map &map) {
        const uint32_t always = (uint32_t)0 - (uint32_t)(map.always & 1);
        return as_uncut_codes{map, (uint32_t)map.negative | ~(uint32_t)map.keep, always | 1,
                              (uint32_t)map.turn + always, (uint32_t)0 - (uint32_t)map.add};
    }
    TOPK_MEMBER word of(word bits) const {
        if constexpr (sizeof(Element) == 8) {
            return uncut_code_of<Element>(bits, map);
        } else {
            const uint32_t up = 32 - 8 * (uint32_t)sizeof(Element);
            const int32_t element = (int32_t)(bits << up) >> up, negative = element >> 31;
            const uint32_t flipped = (uint32_t)element ^ ((uint32_t)negative & flip);
            return (Element)(flipped * sign + ((uint32_t)negative * less + turn));
        }
    }
    static TOPK_MEMBER word nothing(void) {
        return 0;
    }
};

template <typename Element, uint32_t ITEMS> struct row_part {
    typedef key_word_t<Element> word;
    held_row<Element, ITEMS> held;
    uint32_t origin;        /* position of index 0; wraps */
    uint32_t of_block;      /* the block's first position; wraps */
    struct row_count count; /* elements of the row that take part */
    const Element *values;  /* of the row */
    struct code_map map;

    TOPK_MEMBER word code(uint32_t item) const {
        return held.items[item];
    }
    TOPK_MEMBER uint32_t position(uint32_t item) const {
        return origin + held.index(item);
    }
    /* Of any element of the row: which of its items a thread needs is not known before, and registers have no
     * index. */
    TOPK_MEMBER word key_at(uint32_t position) const {
        return key_of<Element>(simt_load_read_only(values + position), map);
    }
    TOPK_MEMBER bool is_empty(void) const {
        return held.left == held.end;
    }
};

/* Which elements take part: all; or with a predicate (where.cuh). */
struct all_elements {
    template <typename Map> TOPK_MEMBER const Map &of(const Map &map, const struct row &) const {
        return map;
    }
};

/* Brings the warp's part of a row into registers, and calls meanwhile() once the loads are on their way. All
 * lanes. Parts begin where groups do, unless the row would then be too long for the team. */
template <typename Element, uint32_t ITEMS, typename Team, typename Who, typename Meanwhile>
TOPK_DEVICE row_part<Element, ITEMS> hold_part(const struct row_args &a, const struct row &r, const Who &who,
                                               const Meanwhile &meanwhile) {
    const uint32_t of_warp = SIMT_WARP * ITEMS, length = (uint32_t)r.length, warp = warp_of_team<Team>();
    uint32_t left = (uint32_t)((uintptr_t)row_values<Element>(a, r) % held_shape<Element, ITEMS>::BYTES /
                               sizeof(Element));
    left = left + length <= warps_of_team<Team>() * of_warp ? left : 0;
    const uint32_t begin = warp == 0 ? 0 : warp * of_warp - left;
    const uint32_t end = (warp + 1) * of_warp - left;
    const uint32_t of_block = Team::rank() == 0 ? 0 : Team::rank() * simt_warps() * of_warp - left;
    struct row part = r;
    part.begin += begin < length ? begin : length;
    part.length = begin >= length ? 0 : (end < length ? end : length) - begin;
    row_part<Element, ITEMS> held = {
        {},   begin, of_block, {length, of_block < length ? of_block : length}, row_values<Element>(a, r),
        a.map};
    held.held = hold_row_as<Element, ITEMS, 1>(a, part, who.of(as_uncut_codes<Element>::of_map(a.map), part),
                                               meanwhile);
    held.origin -= held.held.left;
    return held;
}

/* Warps that hold any of a row, perhaps one more. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE uint32_t warps_of_row(uint32_t length) {
    const uint32_t of_warp = SIMT_WARP * ITEMS;
    const uint32_t warps = (length + held_shape<Element, ITEMS>::PER - 1 + of_warp - 1) / of_warp;
    return warps < warps_of_team<Team>() ? warps : warps_of_team<Team>();
}

/* The greatest code of the thread's first `count` items: a power of two, or above ITEMS for all. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE key_word_t<Element> best_of_first(const row_part<Element, ITEMS> &part, uint32_t count) {
    typedef key_word_t<Element> word;
    word so_far = part.code(0), of_first = so_far;
#pragma unroll
    for (uint32_t i = 1; i < ITEMS; i++) {
        if ((i & (i - 1)) == 0)
            of_first = i == count ? so_far : of_first;
        so_far = part.code(i) > so_far ? part.code(i) : so_far;
    }
    return count >= ITEMS ? so_far : of_first;
}

/* The bracket of all codes that take part. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE code_bracket<Element> whole_bracket(const row_part<Element, ITEMS> &part) {
    return code_bracket<Element>{0, (Element) ~(Element)0, part.count, {0, 0}, part.held.holding(), 0};
}

/* Divides the bracket at both pivots. Each is the first code of a class, above the class of low and at most
 * high. One barrier; *turn changes. All threads. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void divide(const row_part<Element, ITEMS> &part, const pivot_pair<Element> &p, uint32_t k,
                        const row_memory<Element, Team> &m, uint32_t *turn, code_bracket<Element> *b) {
    static_assert(RESIDENT_ROW_MAX < 1 << 16, "two counts of a block fit a word");
    uint32_t lower = 0, upper = 0, counts = 0;
    if (!part.is_empty()) {
        lower = hits_of_pivot(part.held, p.lower);
        upper = hits_of_pivot(part.held, p.upper);
        counts = simt_reduce_add(SIMT_ALL_LANES, simt_popc(lower) + (simt_popc(upper) << 16));
    }
    const struct row_counts found = sums_of(counts, m, turn);
    divide_at(p.upper, pivot_hits{upper, found.upper}, k, b);
    if (found.upper.all < k)
        divide_at(p.lower, pivot_hits{lower, found.lower}, k, b);
}

#endif
