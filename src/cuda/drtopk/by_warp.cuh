/* SPDX-License-Identifier: Apache-2.0
 * Lanes of a warp make the delegates of a subrange.
 *
 * A warp's ring brings it unit after unit: a subrange in several chunks, or a chunk of several subranges. Of
 * these some are worked on at once, each by as many lanes as have DRTOPK_GROUPS groups of it. */
#ifndef TOPK_SRC_CUDA_DRTOPK_BY_WARP_CUH
#define TOPK_SRC_CUDA_DRTOPK_BY_WARP_CUH

#include "../select/ring.cuh"
#include "delegates.cuh"

typedef warp_rings<DRTOPK_CHUNK, DRTOPK_SLOTS> delegate_rings;

/* How units, chunks and lanes go together: all are powers of two. */
struct delegate_shape {
    uint32_t unit_exponent;       /* of a unit's elements */
    uint32_t chunks;              /* of a unit */
    uint32_t rounds;              /* of a chunk: subranges that follow one another */
    uint32_t groups, lanes, each; /* of what a round has of a subrange: groups, lanes, groups of a lane */
};

template <typename Element> TOPK_DEVICE struct delegate_shape delegate_shape_of(uint32_t exponent) {
    const uint32_t PER = tile_shape<Element>::PER, of_subrange = (1u << exponent) / PER;
    struct delegate_shape s;
    s.groups = of_subrange < DRTOPK_CHUNK ? of_subrange : (uint32_t)DRTOPK_CHUNK;
    s.lanes = s.groups < DRTOPK_GROUPS ? 1 : s.groups / DRTOPK_GROUPS;
    s.lanes = s.lanes < SIMT_WARP ? s.lanes : (uint32_t)SIMT_WARP;
    s.each = s.groups / s.lanes;
    s.chunks = of_subrange / s.groups;
    s.rounds = DRTOPK_CHUNK / (s.groups * (SIMT_WARP / s.lanes));
    s.unit_exponent = exponent + simt_clz(s.groups) - simt_clz((uint32_t)DRTOPK_CHUNK);
    return s;
}

/* A lane's share of a subrange that need not be whole, in global memory: one lane of `lanes`. */
template <typename Element>
TOPK_DEVICE best_seen<Element, DRTOPK_BETA_MAX> see_slowly(const struct code_map &map,
                                                           const subranges<Element> &of, int64_t subrange,
                                                           uint32_t lane, uint32_t lanes) {
    typedef best_seen<Element, DRTOPK_BETA_MAX> seen;
    seen best = seen::none();
    const int64_t origin = of.origin(subrange);
    for_part(of, whole_subrange(of, subrange), lane, lanes,
             [&](const simt_u32x4 &group, int64_t at, uint32_t inside) TOPK_LAMBDA {
                 for (; inside != 0; inside &= inside - 1) {
                     const uint32_t e = simt_ffs(inside) - 1;
                     best.see(key_of<Element>(any_bits_in<Element>(group, e), map),
                              (uint32_t)(at + e - origin));
                 }
             });
    return best;
}

/* Over `lanes` lanes side by side. All lanes of the warp. */
template <typename T, typename Combine>
TOPK_DEVICE T combine_lanes(T value, uint32_t lanes, const Combine &combine) {
    for (uint32_t distance = lanes / 2; distance > 0; distance /= 2)
        value = combine(value, simt_shuffle_xor(SIMT_ALL_LANES, value, distance));
    return value;
}

template <typename T> TOPK_DEVICE T greatest_of_lanes(T value, uint32_t lanes) {
    return lanes == SIMT_WARP ? (T)simt_reduce_max(SIMT_ALL_LANES, value)
                              : combine_lanes(value, lanes, [](T a, T b) { return a > b ? a : b; });
}

TOPK_DEVICE uint32_t least_of_lanes(uint32_t value, uint32_t lanes) {
    return lanes == SIMT_WARP
               ? simt_reduce_min(SIMT_ALL_LANES, value)
               : combine_lanes(value, lanes, [](uint32_t a, uint32_t b) { return a < b ? a : b; });
}

