/* SPDX-License-Identifier: Apache-2.0
 * From the lists of a row's blocks to its results. The bin that holds the k-th candidate is known. What is in
 * better bins is a result. Where results may come in any order a block writes its own itself. What
 * has to be put in order goes to the row's list; the leading block waits for it, and selects from it. */
#ifndef TOPK_SRC_CUDA_BRACKET_EMIT_CUH
#define TOPK_SRC_CUDA_BRACKET_EMIT_CUH

#include "finish.cuh"
#include "kth_bin.cuh"
#include "plateau.cuh"

/* What becomes of candidates. Winners are above a bin, ties are in the bin. */
template <typename Element> struct emission {
    kth_bin<Element> bin;
    uint32_t winners, ties;         /* how many of the row are written or sent: the first ones to come */
    bool sends_winners, sends_ties; /* else blocks write them */

    TOPK_MEMBER uint32_t sent(void) const {
        return (sends_winners ? winners : 0) + (sends_ties ? ties : 0);
    }
};

/* `bin` holds the k-th candidate. Any candidates of a class may be results where ties may be chosen. */
template <typename Element>
TOPK_DEVICE emission<Element> plan_emission(const struct bracket_args &a, const kth_bin<Element> &bin,
                                            uint32_t k) {
    const bool writes = a.target.kind == TARGET_OUTPUTS, is_whole = bin.before + bin.held == k;
    const bool takes_any = a.target.ties_free && a.target.kind != TARGET_KTH && bin.is_class();
    emission<Element> e = {bin, bin.before, bin.held, a.target.kind == TARGET_ENTRIES, true};
    if (takes_any || (writes && is_whole)) {
        e.ties = k - bin.before;
        e.sends_ties = !writes;
    }
    return e;
}

/* How many winners and ties a block has had. */
struct emitted {
    uint32_t winners, ties;
};

/* The block's first slots of results and of the row's list: `counts` has how many it needs of each, in 16
 * bits. One thread. */
template <typename Element, typename Shape>
TOPK_DEVICE void take_slots(const bracket_task<Element, Shape> &t, uint32_t counts,
                            const struct emitted &before) {
    uint32_t results = before.winners, listed = before.ties;
    if (!t.is_alone() && (counts & 0xffff) != 0)
        results = simt_atomic_add(&t.state()->results, counts & 0xffff);
    if (!t.is_alone() && counts >> 16 != 0)
        listed = simt_atomic_add(&t.state()->listed, counts >> 16);
    t.m.published[0] = results;
    t.m.published[1] = listed;
}

