/* SPDX-License-Identifier: Apache-2.0
 * A row's results, from lists in shared memory to the outputs. */
#ifndef TOPK_SRC_CUDA_RESIDENT_RESULTS_CUH
#define TOPK_SRC_CUDA_RESIDENT_RESULTS_CUH

#include "../select/by_position.cuh"
#include "../select/ranked.cuh"
#include "../select/sorted_results.cuh"
#include "bracket.cuh"
#include "collect.cuh"

static_assert((int)ENTRIES_PER_THREAD == (int)RESIDENT_ENTRIES_PER_THREAD, "the host counts threads by it");

/* ---- Results ---- */

/* Writes the results at the positions in slots `begin` to `end` - 1 of the block, which begins at position
 * `of_block`: from slot `to` of the row on. All threads. */
template <typename Element, typename Team>
TOPK_DEVICE void write_positions_of(const team_task<Element, Team> &t, uint32_t begin, uint32_t end,
                                    uint32_t of_block, uint32_t to) {
    const auto position = [&](uint32_t slot)
                              TOPK_LAMBDA { return of_block + (uint16_t)t.memory.positions[slot]; };
    in_batches<Element, RESULT_BATCH>(
        begin, end, [&](uint32_t slot) TOPK_LAMBDA { return t.element(position(slot)); },
        [&](uint32_t slot, Element element)
            TOPK_LAMBDA { t.write(to + (slot - begin), element, position(slot)); });
}

/* Writes what is best of the first `count` entries to slots `first` to k - 1, best first. All threads, after
 * a barrier. */
template <typename Element, typename Team>
TOPK_DEVICE void write_ranked_entries(const team_task<Element, Team> &t, uint32_t count, uint32_t first) {
    struct result {
        Element element;
        uint32_t position;
    };
    const uint32_t k = (uint32_t)t.r.k;
    for_ranked(
        t.memory.entries, count,
        [&](const struct entry &e, bool exists) TOPK_LAMBDA {
            const uint32_t position = (uint32_t)entry_position(entry_size<Element>::TWO, e);
            return result{exists ? t.element(position) : (Element)0, position};
        },
        [&](const result &result, uint32_t rank) TOPK_LAMBDA {
            if (first + rank < k)
                t.write(first + rank, result.element, result.position);
        });
}

/* The same from slot 0 on, for more entries. */
template <typename Element, typename Team>
TOPK_DEVICE void write_sorted_entries(const team_task<Element, Team> &t, uint32_t count) {
    const bool TWO = entry_size<Element>::TWO;
    const uint32_t k = (uint32_t)t.r.k;
    TOPK_REACHED(Team::IS_CLUSTER ? REACHED_RESIDENT_CLUSTER_SORTED : REACHED_RESIDENT_SORTED);
    for_sorted(t.memory.entries, t.memory.buckets, count, t.r.length,
               [&](uint32_t rank, const struct entry &e) TOPK_LAMBDA {
                   if (rank < k)
                       t.write(rank, t.element_of(e), (uint32_t)entry_position(TWO, e));
               });
}

/* Writes the k best of the first `count` entries by position. These are ranked, and then as many of them once
 * more, without their keys. All threads, after a barrier. */
template <typename Element, typename Team>
TOPK_DEVICE void write_entries_by_position(const team_task<Element, Team> &t, uint32_t count) {
    const bool TWO = entry_size<Element>::TWO;
    const uint32_t k = (uint32_t)t.r.k;
    entry_list<TWO> results = t.memory.entries;
    results.high = simt_shared_part(results.high, RESIDENT_LIST, RESIDENT_LIST);
    if (TWO)
        results.low = simt_shared_part(results.low, RESIDENT_LIST, RESIDENT_LIST);
    struct result {
        Element element;
        uint32_t position;
    };
    const auto position_of = [&](const struct entry &e)
                                 TOPK_LAMBDA { return (uint32_t)entry_position(TWO, e); };
    for_ranked(
        t.memory.entries, count, [&](const struct entry &e, bool) TOPK_LAMBDA { return position_of(e); },
        [&](uint32_t position, uint32_t rank) TOPK_LAMBDA {
            if (rank < k)
                results.put(rank, entry_without_key(TWO, position));
        });
    simt_block_sync();
    for_ranked(
        results, k,
        [&](const struct entry &e, bool exists) TOPK_LAMBDA {
            return result{exists ? t.element(position_of(e)) : (Element)0, position_of(e)};
        },
        [&](const result &result, uint32_t rank)
            TOPK_LAMBDA { t.write(rank, result.element, result.position); });
}

