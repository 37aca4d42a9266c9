/* SPDX-License-Identifier: Apache-2.0
 * Chunks of a row in shared memory: what of them reaches a threshold goes to the block's list. */
#ifndef TOPK_SRC_CUDA_BRACKET_LISTING_CUH
#define TOPK_SRC_CUDA_BRACKET_LISTING_CUH

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
template <enum reach_test TEST, typename Element, typename Shape>
TOPK_DEVICE uint32_t groups_that_reach(const bracket_memory<Element, Shape> &m, const struct ring_chunk &c,
                                       const reach<Element> &reach) {
    const uint32_t first = c.first + simt_lane();
    uint32_t found = 0;
    if (c.groups < Shape::CHUNK) { /* the row's last */
#pragma unroll 1
        for (uint32_t i = 0; simt_lane() + i * SIMT_WARP < c.groups; i++)
            found |= (uint32_t)reach.template any<TEST>(m.ring[first + i * SIMT_WARP]) << i;
        return found;
    }
    if (TEST != REACH_CODES) {
        struct nearness seen = reach.template far<TEST>();
#pragma unroll
        for (uint32_t i = 0; i < Shape::LANE_GROUPS; i++)
            reach.template approach<TEST>(&seen, m.ring[first + i * SIMT_WARP]);
        if (!reach.template is_near<TEST>(seen))
            return 0;
    }
#pragma unroll
    for (uint32_t i = 0; i < Shape::LANE_GROUPS; i++)
        found |= (uint32_t)reach.template any<TEST>(m.ring[first + i * SIMT_WARP]) << i;
    return found;
}

/* Puts a candidate into a slot of the list. Candidates of the first page are counted later (count_page);
 * later ones are counted in bins at once, whether the list has room for them or not. */
template <typename Element, typename Shape>
TOPK_DEVICE void put_candidate(const bracket_task<Element, Shape> &t, const row_threshold<Element> &threshold,
                               uint32_t slot, key_word_t<Element> bits, int64_t position) {
    if (slot < Shape::PAGE) {
        t.m.list.put(slot, bits, position);
        return;
    }
    simt_atomic_add(&t.m.digit.bins[bin_of_candidate<Element>(bits, threshold, t.a.rows.map)], 1u);
    if (slot < t.a.room)
        stored_list<Element>::of(t.a).put(slot, bits, (uint32_t)position);
}