/* Tells how many entries the block has sent. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE void tell_sent(const bracket_task<Element, Shape> &t, uint32_t sent) {
    if (sent == 0 || t.is_alone())
        return;
    simt_block_sync();
    if (simt_thread() == 0) {
        simt_fence_device();
        simt_atomic_add(&t.state()->complete, sent);
    }
}

/* Whether the block is to put in order what the row's blocks have sent: the leading one, which waits for so
 * many entries. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE bool gathers(const bracket_task<Element, Shape> &t, uint32_t all) {
    if (all == 0 || !t.leads())
        return false;
    if (!t.is_alone() && simt_thread() == 0)
        while (simt_load_acquire(&t.state()->complete) < all)
            ;
    simt_block_sync();
    return true;
}

/* Sends and writes what a page of the block's list holds. What is sent comes first, for the leading block
 * waits for it. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE void emit_page(const bracket_task<Element, Shape> &t, uint32_t count, const emission<Element> &e,
                           struct emitted *before) {
    const bracket_memory<Element, Shape> &m = t.m;
    const row_entries<Element> entries = entries_of(t);
    uint32_t wins = 0, kept = 0, total; /* bits for the thread's candidates */
    for (uint32_t i = simt_thread(), mine = 1; i < count; i += simt_threads(), mine <<= 1) {
        const key_word_t<Element> key = key_of<Element>(m.list.bits(i), t.a.rows.map);
        const uint32_t position = m.list.position(i);
        wins |= e.bin.is_above(key, position) ? mine : 0;
        kept |= e.bin.is_below(key, position) ? 0 : mine;
    }
    const uint32_t of_threads = block_scan(m.sums, simt_popc(wins) + (simt_popc(kept & ~wins) << 16), &total);
    if (simt_thread() == 0)
        take_slots(t, total, *before);
    simt_block_sync();
    const uint32_t first_winner = m.published[0], first_tie = m.published[1];
    uint32_t winner = (of_threads & 0xffff) + first_winner, tie = (of_threads >> 16) + first_tie;
    const uint32_t ties_end = first_tie + (total >> 16), ties = ties_end < e.ties ? ties_end : e.ties;
    const uint32_t sent =
        (e.sends_winners ? total & 0xffff : 0) + (e.sends_ties && first_tie < ties ? ties - first_tie : 0);
    uint32_t written = (e.sends_winners ? 0 : wins) | (e.sends_ties ? 0 : kept & ~wins);
    const auto for_each = [&](uint32_t chosen, const auto &work) TOPK_LAMBDA {
#pragma unroll 1
        for (; chosen != 0; chosen &= chosen - 1) {
            const uint32_t which = simt_ffs(chosen) - 1, i = simt_thread() + which * simt_threads();
            const bool is_winner = (wins >> which & 1) != 0;
            const uint32_t slot = is_winner ? winner++ : tie++, most = is_winner ? e.winners : e.ties;
            if (slot < most)
                work(is_winner ? slot : e.winners + slot, m.list.bits(i), m.list.position(i));
        }
    };
    for_each(kept & ~written, [&](uint32_t slot, key_word_t<Element> bits, uint32_t position) TOPK_LAMBDA {
        entries.put(e.sends_winners ? slot : slot - e.winners, bits, position);
    });
    tell_sent(t, sent);
    if (t.a.target.kind == TARGET_OUTPUTS)
        for_each(written, [&](uint32_t slot, key_word_t<Element> bits, uint32_t position) TOPK_LAMBDA {
            write_result<Element>(t.a.rows, t.row, t.r, slot, (Element)bits, position);
        });
    before->winners += total & 0xffff;
    before->ties += total >> 16;
}

/* The result of kth: the class of a bin. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE void write_class(const bracket_task<Element, Shape> &t, const kth_bin<Element> &bin) {
    if (t.leads() && simt_thread() == 0)
        write_kth<Element>(t.a.kth, t.row, decode_key(t.a.decode, bin.first), bin.before, bin.held);
}

/* What a read has come to. A row that is neither done nor listed is read again, or takes the way out. */
enum bracket_outcome {
    BRACKET_DONE,   /* the k-th class is known, and written */
    BRACKET_LISTED, /* the lists have all candidates */
    BRACKET_SHORT,  /* a list had no room, and the threshold is a higher one now */
    BRACKET_MISSED, /* fewer than k reach the threshold; or a list had no room, and it stays */
};

/* To the least key of the bin that holds the k-th candidate. A class that fills a list is a plateau. Returns
 * whether that has changed the threshold. */
template <typename Element>
TOPK_DEVICE bool raise_threshold(row_threshold<Element> *threshold, const kth_bin<Element> &bin) {
    const bool is_plateau = bin.is_class() && threshold->scale == 0;
    const bool is_raised = threshold->key != bin.first || threshold->is_plateau != is_plateau;
    threshold->key = bin.first;
    threshold->is_plateau = is_plateau;
    return is_raised;
}

/* Writes the ties of a plateau that has been left, with `above` candidates above it, fewer than k.
 * Returns false if it has too few. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE bool fill_from_plateau(const bracket_task<Element, Shape> &t,
                                   const row_threshold<Element> &threshold, uint32_t above,
                                   struct ring_turns *turns, struct team_turn *turn, uint32_t *k) {
    const struct placed_ties placed =
        place_ties<Element, Shape>(t.a, t.row, *turns, turn->meetings, threshold.key, above, *k - above);
    *turns = placed.turns;
    turn->meetings = placed.meetings;
    if (placed.count < *k - above && threshold.key != 0)
        return false;
    *k = above + placed.count; /* if the plateau is the last class, that many match */
    return true;
}

/* Whether what is to be put in order is more than one block can. */
template <typename Element, typename Shape>
TOPK_DEVICE bool is_crowded(const bracket_task<Element, Shape> &t, const emission<Element> &e) {
    return e.sent() > Shape::SENT && !(t.a.target.kind == TARGET_KTH && e.bin.is_class());
}

/* Cuts the bin that m.bin has until one block can put in order what is left of it. Returns how often the
 * blocks of the row have met then. All threads of all these, after a barrier. */