/* Takes the best `count` of what the lanes of a subrange have seen, one after the other. All lanes. */
template <typename Element>
TOPK_DEVICE void put_best(best_seen<Element, DRTOPK_BETA_MAX> best, int64_t subrange, uint32_t count,
                          uint32_t lanes, const delegate_slots<Element> &slots) {
    for (uint32_t rank = 0; rank < slots.beta; rank++) {
        const bool has = best.count > 0;
        const key_word_t<Element> greatest = greatest_of_lanes(has ? best.keys[0] : 0, lanes);
        const bool ties = has && best.keys[0] == greatest;
        const uint32_t offset = least_of_lanes(ties ? best.offsets[0] : UINT32_MAX, lanes);
        if (ties && best.offsets[0] == offset && rank < count) {
            slots.put(subrange, rank, greatest, offset);
            best.drop_first();
        }
    }
}

/* A code that the best `beta` elements of a subrange reach: `beta` of its lanes have an element of that
 * class or a better one; lane_most is the greatest uncut code of the lane. All lanes. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> bar_of_lanes(key_word_t<Element> lane_most, uint32_t lanes, uint32_t beta,
                                             const struct code_map &map) {
    if (lanes < beta)
        return 0;
    key_word_t<Element> most = 0;
    bool is_left = true;
    for (uint32_t rank = 0; rank < beta; rank++) {
        most = greatest_of_lanes(is_left ? lane_most : 0, lanes);
        const bool has = is_left && lane_most == most;
        const uint32_t first = least_of_lanes(has ? simt_lane() : UINT32_MAX, lanes);
        is_left = is_left && simt_lane() != first;
    }
    return uncut_class_first<Element>(most, map);
}

/* What a warp does with a row. */
template <typename Element> struct delegates_by_lanes {
    typedef key_word_t<Element> word;
    typedef best_seen<Element, DRTOPK_BETA_MAX> seen;
    static const uint32_t PER = tile_shape<Element>::PER, EACH_MOST = DRTOPK_CHUNK / SIMT_WARP;
    const struct code_map &map;
    const subranges<Element> &of;
    const delegate_slots<Element> &slots;
    const delegate_rings &rings;
    struct delegate_shape shape;
    int64_t first, step, end; /* the warp's whole units: every `step`-th */
    int64_t next;             /* the unit of the next chunk to be copied */
    uint32_t next_chunk;
    struct ring_turns *turns;

    /* Begins to copy the next chunk, if there is one. All lanes. */
    TOPK_MEMBER void issue(void) {
        if (next >= end)
            return;
        const Element *from =
            of.values + (next << shape.unit_exponent) - of.shift + next_chunk * (DRTOPK_CHUNK * PER);
        rings.copy(turns, (const simt_u32x4 *)from, DRTOPK_CHUNK);
        next_chunk++;
        if (next_chunk == shape.chunks) {
            next_chunk = 0;
            next += step;
        }
    }
    /* The greatest uncut code of each of the lane's groups, from `from` on; returns the greatest of all. */
    TOPK_MEMBER word read_groups(uint32_t from, word (&most)[EACH_MOST]) const {
        word of_all = 0;
#pragma unroll
        for (uint32_t i = 0; i < EACH_MOST; i++) {
            most[i] = 0;
            if (i >= shape.each)
                continue;
            const simt_u32x4 raw = rings.groups[from + i * shape.lanes];
#pragma unroll
            for (uint32_t e = 0; e < PER; e++) {
                const word code = uncut_code_of<Element>(bits_in<Element>(raw, e), map);
                most[i] = most[i] > code ? most[i] : code;
            }
            of_all = of_all > most[i] ? of_all : most[i];
        }
        return of_all;
    }
    /* Sees the lane's groups of a round, from `from` on; the first of them begins with element `offset` of
     * the subrange. The first chunk sets the bar. Only groups that reach it are looked at closely, and *near
     * counts these. Once they are as many as delegates, a group has to be above the bar. */
    TOPK_MEMBER void see_round(seen *best, word *bar, uint32_t *near, bool is_first, uint32_t from,
                               uint32_t offset) const {
        word most[EACH_MOST];
        const word of_all = read_groups(from, most);
        if (is_first)
            *bar = bar_of_lanes<Element>(of_all, shape.lanes, slots.beta, map);
        const word ties = uncut_class_last<Element>(*bar, map);
        uint32_t close = 0, above = 0;
#pragma unroll
        for (uint32_t i = 0; i < EACH_MOST; i++) {
            close |= i < shape.each && most[i] >= *bar ? 1u << i : 0;
            above |= i < shape.each && most[i] > ties ? 1u << i : 0;
        }
        for (; close != 0; close &= close - 1) {
            const uint32_t group = simt_ffs(close) - 1, behind = group * shape.lanes;
            if (*near >= slots.beta && (above >> group & 1) == 0)
                continue;
            ++*near;
            const simt_u32x4 raw = rings.groups[from + behind];
#pragma unroll
            for (uint32_t e = 0; e < PER; e++)
                best->see(key_of<Element>(bits_in<Element>(raw, e), map), offset + behind * PER + e);
        }
    }
    /* A whole unit. All lanes. */
    TOPK_MEMBER void unit(int64_t number) {
        const uint32_t lane = simt_lane() % shape.lanes, at_once = SIMT_WARP / shape.lanes;
        const int64_t subrange0 = (number << (shape.unit_exponent - of.exponent)) + simt_lane() / shape.lanes;
        seen best = seen::none();
        word bar = 0;
        uint32_t near = 0;
        for (uint32_t chunk = 0; chunk < shape.chunks; chunk++) {
            const uint32_t slot = rings.take(turns);
            for (uint32_t round = 0; round < shape.rounds; round++) {
                const uint32_t from = (round * at_once + simt_lane() / shape.lanes) * shape.groups + lane;
                see_round(&best, &bar, &near, chunk == 0, slot + from, (chunk * DRTOPK_CHUNK + lane) * PER);
                if (chunk + 1 == shape.chunks) {
                    put_best(best, subrange0 + round * at_once, slots.beta, shape.lanes, slots);
                    best = seen::none();
                    near = 0;
                }
            }
            simt_warp_sync(SIMT_ALL_LANES);
            issue();
        }
    }
    /* A unit that is not whole. All lanes. */
    TOPK_MEMBER void edge(int64_t number) const {
        const uint32_t subranges_of_unit = 1u << (shape.unit_exponent - of.exponent);
        const int64_t count = of.count();
        int64_t subrange = number * subranges_of_unit;
        for (uint32_t i = 0; i < subranges_of_unit && subrange < count; i++, subrange++) {
            const uint32_t size = of.size(subrange);
            put_best(see_slowly<Element>(map, of, subrange, simt_lane(), SIMT_WARP), subrange,
                     size < slots.beta ? size : slots.beta, SIMT_WARP, slots);
        }
    }
    /* All whole units of the warp. */
    TOPK_MEMBER void row(void) {
        for (uint32_t i = 0; i < DRTOPK_SLOTS; i++)
            issue();
        for (int64_t number = first; number < end; number += step)
            unit(number);
    }
};

