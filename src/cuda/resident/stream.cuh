/* SPDX-License-Identifier: Apache-2.0
 * The kernel of streamed rows. A sample of the row tells a bound that a little more than k elements should
 * reach. All elements go through a ring in shared memory once; hits above the bound's class are kept, and up
 * to k ties with it. The counts are exact: if they say that the results are among these, the best are
 * written; if not, way_out.cuh finds them. */
#ifndef TOPK_SRC_CUDA_RESIDENT_STREAM_CUH
#define TOPK_SRC_CUDA_RESIDENT_STREAM_CUH

#include "way_out.cuh"

/* ---- The bound ---- */

/* A class of codes; or low == 0, and all elements are hits. */
template <typename Element> struct stream_bound { key_word_t<Element> low, last; };

/* How threads share the sample: OF_PIECE neighbouring groups are from one stretch of the row, since memory
 * reads no less at a time; USED elements of each group count. */
template <typename Element> struct stream_sample {
    static const uint32_t PER = 16 / sizeof(Element), USED = PER < 8 ? PER : 8;
    static const uint32_t OF_THREAD = RESIDENT_SAMPLED / USED, GROUPS = RESIDENT_STREAM_THREADS * OF_THREAD;
    static const uint32_t ELEMENTS = RESIDENT_STREAM_THREADS * RESIDENT_SAMPLED;
    static const uint32_t OF_PIECE = 8, PIECES = GROUPS / OF_PIECE;
    static_assert(RESIDENT_SAMPLED == 8, "as many as USED says");
};

/* Elements of the sample that should reach the bound: more by four deviations, and some, than it has results.
 * In ascending rows a piece's elements stand for a quarter of its stretch at least; more results take another
 * piece. */
template <typename Element> TOPK_DEVICE uint32_t sampled_rank(uint32_t k, uint32_t length) {
    typedef stream_sample<Element> shape;
    const uint32_t of_piece = shape::ELEMENTS / shape::PIECES;
    const float share = (float)k * simt_float_reciprocal_near((float)length);
    const uint32_t mean = (uint32_t)((float)shape::ELEMENTS * share) + 1;
    const uint32_t rank = mean + 4 * rough_root(mean) + 5;
    return rank <= of_piece && k > length / shape::PIECES / 4 ? of_piece + 1 : rank;
}

/* Nothing is kept of a row yet. All threads. */
template <typename Element> TOPK_DEVICE void clear_kept(const stream_memory<Element> &m) {
    clear_lists(m.of_block);
    if (simt_thread() < KEPT_COUNTS)
        m.counts[simt_thread()] = 0;
}

/* A piece of each stretch of the body, all alike for all blocks. All threads. */
template <typename Element>
TOPK_DEVICE row_part<Element, RESIDENT_SAMPLED> load_sample(const stream_task<Element> &t,
                                                            const row_body<Element> &body) {
    typedef stream_sample<Element> shape;
    const struct code_map &map = t.of_block.a.rows.map;
    const as_uncut_codes<Element> codes = as_uncut_codes<Element>::of_map(map);
    const uint32_t pieces = body.groups / shape::OF_PIECE; /* that the body has */
    row_part<Element, RESIDENT_SAMPLED> part = {{}, 0, 0, {shape::ELEMENTS, shape::ELEMENTS}, nullptr, map};
    held_group sampled[shape::OF_THREAD];
#pragma unroll
    for (uint32_t i = 0; i < shape::OF_THREAD; i++) {
        const uint32_t number = (i * RESIDENT_STREAM_THREADS + simt_thread()) / shape::OF_PIECE;
        const uint32_t begin = (uint32_t)((uint64_t)pieces * number / shape::PIECES);
        const uint32_t hash = (number + (uint32_t)t.of_block.row) * 0x9e3779b1u;
        const uint32_t stretch = pieces / shape::PIECES; /* in its middle: neighbours may be alike */
        const uint32_t within = stretch / 4 + (uint32_t)((uint64_t)(hash ^ hash >> 15) * (stretch / 2) >> 32);
        sampled[i] = load_held_group<16>(body.from + (begin + within) * shape::OF_PIECE +
                                         simt_thread() % shape::OF_PIECE);
    }
    clear_kept(t.m);
#pragma unroll
    for (uint32_t i = 0; i < RESIDENT_SAMPLED; i++)
        part.held.items[i] = codes.of(bits_of_group<Element>(sampled[i / shape::USED], i % shape::USED));
    part.held.end = INT32_MAX; /* all items are the row's */
    part.held.matches = ~0u;
    return part;
}