/* Lists hits of a group. */
template <typename Element, typename Shape>
TOPK_DEVICE void list_group(const bracket_task<Element, Shape> &t, const row_threshold<Element> &threshold,
                            const body_tile<Element> &tile, uint32_t hits) {
    const uint32_t PER = body_tile<Element>::PER;
    if (hits == 0)
        return;
    uint32_t slot = simt_atomic_add(&t.m.listed[0], simt_popc(hits));
    if (slot + PER <= Shape::PAGE) {
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

/* Whether a word has a bit for each element that a lane has of a chunk, and each bit comes from one word. */
template <typename Element, typename Shape> struct lane_bits {
    static const bool FIT = sizeof(Element) == 4 && Shape::LANE_GROUPS * 4 <= 32;
};

/* The lane's elements of a whole chunk that reach the threshold: bit i * PER + e for element e of its i-th
 * group. */
template <enum reach_test TEST, typename Element, typename Shape>
TOPK_DEVICE uint32_t hits_of_lane(const bracket_memory<Element, Shape> &m, const struct ring_chunk &c,
                                  const reach<Element> &reach) {
    const uint32_t first = c.first + simt_lane();
    simt_u32x4 raw[Shape::LANE_GROUPS];
    struct nearness seen = reach.template far<TEST>();
    uint32_t hits = 0;
#pragma unroll
    for (uint32_t i = 0; i < Shape::LANE_GROUPS; i++) {
        raw[i] = m.ring[first + i * SIMT_WARP];
        reach.template approach<TEST>(&seen, raw[i]);
    }
    if (!reach.template is_near<TEST>(seen))
        return 0;
#pragma unroll
    for (uint32_t i = 0; i < Shape::LANE_GROUPS; i++)
        hits |= reach.template in_arcs<TEST>(raw[i]) << i * body_tile<Element>::PER;
    return hits;
}

/* Lists the lane's hits in a chunk. */
template <typename Element, typename Shape>
TOPK_DEVICE void list_hits(const bracket_task<Element, Shape> &t, const row_threshold<Element> &threshold,
                           const struct ring_chunk &c, uint32_t hits) {
    const uint32_t PER = body_tile<Element>::PER, OF_GROUP = (1u << PER) - 1;
    const simt_shared<Element> elements = simt_shared_as<Element>(t.m.ring);
    if (hits == 0)
        return;
    uint32_t slot = simt_atomic_add(&t.m.listed[0], simt_popc(hits));
    const bool is_on_page = slot + simt_popc(hits) <= Shape::PAGE;
#pragma unroll 1
    while (hits != 0) {
        const uint32_t i = (simt_ffs(hits) - 1) / PER, group = i * SIMT_WARP + simt_lane();
        const body_tile<Element> tile = {{t.m.ring[c.first + group]}, 1, c.position + group * PER};
        uint32_t here = hits >> i * PER & OF_GROUP;
        hits &= ~(OF_GROUP << i * PER);
        if (is_on_page) {
#pragma unroll
            for (uint32_t e = 0; e < PER; e++)
                if ((here >> e & 1) != 0)
                    t.m.list.put(slot++, tile.bits(0, e), tile.position0 + e);
            continue;
        }
#pragma unroll 1
        for (; here != 0; here &= here - 1, slot++) {
            const uint32_t e = simt_ffs(here) - 1;
            put_candidate<Element, Shape>(t, threshold, slot, elements[(c.first + group) * PER + e],
                                          tile.position0 + e);
        }
    }
}

/* Counts the candidates in the first page of a list of `listed`. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE void count_page(const bracket_task<Element, Shape> &t, const row_threshold<Element> &threshold,
                            uint32_t listed) {
    const uint32_t count = listed < Shape::PAGE ? listed : (uint32_t)Shape::PAGE;
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
template <typename Element, typename Shape>
TOPK_DEVICE enum plateau_use use_of_plateau(const bracket_task<Element, Shape> &t,
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
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t without_surplus(const bracket_memory<Element, Shape> &m, const simt_u32x4 &group,
                                     uint32_t hits, search<Element> *s) {
    const uint32_t ties = s->plateau.among(group) & hits;
    if (ties == 0 || simt_atomic_add(&m.ties[0], simt_popc(ties)) < s->wanted)
        return hits;
    s->has_wanted = true;
    return hits & ~ties;
}

/* Counts what a chunk has of the plateau. All lanes. */
template <typename Element, typename Shape>
TOPK_DEVICE void count_chunk(const bracket_task<Element, Shape> &t, const struct ring_chunk &c,
                             search<Element> *search) {
    if (!t.a.predicate.is_given) {
#pragma unroll
        for (uint32_t i = 0; i < Shape::LANE_GROUPS; i++) {
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

/* What of a chunk matches the predicate, if one is given: it is asked for each element. */
template <typename Element, typename Shape> struct asked_matches {
    const bracket_task<Element, Shape> &t;

    /* Whether all elements match, or bits tell; then the lane's hits that match, as of list_hits(). */
    TOPK_MEMBER bool are_known(void) const {
        return !t.a.predicate.is_given;
    }
    TOPK_MEMBER uint32_t among_lane(uint32_t hits) const {
        return hits;
    }
    /* The lane's groups that may hold a match, as bits. */
    TOPK_MEMBER uint32_t groups(void) const {
        return ~0u;
    }
    /* Among the hits of the lane's group i. */
    TOPK_MEMBER uint32_t among(uint32_t, const body_tile<Element> &tile, uint32_t hits) const {
        return matches_among(t, tile, hits);
    }
};

/* Lists what a chunk has of the candidates. All lanes. */
template <typename Element, typename Shape, typename Matches>
TOPK_DEVICE void list_chunk(const bracket_task<Element, Shape> &t, const row_threshold<Element> &threshold,
                            const struct ring_chunk &c, search<Element> *search, const Matches &matches) {
    const bracket_memory<Element, Shape> &m = t.m;
    const reach<Element> &reach = search->from;
    if constexpr (lane_bits<Element, Shape>::FIT) {
        if (matches.are_known() && c.groups == Shape::CHUNK && search->use != PLATEAU_WANTED &&
            reach.kind != REACH_CODES) {
            const uint32_t hits = reach.kind == REACH_ARC ? hits_of_lane<REACH_ARC>(m, c, reach)
                                                          : hits_of_lane<REACH_ARCS>(m, c, reach);
            list_hits(t, threshold, c, matches.among_lane(hits));
            return;
        }
    }
    uint32_t found = reach.kind == REACH_ARC    ? groups_that_reach<REACH_ARC>(m, c, reach)
                     : reach.kind == REACH_ARCS ? groups_that_reach<REACH_ARCS>(m, c, reach)
                                                : groups_that_reach<REACH_CODES>(m, c, reach);
    found &= matches.groups();
#pragma unroll 1
    for (; found != 0; found &= found - 1) {
        const uint32_t i = simt_ffs(found) - 1, group = i * SIMT_WARP + simt_lane();
        const body_tile<Element> tile = {
            {m.ring[c.first + group]}, 1, c.position + (int64_t)group * body_tile<Element>::PER};
        uint32_t hits = matches.among(i, tile, reach.hits(tile.raw[0]));
        if (search->use == PLATEAU_WANTED)
            hits = without_surplus(m, tile.raw[0], hits, search);
        list_group(t, threshold, tile, hits);
    }
    simt_warp_sync(SIMT_ALL_LANES);
    if (search->use == PLATEAU_WANTED)
        search->has_wanted = simt_any(SIMT_ALL_LANES, search->has_wanted);
}

/* The most ties of a plateau that a block lists. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t ties_listed(const bracket_task<Element, Shape> &t, uint32_t k) {
    return t.a.room == Shape::PAGE ? Shape::PAGE - Shape::PAGE / 8
                                   : (k + k / 4) / t.share.blocks + Shape::PAGE / 2;
}

/* What a warp looks for first. */
template <typename Element, typename Shape>
TOPK_DEVICE search<Element> search_of(const bracket_task<Element, Shape> &t,
                                      const row_threshold<Element> &threshold) {
    const struct code_map &map = t.a.rows.map;
    const uint32_t k = (uint32_t)t.r.k, most = ties_listed(t, k), wanted = k < most ? k : most;
    search<Element> search = {reach<Element>::of(map, threshold.key, best_match(t)),
                              tie_class<Element>::of(map, threshold.key),
                              use_of_plateau(t, threshold),
                              true,
                              false,
                              wanted,
                              0};
    if (search.use == PLATEAU_COUNTED || search.use == PLATEAU_LEFT)
        search.leave_plateau();
    return search;
}

/* A warp that has as many ties as are wanted leaves the plateau. */
template <typename Element> TOPK_DEVICE void leave_wanted_ties(search<Element> *search) {
    if (!search->has_wanted)
        return;
    TOPK_REACHED(REACHED_BRACKET_GPU_ENOUGH_TIES);
    search->use = PLATEAU_LEFT;
    search->leave_plateau();
}

template <typename Element, typename Shape>
TOPK_DEVICE struct ring_chunk ring_chunk_of(const struct row_parts &parts, uint32_t chunk, uint32_t first,
                                            uint32_t groups) {
    const int64_t of_chunk = (int64_t)Shape::CHUNK * body_tile<Element>::PER;
    return ring_chunk{first, groups, parts.head + chunk * of_chunk};
}

#endif