/* What the search has found out. */
struct certain_results {
    uint32_t items;         /* of the thread: these are results */
    struct row_count count; /* of all of them */
    bool has_ties;          /* all other candidates tie, and not all of them are results */
    uint32_t ties;          /* how many ties of this block and of later ones are results */
};

template <typename Element, uint32_t ITEMS>
TOPK_DEVICE struct certain_results certain_of(const row_part<Element, ITEMS> &part,
                                              const code_bracket<Element> &b, uint32_t k) {
    if (b.count.all == k)
        return certain_results{b.all, b.count, false, 0};
    const uint32_t ties = k - b.above.all, before = b.count.before - b.above.before;
    return certain_results{b.winners, b.above, b.is_closed(part.map), ties > before ? ties - before : 0};
}

/* Which of the thread's candidates are among the `need` best of the row's. The first block ranks all of them
 * and tells the last one that is. All threads; the lists are empty. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE uint32_t best_candidates(const team_task<Element, Team> &t, const row_part<Element, ITEMS> &part,
                                     uint32_t candidates, uint32_t before, uint32_t count, uint32_t need) {
    typedef key_word_t<Element> word;
    const bool TWO = entry_size<Element>::TWO;
    list_entries(part, candidates, before, t.memory, RESIDENT_LIST);
    sync_team<Team>();
    if (Team::rank() == 0)
        for_ranked(
            t.memory.entries, count, [&](const struct entry &e, bool) TOPK_LAMBDA { return e; },
            [&](const struct entry &e, uint32_t rank) TOPK_LAMBDA {
                if (rank != need - 1)
                    return;
                for (uint32_t block = 0; block < Team::blocks(); block++) {
                    put_in_block<Team>(t.memory.best, block, 0, (word)entry_key(TWO, e));
                    put_in_block<Team>(t.memory.ranks, block, 0, (uint32_t)entry_position(TWO, e));
                }
            });
    sync_team<Team>();
    const struct entry last = make_entry(TWO, (word)t.memory.best[0], (uint32_t)t.memory.ranks[0]);
    uint32_t best = 0;
    for (; candidates != 0; candidates &= candidates - 1) {
        const uint32_t position = part.position(simt_ffs(candidates) - 1);
        if (!is_before(last, make_entry(TWO, part.key_at(position), position)))
            best |= candidates & (0u - candidates);
    }
    return best;
}

/* Writes the k best of a row by position. All threads; the lists are empty. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void write_best_by_position(const team_task<Element, Team> &t,
                                        const row_part<Element, ITEMS> &part, const code_bracket<Element> &b,
                                        uint32_t turn) {
    const uint32_t k = (uint32_t)t.r.k;
    const struct certain_results certain = certain_of(part, b, k);
    const uint32_t rest = b.all & ~certain.items, before = b.count.before - certain.count.before;
    uint32_t results = certain.items, to = certain.count.before, wanted = 0;
    if (certain.has_ties) {
        const uint32_t ties = k - certain.count.all;
        wanted = certain.ties;
        to += before < ties ? before : ties;
    } else if (b.count.all != k) {
        results |= best_candidates(t, part, rest, before, b.candidates(), k - certain.count.all);
        if constexpr (Team::IS_CLUSTER)
            to = sums_of(simt_reduce_add(SIMT_ALL_LANES, simt_popc(results)), t.memory, &turn).lower.before;
    }
    const uint32_t listed = list_in_order(part, results, certain.has_ties ? rest : 0, wanted, t.memory, turn);
    simt_block_sync();
    write_positions_of(t, 0, listed, part.of_block, to);
}

/* Writes the k best of a row. All threads; the lists are empty. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void write_best(const team_task<Element, Team> &t, const row_part<Element, ITEMS> &part,
                            const code_bracket<Element> &b, uint32_t turn) {
    if constexpr (Team::BY_POSITION) {
        write_best_by_position(t, part, b, turn);
        return;
    }
    const struct certain_results certain = certain_of(part, b, (uint32_t)t.r.k);
    const uint32_t winners = certain.count.all, before = b.count.before - certain.count.before;
    const bool is_sorted = t.a.is_sorted;
    uint32_t ties = 0;
    if (is_sorted)
        list_entries(part, certain.has_ties ? certain.items : b.all,
                     certain.has_ties ? certain.count.before : b.count.before, t.memory, t.a.entries);
    else
        list_positions(part, certain.items, t.memory);
    if (certain.has_ties) {
        TOPK_REACHED(Team::IS_CLUSTER ? REACHED_RESIDENT_CLUSTER_TIES : REACHED_RESIDENT_TIES);
        ties = list_ties(part, b.all & ~certain.items, certain.ties, t.memory, turn);
    } else if (!is_sorted) {
        list_entries(part, b.all & ~certain.items, before, t.memory, t.a.entries);
    }
    Team::arrive();
    const uint32_t listed = t.memory.slots[LISTED_POSITIONS];
    write_positions_of(t, 0, listed, part.of_block, certain.count.before);
    write_positions_of(t, listed, listed + ties, part.of_block, winners + before);
    Team::wait();
    if (Team::rank() != 0)
        return;
    const uint32_t entries = certain.has_ties ? winners : b.count.all;
    if (is_sorted && entries > RESIDENT_RANKED)
        write_sorted_entries(t, entries);
    else if (is_sorted)
        write_ranked_entries(t, entries, 0);
    else if (!certain.has_ties)
        write_ranked_entries(t, b.count.all - winners, winners);
}

/* ---- The k-th class ---- */