/* A class that `rank` elements of the sample reach, or a quarter more, if classes allow that. All threads. */
template <typename Element>
TOPK_DEVICE stream_bound<Element> bound_of_sample(const stream_task<Element> &t,
                                                  const row_part<Element, RESIDENT_SAMPLED> &part,
                                                  uint32_t rank) {
    const uint32_t most = rank + rank / 4 + 4;
    const struct sample_plan plan =
        plan_sample<RESIDENT_SAMPLED, block_team>(part.count.all, rank, simt_warps());
    uint32_t turn = 0;
    code_bracket<Element> b =
        sampled_bracket(part, sample_pivots(part, plan, t.m.of_block), rank, t.m.of_block, &turn);
    for (uint32_t step = 0; b.count.all > most && !b.is_closed(part.map); step++)
        divide(part, choose_pivots(b, part.map, rank, step), rank, t.m.of_block, &turn, &b);
    return stream_bound<Element>{b.low, uncut_class_last<Element>(b.low, part.map)};
}

/* All threads; it has barriers. */
template <typename Element>
TOPK_DEVICE stream_bound<Element> find_bound(const stream_task<Element> &t, const row_body<Element> &body) {
    typedef stream_sample<Element> shape;
    const uint32_t length = (uint32_t)t.of_block.r.length;
    const uint32_t rank = sampled_rank<Element>(t.k(), length);
    if (length <= t.room() || body.groups < shape::GROUPS || rank > shape::ELEMENTS / 2) {
        clear_kept(t.m);
        simt_block_sync();
        return stream_bound<Element>{0, 0};
    }
    return bound_of_sample(t, load_sample(t, body), rank);
}

/* ---- The stream ---- */

/* What a warp looks for. */
template <typename Element> struct hit_rule {
    key_word_t<Element> from; /* hits are at or above it; 0: all are */
    key_word_t<Element> last; /* and ties are up to this */
    bool looks;               /* there may be hits */

    TOPK_MEMBER bool has_ties(void) const {
        return from != 0 && from <= last;
    }
    /* Ties are no hits any more: as many are kept as there can be results. */
    TOPK_MEMBER void drop_ties(void) {
        looks = last < (Element) ~(Element)0;
        from = last + (looks ? 1 : 0);
    }
};

/* Keeps an element, which is in the block's slot `slot`. */
template <typename Element>
TOPK_DEVICE void keep(const stream_task<Element> &t, uint32_t slot, key_word_t<Element> bits,
                      uint32_t position) {
    if (slot >= t.room())
        return;
    slot += t.rank * t.room();
    if (t.blocks == 1) {
        t.m.bits[slot] = bits;
        t.m.positions[slot] = position;
    } else {
        simt_remote_store(simt_shared_of_rank(t.m.bits, 0), slot, bits);
        simt_remote_store(simt_shared_of_rank(t.m.positions, 0), slot, position);
    }
}

/* Keeps the thread's hits. element(item) and position(item) tell which. Returns whether no more ties are
 * needed. */
template <typename Element, typename ElementOf, typename PositionOf>
TOPK_DEVICE bool keep_hits(const stream_task<Element> &t, uint32_t above, uint32_t ties,
                           const ElementOf &element, const PositionOf &position) {
    if (above != 0) {
        uint32_t slot = simt_atomic_add(&t.m.counts[KEPT_HITS], simt_popc(above));
        for (; above != 0; above &= above - 1)
            keep(t, slot++, element(simt_ffs(above) - 1), position(simt_ffs(above) - 1));
    }
    if (ties == 0)
        return false;
    uint32_t slot = simt_atomic_add(&t.m.counts[KEPT_TIES], simt_popc(ties));
    for (; ties != 0 && slot < t.k(); ties &= ties - 1)
        t.m.ties[slot++] = position(simt_ffs(ties) - 1);
    return slot >= t.k();
}

