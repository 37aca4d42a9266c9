/* SPDX-License-Identifier: Apache-2.0
 * One pass over a row: what reaches a threshold goes to the lists of its blocks. */
#ifndef TOPK_SRC_CUDA_BRACKET_STREAM_CUH
#define TOPK_SRC_CUDA_BRACKET_STREAM_CUH

#include "reach.cuh"
#include "ring.cuh"
#include "sample.cuh"

/* A part of a row in shared memory. */
struct ring_chunk {
    uint32_t first, groups; /* in the ring */
    int64_t position;       /* of the first element */
};

/* The lane's groups that hold an element that reaches the threshold: bit i for the i-th. */
template <enum reach_test TEST, typename Element>
TOPK_DEVICE uint32_t groups_that_reach(const bracket_memory<Element> &m, const struct ring_chunk &c,
                                       const reach<Element> &reach) {
    uint32_t found = 0;
#pragma unroll
    for (uint32_t i = 0; i < BRACKET_LANE_GROUPS; i++) {
        const uint32_t group = i * SIMT_WARP + simt_lane();
        if (group < c.groups)
            found |= (uint32_t)reach.template any<TEST>(m.ring[c.first + group]) << i;
    }
    return found;
}

/* The elements among `hits` of a group that match the predicate. */
template <typename Element>
TOPK_DEVICE uint32_t matches_among(const bracket_task<Element> &t, const body_tile<Element> &tile,
                                   uint32_t hits) {
    uint32_t matches = 0;
    if (!t.a.predicate.is_given)
        return hits;
#pragma unroll
    for (uint32_t e = 0; e < body_tile<Element>::PER; e++)
        matches |= (hits >> e & 1) != 0 && is_match_at(t, tile.bits(0, e), tile.position0 + e) ? 1u << e : 0;
    return matches;
}

/* Counts hits of a group in bins, and lists them as far as there is room. */
template <typename Element>
TOPK_DEVICE void list_group(const bracket_task<Element> &t, const row_threshold<Element> &threshold,
                            const body_tile<Element> &tile, uint32_t hits) {
    const bracket_memory<Element> &m = t.m;
    if (hits == 0)
        return;
    uint32_t slot = simt_atomic_add(&m.listed[0], simt_popc(hits));
#pragma unroll
    for (uint32_t e = 0; e < body_tile<Element>::PER; e++) {
        if ((hits >> e & 1) == 0)
            continue;
        const key_word_t<Element> bits = tile.bits(0, e);
        simt_atomic_add(&m.digit.bins[bin_of_candidate<Element>(bits, threshold, t.a.rows.map)], 1u);
        if (slot < BRACKET_ROOM)
            m.list.put(slot, bits, tile.position0 + e);
        slot++;
    }
}

/* What a warp looks for. */
template <typename Element> struct search {
    reach<Element> from;
    uint32_t ties_wanted; /* of the threshold's plateau, by the block; 0: all */
    bool has_ties;
};

/* The hits without ties that the block does not want any more. */
template <typename Element>
TOPK_DEVICE uint32_t without_surplus(const bracket_memory<Element> &m, const body_tile<Element> &tile,
                                     key_word_t<Element> plateau, uint32_t hits, search<Element> *s) {
    uint32_t ties = 0;
#pragma unroll
    for (uint32_t e = 0; e < body_tile<Element>::PER; e++)
        ties |= (uint32_t)(key_of<Element>(tile.bits(0, e), s->from.map) == plateau) << e;
    ties &= hits;
    if (ties == 0 || simt_atomic_add(&m.ties[0], simt_popc(ties)) < s->ties_wanted)
        return hits;
    s->has_ties = true;
    return hits & ~ties;
}

