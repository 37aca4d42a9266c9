/* SPDX-License-Identifier: Apache-2.0
 * One pass over a row: what reaches a threshold goes to the lists of its blocks. */
#ifndef TOPK_SRC_CUDA_BRACKET_STREAM_CUH
#define TOPK_SRC_CUDA_BRACKET_STREAM_CUH

#include "../select/reach.cuh"
#include "pages.cuh"
#include "ring.cuh"
#include "sample.cuh"

/* A part of a row in shared memory. */
struct ring_chunk {
    uint32_t first, groups; /* in the ring */
    int64_t position;       /* of the first element */
};

/* The lane's groups that may hold an element that reaches the threshold: bit i for the i-th. Most lanes have
 * none, and learn it for all of their groups together. */
template <enum reach_test TEST, typename Element>
TOPK_DEVICE uint32_t groups_that_reach(const bracket_memory<Element> &m, const struct ring_chunk &c,
                                       const reach<Element> &reach) {
    const uint32_t first = c.first + simt_lane();
    uint32_t found = 0;
    if (c.groups < BRACKET_CHUNK) { /* the row's last */
#pragma unroll 1
        for (uint32_t i = 0; simt_lane() + i * SIMT_WARP < c.groups; i++)
            found |= (uint32_t)reach.template any<TEST>(m.ring[first + i * SIMT_WARP]) << i;
        return found;
    }
    if (TEST != REACH_CODES) {
        struct nearness seen = reach.template far<TEST>();
#pragma unroll
        for (uint32_t i = 0; i < BRACKET_LANE_GROUPS; i++)
            reach.template approach<TEST>(&seen, m.ring[first + i * SIMT_WARP]);
        if (!reach.template is_near<TEST>(seen))
            return 0;
    }
#pragma unroll
    for (uint32_t i = 0; i < BRACKET_LANE_GROUPS; i++)
        found |= (uint32_t)reach.template any<TEST>(m.ring[first + i * SIMT_WARP]) << i;
    return found;
}

/* Puts a candidate into a slot of the list. Those of the first page are counted later (count_page); what
 * comes further is counted in bins at once, whether the list has room for it or not. */
template <typename Element>
TOPK_DEVICE void put_candidate(const bracket_task<Element> &t, const row_threshold<Element> &threshold,
                               uint32_t slot, key_word_t<Element> bits, int64_t position) {
    if (slot < BRACKET_PAGE) {
        t.m.list.put(slot, bits, position);
        return;
    }
    simt_atomic_add(&t.m.digit.bins[bin_of_candidate<Element>(bits, threshold, t.a.rows.map)], 1u);
    if (slot < t.a.room)
        stored_list<Element>::of(t.a).put(slot, bits, (uint32_t)position);
}

/* Lists hits of a group. */
template <typename Element>
TOPK_DEVICE void list_group(const bracket_task<Element> &t, const row_threshold<Element> &threshold,
                            const body_tile<Element> &tile, uint32_t hits) {
    const uint32_t PER = body_tile<Element>::PER;
    if (hits == 0)
        return;
    uint32_t slot = simt_atomic_add(&t.m.listed[0], simt_popc(hits));
    if (slot + PER <= BRACKET_PAGE) {
#pragma unroll
        for (uint32_t e = 0; e < PER; e++)
            if ((hits >> e & 1) != 0)
                t.m.list.put(slot++, tile.bits(0, e), tile.position0 + e);
        return;
    }
#pragma unroll
    for (uint32_t e = 0; e < PER; e++)
        if ((hits >> e & 1) != 0)
            put_candidate(t, threshold, slot++, tile.bits(0, e), tile.position0 + e);
}

/* Counts what the first page of a list of so many candidates holds. All threads. */
template <typename Element>
TOPK_DEVICE void count_page(const bracket_task<Element> &t, const row_threshold<Element> &threshold,
                            uint32_t listed) {
    const uint32_t count = listed < BRACKET_PAGE ? listed : (uint32_t)BRACKET_PAGE;
    bin_counter counter = {t.m.digit.bins, 0, 0};
#pragma unroll 1
    for (uint32_t i = simt_thread(); i < count; i += simt_threads())
        counter.add(bin_of_candidate<Element>(t.m.list.bits(i), threshold, t.a.rows.map));
    counter.flush();
}