/* How a warp's lanes share a stage: GROUPS of each at a time. */
template <typename Element> struct stage_shape {
    static const uint32_t PER = 16 / sizeof(Element), OF_LANE = RESIDENT_STAGE_GROUPS / SIMT_WARP;
    static const uint32_t GROUPS = 32 / PER < OF_LANE ? 32 / PER : OF_LANE, ITEMS = GROUPS * PER;
};

/* Looks for hits in GROUPS groups of each lane, from group `first` of the stage on. WHOLE: all exist. Returns
 * as keep_hits(). */
template <bool WHOLE, typename Element>
TOPK_DEVICE bool take_groups_of_stage(const stream_task<Element> &t, const as_uncut_codes<Element> &codes,
                                      const hit_rule<Element> &rule, uint32_t first, uint32_t count,
                                      uint32_t in_ring, uint32_t position0) {
    typedef stage_shape<Element> shape;
    const simt_shared<simt_u32x4> groups = t.m.rings.groups;
    held_row<Element, shape::ITEMS> held;
    uint32_t existing = ~0u >> (32 - shape::ITEMS);
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        const uint32_t group = first + g * SIMT_WARP + simt_lane();
        const bool exists = WHOLE || group < count;
        simt_u32x4 raw = {};
        if (exists)
            raw = groups[in_ring + group];
        if (!exists)
            existing &= ~((~0u >> (32 - shape::PER)) << g * shape::PER);
        const held_group words = {{raw.x, raw.y, raw.z, raw.w}};
#pragma unroll
        for (uint32_t e = 0; e < shape::PER; e++)
            held.items[g * shape::PER + e] = exists ? codes.of(bits_of_group<Element>(words, e)) : 0;
    }
    const uint32_t hits = rule.from == 0 ? existing : hits_of_pivot(held, rule.from);
    if (hits == 0)
        return false;
    const simt_shared<Element> elements = simt_shared_as<Element>(groups);
    const auto index = [&](uint32_t item) TOPK_LAMBDA {
        return (first + item / shape::PER * SIMT_WARP + simt_lane()) * shape::PER + item % shape::PER;
    };
    const auto element = [&](uint32_t item)
                             TOPK_LAMBDA { return (Element)elements[in_ring * shape::PER + index(item)]; };
    uint32_t ties = 0;
    if (rule.has_ties())
        for (uint32_t rest = hits; rest != 0; rest &= rest - 1) /* few: cheaper than a second pass over all */
            ties |= codes.of(element(simt_ffs(rest) - 1)) <= rule.last ? rest & (0 - rest) : 0;
    return keep_hits(t, hits & ~ties, ties, element,
                     [&](uint32_t item) TOPK_LAMBDA { return position0 + index(item); });
}

/* Looks at the elements before and behind the groups. One warp, all lanes. */
template <typename Element>
TOPK_DEVICE void take_ends(const stream_task<Element> &t, const as_uncut_codes<Element> &codes,
                           const hit_rule<Element> &rule, const row_body<Element> &body) {
    const uint32_t lane = simt_lane(), length = (uint32_t)t.of_block.r.length;
    if (lane >= body.head + body.tail)
        return;
    const uint32_t position = lane < body.head ? lane : length - body.tail + (lane - body.head);
    const Element element = t.of_block.element(position);
    const key_word_t<Element> code = codes.of(element);
    const bool is_tie = rule.has_ties() && code >= rule.from && code <= rule.last;
    const bool is_above = code >= rule.from && !is_tie;
    (void)keep_hits(
        t, is_above ? 1 : 0, is_tie ? 1 : 0, [&](uint32_t) TOPK_LAMBDA { return element; },
        [&](uint32_t) TOPK_LAMBDA { return position; });
}