template <typename Element>
TOPK_DEVICE void delegates_by_warp(const struct drtopk_args &a, const subranges<Element> &of,
                                   const delegate_slots<Element> &slots, const delegate_rings &rings,
                                   struct ring_turns *turns) {
    const struct delegate_shape shape = delegate_shape_of<Element>(of.exponent);
    const int64_t warp = (int64_t)simt_block() * simt_warps() + simt_warp(),
                  warps = (int64_t)simt_blocks() * simt_warps();
    const int64_t begin = of.shift > 0 ? 1 : 0, whole = (of.length + of.shift) >> shape.unit_exponent;
    const bool has_tail = whole << shape.unit_exponent < of.length + of.shift;
    const int64_t first = warp < begin ? warp + warps : warp;
    delegates_by_lanes<Element> work = {a.rows.map, of,    slots, rings, shape, first,
                                        warps,      whole, first, 0,     turns};
    if (of.length > 0 && begin > 0 && warp == 0)
        work.edge(0);
    if (has_tail && whole >= begin && warp == warps - 1)
        work.edge(whole);
    work.row();
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(DRTOPK_THREADS, DRTOPK_BLOCKS_PER_SM) void drtopk_by_warp(struct drtopk_args a) {
    simt_arena arena = simt_shared_arena();
    const delegate_rings rings = carve_rings<delegate_rings>(arena, DRTOPK_THREADS / SIMT_WARP);
    struct ring_turns turns = {0, 0};
    rings.make();
    for_delegates<Element, TOPK_PATH(REACHED_DRTOPK_WARPS_NEXT_ROW)>(
        a, [&](const subranges<Element> &of, const delegate_slots<Element> &slots)
               TOPK_LAMBDA { delegates_by_warp<Element>(a, of, slots, rings, &turns); });
}

#endif