/* Lists what a chunk has of the candidates. All lanes. */
template <typename Element>
TOPK_DEVICE void list_chunk(const bracket_task<Element> &t, const row_threshold<Element> &threshold,
                            const struct ring_chunk &c, search<Element> *search) {
    const bracket_memory<Element> &m = t.m;
    const reach<Element> &reach = search->from;
    uint32_t found = reach.kind == REACH_BITS     ? groups_that_reach<REACH_BITS>(m, c, reach)
                     : reach.kind == REACH_POINTS ? groups_that_reach<REACH_POINTS>(m, c, reach)
                                                  : groups_that_reach<REACH_CODES>(m, c, reach);
#pragma unroll 1
    for (; found != 0; found &= found - 1) {
        const uint32_t group = (simt_ffs(found) - 1) * SIMT_WARP + simt_lane();
        const body_tile<Element> tile = {
            {m.ring[c.first + group]}, 1, c.position + (int64_t)group * body_tile<Element>::PER};
        uint32_t hits = matches_among(t, tile, reach.hits(tile.raw[0]));
        if (search->ties_wanted != 0)
            hits = without_surplus(m, tile, threshold.key, hits, search);
        list_group(t, threshold, tile, hits);
    }
    search->has_ties = simt_any(SIMT_ALL_LANES, search->has_ties);
}

/* Lists what the edges of the row have of the candidates. All threads of one block. */
template <typename Element>
TOPK_DEVICE void list_edges(const bracket_task<Element> &t, const row_threshold<Element> &threshold,
                            const struct row_parts &parts, const reach<Element> &reach) {
    const uint32_t i = simt_thread();
    if (i >= parts.head + parts.tail)
        return;
    const int64_t position = i < parts.head ? i : t.r.length - parts.tail + (i - parts.head);
    const key_word_t<Element> bits = simt_load_read_only(t.values() + position);
    if (uncut_code_of<Element>(bits, t.a.rows.map) < reach.low || !is_match_at(t, bits, position))
        return;
    const uint32_t slot = simt_atomic_add(&t.m.listed[0], 1u);
    simt_atomic_add(&t.m.digit.bins[bin_of_candidate<Element>(bits, threshold, t.a.rows.map)], 1u);
    if (slot < BRACKET_ROOM)
        t.m.list.put(slot, bits, position);
}

/* Begins to look for what is above a plateau alone. Returns false if nothing can be. */
template <typename Element> TOPK_DEVICE bool leave_plateau(search<Element> *s, key_word_t<Element> plateau) {
    const key_word_t<Element> last = uncut_class_last<Element>(plateau, s->from.map);
    TOPK_REACHED(REACHED_BRACKET_GPU_ENOUGH_TIES);
    s->ties_wanted = 0;
    s->has_ties = false;
    if (last >= (key_word_t<Element>)(Element) ~(Element)0)
        return false;
    s->from.begin_at(last + 1);
    return true;
}

/* How many ties of a plateau a block lists, if it need not list all. */
template <typename Element>
TOPK_DEVICE uint32_t wanted_ties(const bracket_task<Element> &t, const row_threshold<Element> &threshold) {
    const uint32_t most = BRACKET_ROOM / 2;
    if (!threshold.is_plateau || !t.a.target.ties_free || t.a.target.kind == TARGET_KTH)
        return 0;
    return t.r.k < most ? (uint32_t)t.r.k : most;
}

/* Counts in bins, and lists as far as there is room, what the block's share of the row has of the candidates.
 * Returns how many these are. All threads, with an empty list and cleared bins. */
template <typename Element>
TOPK_DEVICE uint32_t stream_row(const bracket_task<Element> &t, chunk_reader<Element> *chunks,
                                struct ring_turns *turns, const row_threshold<Element> &threshold) {
    search<Element> search = {reach<Element>::of(t.a.rows.map, threshold.key), wanted_ties(t, threshold),
                              false};
    const struct row_parts parts = parts_of(t.values(), t.r.length);
    if (t.leads())
        list_edges(t, threshold, parts, search.from);
    chunks->read(turns, [&](uint32_t chunk, uint32_t first, uint32_t groups) TOPK_LAMBDA {
        const int64_t of_chunk = (int64_t)BRACKET_CHUNK * body_tile<Element>::PER;
        list_chunk(t, threshold, ring_chunk{first, groups, parts.head + chunk * of_chunk}, &search);
        simt_warp_sync(SIMT_ALL_LANES);
        return !search.has_ties || leave_plateau(&search, threshold.key);
    });
    simt_block_sync();
    return t.m.listed[0];
}

#endif