/* Keeps the hits among the warp's elements of a row. All lanes. */
template <typename Element>
TOPK_DEVICE void stream_row(const stream_task<Element> &t, const row_body<Element> &body,
                            const stream_bound<Element> &bound, ring<Element> *r) {
    typedef stage_shape<Element> shape;
    const as_uncut_codes<Element> codes = as_uncut_codes<Element>::of_map(t.of_block.a.rows.map);
    hit_rule<Element> rule = {bound.low, bound.last, true};
    if (t.rank == 0 && simt_warp() == 0)
        take_ends(t, codes, rule, body);
    r->take_row(body.groups, [&](uint32_t in_ring, uint32_t first, uint32_t count) TOPK_LAMBDA {
        const uint32_t position0 = body.head + first * shape::PER;
        bool is_full = false;
        if (!rule.looks)
            return;
#pragma unroll 1
        for (uint32_t group = 0; group < count; group += SIMT_WARP * shape::GROUPS)
            is_full |= group + SIMT_WARP * shape::GROUPS <= count
                           ? take_groups_of_stage<true>(t, codes, rule, group, count, in_ring, position0)
                           : take_groups_of_stage<false>(t, codes, rule, group, count, in_ring, position0);
        if (simt_any(SIMT_ALL_LANES, is_full))
            rule.drop_ties();
    });
}

/* ---- The kernel ---- */

/* Tells all blocks how much each has kept; and what they kept is in the first block. All threads. */
template <typename Element> TOPK_DEVICE void share_counts(const stream_task<Element> &t) {
    const uint32_t block = simt_thread() % RESIDENT_STREAM_CLUSTER,
                   count = simt_thread() / RESIDENT_STREAM_CLUSTER;
    simt_block_sync();
    if (t.blocks == 1) {
        if (block == 0 && count < KEPT_COUNTS)
            t.m.sums[count * RESIDENT_STREAM_CLUSTER] = (uint32_t)t.m.counts[count];
        simt_block_sync();
        return;
    }
    if (block < t.blocks && count < KEPT_COUNTS)
        simt_remote_store(simt_shared_of_rank(t.m.sums, block), count * RESIDENT_STREAM_CLUSTER + t.rank,
                          (uint32_t)t.m.counts[count]);
    sync_team<cluster_team>();
}

/* Writes the results of a row, whose hits are kept. All threads. */
template <typename Element>
TOPK_DEVICE void write_streamed(const stream_task<Element> &t, const stream_bound<Element> &bound) {
    uint32_t hits = 0, ties = 0, ties_before = 0;
    bool is_kept = true;
    for (uint32_t block = 0; block < t.blocks; block++) {
        hits += t.hits_of(block);
        ties_before += block < t.rank ? t.ties_of(block) : 0;
        ties += t.ties_of(block);
        is_kept = is_kept && t.hits_of(block) <= t.room();
    }
    if (is_kept && hits < t.k() && hits + ties >= t.k()) {
        TOPK_REACHED(REACHED_RESIDENT_STREAM_TIES);
        write_all_kept(t, hits, ties_before);
    } else if (t.rank == 0 && is_kept && hits >= t.k()) {
        write_best_kept(t, hits, bound.low == 0 ? 0 : bound.last + 1);
    } else if (t.rank == 0) {
        TOPK_REACHED(REACHED_RESIDENT_STREAM_WAY_OUT);
        select_in_memory(t);
    }
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(RESIDENT_STREAM_THREADS, 1) void resident_stream(struct resident_args a) {
    const uint32_t rank = simt_cluster_rank(), blocks = simt_cluster_size();
    simt_arena arena = simt_shared_arena();
    const stream_memory<Element> m = carve_stream<Element>(arena, a);
    if (is_called_off(a.rows))
        return;
    if (blocks > 1)
        cluster_team::begin();
    ring<Element> r = begin_ring<Element>(a.rows, m.rings, rank, blocks);
    const int64_t first = simt_block() / blocks;
    for (int64_t row = first; row < a.rows.rows; row += r.teams) {
        const stream_task<Element> t = {{a, m.of_block, row, row_at(a.rows, row)}, m, rank, blocks};
        const row_body<Element> body = row_body<Element>::of(a.rows, t.of_block.r);
        if (row != first) {
            TOPK_REACHED(REACHED_RESIDENT_STREAM_NEXT_ROW);
            blocks > 1 ? sync_team<cluster_team>() : simt_block_sync();
        }
        const stream_bound<Element> bound = find_bound(t, body);
        if (row == first && blocks > 1)
            cluster_team::wait();
        if (t.k() > 0) {
            stream_row(t, body, bound, &r);
            share_counts(t);
            write_streamed(t, bound);
        }
        pad_row<Element>(a.rows, row, t.of_block.r, share{rank, blocks});
    }
}

#endif