/* What becomes of the threshold's class if it is a plateau. */
enum plateau_use {
    PLATEAU_LISTED,  /* as all candidates; or there is none */
    PLATEAU_WANTED,  /* a block lists as many as could be results, and then leaves it */
    PLATEAU_LEFT,    /* only what is above is listed */
    PLATEAU_COUNTED, /* the same, but it is counted */
};

/* Where the first ties are results, these are found later (plateau.cuh). */
template <typename Element>
TOPK_DEVICE enum plateau_use use_of_plateau(const bracket_task<Element> &t,
                                            const row_threshold<Element> &threshold) {
    if (!threshold.is_plateau)
        return PLATEAU_LISTED;
    if (t.a.target.kind == TARGET_KTH)
        return PLATEAU_COUNTED;
    return t.a.target.ties_free ? PLATEAU_WANTED : PLATEAU_LEFT;
}

/* What a warp looks for. */
template <typename Element> struct search {
    reach<Element> from;
    tie_class<Element> plateau;
    enum plateau_use use;
    bool lists;      /* something can reach it */
    bool has_wanted; /* as many ties as are wanted */
    uint32_t wanted; /* ties, by the block */
    uint32_t ties;   /* counted by the thread */

    /* Begins to look for what is above the plateau alone. */
    TOPK_MEMBER void leave_plateau(void) {
        const key_word_t<Element> last = plateau.first + plateau.span;
        has_wanted = false;
        lists = last < from.best;
        if (lists)
            from.begin_at(last + 1);
    }
};

/* The hits of a group without the ties that the block does not want any more. */
template <typename Element>
TOPK_DEVICE uint32_t without_surplus(const bracket_memory<Element> &m, const simt_u32x4 &group, uint32_t hits,
                                     search<Element> *s) {
    const uint32_t ties = s->plateau.among(group) & hits;
    if (ties == 0 || simt_atomic_add(&m.ties[0], simt_popc(ties)) < s->wanted)
        return hits;
    s->has_wanted = true;
    return hits & ~ties;
}

/* Counts what a chunk has of the plateau. All lanes. */
template <typename Element>
TOPK_DEVICE void count_chunk(const bracket_task<Element> &t, const struct ring_chunk &c,
                             search<Element> *search) {
    if (!t.a.predicate.is_given) {
#pragma unroll
        for (uint32_t i = 0; i < BRACKET_LANE_GROUPS; i++) {
            const uint32_t group = i * SIMT_WARP + simt_lane();
            if (group >= c.groups)
                continue;
            const body_tile<Element> tile = {{t.m.ring[c.first + group]}, 1, 0};
#pragma unroll
            for (uint32_t e = 0; e < body_tile<Element>::PER; e++)
                search->ties += search->plateau.holds(tile.bits(0, e));
        }
        return;
    }
#pragma unroll 1
    for (uint32_t group = simt_lane(); group < c.groups; group += SIMT_WARP) {
        const body_tile<Element> tile = {
            {t.m.ring[c.first + group]}, 1, c.position + (int64_t)group * body_tile<Element>::PER};
        search->ties += simt_popc(matches_among(t, tile, search->plateau.among(tile.raw[0])));
    }
}

/* Lists what a chunk has of the candidates. All lanes. */
template <typename Element>
TOPK_DEVICE void list_chunk(const bracket_task<Element> &t, const row_threshold<Element> &threshold,
                            const struct ring_chunk &c, search<Element> *search) {
    const bracket_memory<Element> &m = t.m;
    const reach<Element> &reach = search->from;
    uint32_t found = reach.kind == REACH_ARC    ? groups_that_reach<REACH_ARC>(m, c, reach)
                     : reach.kind == REACH_ARCS ? groups_that_reach<REACH_ARCS>(m, c, reach)
                                                : groups_that_reach<REACH_CODES>(m, c, reach);
#pragma unroll 1
    for (; found != 0; found &= found - 1) {
        const uint32_t group = (simt_ffs(found) - 1) * SIMT_WARP + simt_lane();
        const body_tile<Element> tile = {
            {m.ring[c.first + group]}, 1, c.position + (int64_t)group * body_tile<Element>::PER};
        uint32_t hits = matches_among(t, tile, reach.hits(tile.raw[0]));
        if (search->use == PLATEAU_WANTED)
            hits = without_surplus(m, tile.raw[0], hits, search);
        list_group(t, threshold, tile, hits);
    }
    simt_warp_sync(SIMT_ALL_LANES);
    if (search->use == PLATEAU_WANTED)
        search->has_wanted = simt_any(SIMT_ALL_LANES, search->has_wanted);
}