/* Writes the class of the `need`-th best of the first `count` entries. `above` elements are better than all
 * of them. All threads, after a barrier. */
template <typename Element, typename Team>
TOPK_DEVICE void write_class_of_entries(const team_task<Element, Team> &t, uint32_t count, uint32_t need,
                                        uint32_t above) {
    for_standings(t.memory.entries, count, [&](uint64_t key, const struct standing &s) TOPK_LAMBDA {
        if (s.before == need - 1)
            write_kth<Element>(t.a.kth, t.row, decode_key(t.a.decode, key), above + s.better, s.equal);
    });
}

/* Writes the k-th class of a row. All threads; the lists are empty. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void write_class(const team_task<Element, Team> &t, const row_part<Element, ITEMS> &part,
                             const code_bracket<Element> &b) {
    if (b.is_closed(part.map)) {
        if (warp_of_team<Team>() == 0 && simt_lane() == 0)
            write_kth<Element>(t.a.kth, t.row, decode_key(t.a.decode, cut_code<Element>(b.low, part.map)),
                               b.above.all, b.candidates());
        return;
    }
    list_entries(part, b.all & ~b.winners, b.count.before - b.above.before, t.memory, t.a.entries);
    sync_team<Team>();
    if (Team::rank() == 0)
        write_class_of_entries(t, b.candidates(), (uint32_t)t.r.k - b.above.all, b.above.all);
}

/* The class of a row that has no k-th element. */
template <typename Element, typename Team>
TOPK_DEVICE void write_no_class(const team_task<Element, Team> &t) {
    if (warp_of_team<Team>() == 0 && simt_lane() == 0)
        write_kth<Element>(t.a.kth, t.row, t.a.rows.padding, t.r.wanted == 0 ? 0 : t.r.length, 0);
}

#endif