template <typename Element, typename Shape>
TOPK_NOINLINE uint32_t cut_crowded_bin(const struct bracket_args &a, int64_t row, uint32_t listed, uint32_t k,
                                       uint32_t meetings) {
    const bracket_task<Element, Shape> t = task_of<Element, Shape>(a, row);
    kth_bin<Element> bin = kth_bin<Element>::kept(t.m.bin);
    struct team_turn turn = {};
    turn.meetings = meetings;
    while (is_crowded(t, plan_emission(a, bin, k)))
        bin = cut_bin(t, bin, listed, k, &turn);
    if (simt_thread() == 0)
        bin.keep(t.m.bin);
    simt_block_sync();
    return turn.meetings;
}

/* Writes and sends what the block's list has of the results of a row whose k-th candidate is of that bin. All
 * threads. */
template <typename Element, typename Shape>
TOPK_DEVICE struct row_rest emit_candidates(const bracket_task<Element, Shape> &t, uint32_t listed,
                                            kth_bin<Element> bin, struct team_turn *turn, uint32_t k) {
    if (is_crowded(t, plan_emission(t.a, bin, k))) {
        if (simt_thread() == 0)
            bin.keep(t.m.bin);
        simt_block_sync();
        turn->meetings = cut_crowded_bin<Element, Shape>(t.a, t.row, listed, k, turn->meetings);
        bin = kth_bin<Element>::kept(t.m.bin);
    }
    const emission<Element> e = plan_emission(t.a, bin, k);
    if (e.sent() > Shape::SENT) {
        TOPK_REACHED(REACHED_BRACKET_GPU_ONE_CLASS);
        write_class(t, bin);
        return row_rest{k, 0, 0, 0};
    }
    struct emitted before = {0, 0};
    for_pages(t, listed, [&](uint32_t count) TOPK_LAMBDA { emit_page(t, count, e, &before); });
    return row_rest{k, e.sent(), e.sends_winners ? 0 : e.winners, e.sends_winners ? e.winners : 0};
}

/* What the lists of a row's blocks have: the k-th candidate is of that bin. */
template <typename Element> struct listed_row_results {
    kth_bin<Element> bin;
    uint32_t listed;  /* by the block */
    uint32_t results; /* among the candidates of all blocks */
};

/* The bins of all blocks say which candidates are results. `found`: how many candidates the block has, listed
 * or not. If a list had no room for all, *threshold becomes one that few more than k reach. All threads; the
 * bins are clear afterwards. */
template <typename Element, typename Shape>
TOPK_DEVICE enum bracket_outcome
judge(const bracket_task<Element, Shape> &t, row_threshold<Element> *threshold, uint32_t found,
      struct ring_turns *turns, struct team_turn *turn, uint32_t *k, listed_row_results<Element> *lists) {
    const enum plateau_use use = use_of_plateau(t, *threshold);
    bool is_short = found > t.a.room;
    if (is_short)
        TOPK_REACHED(REACHED_BRACKET_GPU_OVERFLOW);
    const struct ranked_bin bin = add_up_bins(t, *k, turn, &is_short);
    lists->bin = kth_bin<Element>::of(*threshold, bin);
    lists->listed = found < t.a.room ? found : t.a.room;
    lists->results = *k;
    if (use == PLATEAU_COUNTED && bin.total >= *k && bin.bin == 0) {
        TOPK_REACHED(REACHED_BRACKET_GPU_COUNTED);
        write_class(t, lists->bin);
        return BRACKET_DONE;
    }
    if (is_short)
        return bin.total >= *k && raise_threshold(threshold, lists->bin) ? BRACKET_SHORT : BRACKET_MISSED;
    if (bin.total < *k) {
        const bool is_filled = use == PLATEAU_LEFT && !t.a.target.by_position &&
                               fill_from_plateau(t, *threshold, bin.total, turns, turn, k);
        if (!is_filled && (threshold->key != 0 || threshold->is_plateau)) {
            TOPK_REACHED(REACHED_BRACKET_GPU_MISSED);
            return BRACKET_MISSED;
        }
        if (!is_filled) {
            TOPK_REACHED(REACHED_BRACKET_GPU_FEW_MATCHES);
            *k = bin.total;
        }
        lists->results = bin.total;
        lists->bin = kth_bin<Element>::of_all(bin.total);
    }
    return BRACKET_LISTED;
}

#endif