/* Lists what the edges of the row have of the candidates. All threads of one block. */
template <typename Element>
TOPK_DEVICE void list_edges(const bracket_task<Element> &t, const row_threshold<Element> &threshold,
                            const struct row_parts &parts, search<Element> *search) {
    const uint32_t i = simt_thread();
    if (i >= parts.head + parts.tail)
        return;
    const int64_t position = i < parts.head ? i : t.r.length - parts.tail + (i - parts.head);
    const key_word_t<Element> bits = simt_load_read_only(t.values() + position);
    if (!is_match_at(t, bits, position))
        return;
    search->ties += search->plateau.holds(bits);
    if (!search->lists || uncut_code_of<Element>(bits, t.a.rows.map) < search->from.low)
        return;
    put_candidate(t, threshold, simt_atomic_add(&t.m.listed[0], 1u), bits, position);
}

/* The most ties of a plateau that a block lists. */
template <typename Element> TOPK_DEVICE uint32_t ties_listed(const bracket_task<Element> &t, uint32_t k) {
    return t.a.room == BRACKET_PAGE ? BRACKET_PAGE - BRACKET_PAGE / 8
                                    : (k + k / 4) / t.share.blocks + BRACKET_PAGE / 2;
}

/* Counts in bins, and lists as far as there is room, what the block's share of the row has of the candidates.
 * Returns how many these are. Calls meet(), a barrier of the block, when all are listed. All threads, with an
 * empty list and cleared bins. */
template <typename Element, typename Meet>
TOPK_DEVICE uint32_t stream_row(const bracket_task<Element> &t, chunk_reader<Element> *chunks,
                                struct ring_turns *turns, const row_threshold<Element> &threshold,
                                const Meet &meet) {
    const struct code_map &map = t.a.rows.map;
    const uint32_t k = (uint32_t)t.r.k, most = ties_listed(t, k), wanted = k < most ? k : most;
    const struct row_parts parts = parts_of(t.values(), t.r.length);
    search<Element> search = {reach<Element>::of(map, threshold.key, best_match(t)),
                              tie_class<Element>::of(map, threshold.key),
                              use_of_plateau(t, threshold),
                              true,
                              false,
                              wanted,
                              0};
    const bool counts = search.use == PLATEAU_COUNTED;
    if (counts || search.use == PLATEAU_LEFT)
        search.leave_plateau();
    if (t.leads())
        list_edges(t, threshold, parts, &search);
    chunks->read(turns, [&](uint32_t chunk, uint32_t first, uint32_t groups) TOPK_LAMBDA {
        const int64_t of_chunk = (int64_t)BRACKET_CHUNK * body_tile<Element>::PER;
        const struct ring_chunk c = {first, groups, parts.head + chunk * of_chunk};
        if (search.lists)
            list_chunk(t, threshold, c, &search);
        if (counts)
            count_chunk(t, c, &search);
        simt_warp_sync(SIMT_ALL_LANES);
        if (search.has_wanted) {
            TOPK_REACHED(REACHED_BRACKET_GPU_ENOUGH_TIES);
            search.use = PLATEAU_LEFT;
            search.leave_plateau();
        }
        return search.lists || counts;
    });
    if (counts) {
        const uint32_t ties = simt_reduce_add(SIMT_ALL_LANES, search.ties);
        if (simt_lane() == 0 && ties != 0)
            simt_atomic_add(&t.m.digit.bins[0], ties);
    }
    meet();
    const uint32_t listed = t.m.listed[0];
    if (listed > BRACKET_PAGE && t.a.room > BRACKET_PAGE)
        store_first_page<Element>(t.a);
    count_page(t, threshold, listed);
    simt_block_sync();
    return listed;
}

#endif
