/* SPDX-License-Identifier: Apache-2.0
 * From the lists of a row's blocks to its results. The bin that holds the k-th candidate is known. What is in
 * better bins is a result. Where results may come in any order a block writes those of its list itself. What
 * has to be put in order goes to the row's list, and the block that completes that one selects from it. */
#ifndef TOPK_SRC_CUDA_BRACKET_EMIT_CUH
#define TOPK_SRC_CUDA_BRACKET_EMIT_CUH

#include "finish.cuh"
#include "plateau.cuh"
#include "team.cuh"

/* What becomes of candidates. Winners are those from some bin on; ties are others, from another bin on. */
struct emission {
    uint32_t winners_from, ties_from;
    uint32_t winners, ties;         /* how many of the row are written or sent: the first ones to come */
    bool sends_winners, sends_ties; /* else blocks write them */

    TOPK_MEMBER uint32_t sent(void) const {
        return (sends_winners ? winners : 0) + (sends_ties ? ties : 0);
    }
};

/* `bin`: that of the k-th candidate. takes_any: any candidates of that bin may be results. */
TOPK_DEVICE struct emission plan_emission(const struct bracket_args &a, const struct ranked_bin &bin,
                                          uint32_t k, bool takes_any) {
    const bool writes = a.target.kind == TARGET_OUTPUTS, is_whole = bin.before + bin.held == k;
    const uint32_t above = bin.before == 0 ? (uint32_t)SELECT_BINS_MAX : bin.bin + 1;
    struct emission e = {above, bin.bin, bin.before, bin.held, a.target.kind == TARGET_ENTRIES, true};
    if (takes_any || (writes && is_whole)) {
        e.ties = k - bin.before;
        e.sends_ties = !writes;
    }
    return e;
}

/* The block's first slots of results and of the row's list: `counts` has how many it needs of each, in 16
 * bits. One thread. */
template <typename Element> TOPK_DEVICE void take_slots(const bracket_task<Element> &t, uint32_t counts) {
    uint32_t results = 0, listed = 0;
    if (!t.is_alone() && (counts & 0xffff) != 0)
        results = simt_atomic_add(&t.state()->results, counts & 0xffff);
    if (!t.is_alone() && counts >> 16 != 0)
        listed = simt_atomic_add(&t.state()->listed, counts >> 16);
    t.m.published[0] = results;
    t.m.published[1] = listed;
}

/* The block has sent `sent` of `all` entries. Whether it is to put them in order: the leading block, which
 * waits for the others. All threads. */
template <typename Element>
TOPK_DEVICE bool gathers(const bracket_task<Element> &t, uint32_t sent, uint32_t all) {
    if (all == 0 || (sent == 0 && !t.leads()))
        return false;
    simt_block_sync();
    if (t.is_alone())
        return true;
    if (simt_thread() == 0) {
        simt_fence_device();
        if (sent != 0)
            simt_atomic_add(&t.state()->complete, sent);
        while (t.leads() && simt_load_acquire(&t.state()->complete) < all)
            ;
    }
    simt_block_sync();
    return t.leads();
}

/* Writes and sends what the block's list holds. Returns whether the block is to finish the row. All threads.
 */
template <typename Element>
TOPK_DEVICE bool emit_list(const bracket_task<Element> &t, const row_threshold<Element> &threshold,
                           uint32_t count, const struct emission &e) {
    const bracket_memory<Element> &m = t.m;
    const row_entries<Element> entries = entries_of(t);
    uint32_t counts = 0, total;
    for (uint32_t i = simt_thread(); i < count; i += simt_threads()) {
        const uint32_t bin = bin_of_candidate<Element>(m.list.bits(i), threshold, t.a.rows.map);
        counts += bin >= e.winners_from ? 1 : bin >= e.ties_from ? 1u << 16 : 0;
    }
    const uint32_t before = block_scan(m.sums, counts, &total);
    if (simt_thread() == 0)
        take_slots(t, total);
    simt_block_sync();
    const uint32_t first_winner = m.published[0], first_tie = m.published[1];
    uint32_t winner = (before & 0xffff) + first_winner, tie = (before >> 16) + first_tie;
    for (uint32_t i = simt_thread(); counts != 0 && i < count; i += simt_threads()) {
        const key_word_t<Element> bits = m.list.bits(i);
        const uint32_t bin = bin_of_candidate<Element>(bits, threshold, t.a.rows.map);
        const bool wins = bin >= e.winners_from;
        if (bin < e.ties_from)
            continue;
        const uint32_t slot = wins ? winner++ : tie++;
        const bool is_taken = slot < (wins ? e.winners : e.ties);
        if (is_taken && (wins ? e.sends_winners : e.sends_ties))
            entries.put(wins || !e.sends_winners ? slot : e.winners + slot, bits, m.list.position(i));
        else if (is_taken && t.a.target.kind == TARGET_OUTPUTS)
            write_result<Element>(t.a.rows, t.row, t.r, wins ? slot : e.winners + slot, (Element)bits,
                                  m.list.position(i));
    }
    const uint32_t ties_end = first_tie + (total >> 16), ties = ties_end < e.ties ? ties_end : e.ties;
    const uint32_t sent =
        (e.sends_winners ? total & 0xffff : 0) + (e.sends_ties && first_tie < ties ? ties - first_tie : 0);
    return gathers(t, sent, e.sent());
}

/* A class that the k-th candidate is of: so many are better, and so many tie; 0 if there is none. */
template <typename Element> struct kth_class {
    key_word_t<Element> key;
    uint32_t better, ties;
};

/* The class of all candidates of a bin, if they tie. All threads of all blocks of the row. */
template <typename Element>
TOPK_DEVICE kth_class<Element> class_of_bin(const bracket_task<Element> &t,
                                            const row_threshold<Element> &threshold, uint32_t count,
                                            const struct ranked_bin &bin, struct team_turn *turn) {
    typedef key_word_t<Element> word;
    word least = ~(word)0, greatest = 0;
    for (uint32_t i = simt_thread(); i < count; i += simt_threads()) {
        const word key = key_of<Element>(t.m.list.bits(i), t.a.rows.map);
        if (bin_of_candidate<Element>(t.m.list.bits(i), threshold, t.a.rows.map) == bin.bin) {
            least = key < least ? key : least;
            greatest = key > greatest ? key : greatest;
        }
    }
    number_ends<word> ends = ends_of_block<word>(t.m.ends, least, greatest);
    if (!t.is_alone()) {
        clear_next_turn(t, *turn);
        if (simt_thread() == 0 && ends.least <= ends.greatest) {
            simt_atomic_min(&t.state()->least, (uint64_t)ends.least);
            simt_atomic_max(&t.state()->greatest, (uint64_t)ends.greatest);
        }
        meet_team(t, turn);
        ends.least = (word)simt_load_relaxed(&t.state()->least);
        ends.greatest = (word)simt_load_relaxed(&t.state()->greatest);
    }
    return kth_class<Element>{ends.least, bin.before, ends.least == ends.greatest ? bin.held : 0};
}

/* The result of kth. All threads. */
template <typename Element>
TOPK_DEVICE void write_class(const bracket_task<Element> &t, const kth_class<Element> &c) {
    if (t.leads() && simt_thread() == 0)
        write_kth<Element>(t.a.kth, t.row, decode_key(t.a.decode, c.key), c.better, c.ties);
}

/* Why a row takes the way out, if it does. */
enum bracket_outcome {
    BRACKET_DONE,
    BRACKET_MISSED,  /* fewer than k reach the threshold */
    BRACKET_SHORT,   /* a list had no room for all that do */
    BRACKET_CROWDED, /* a bin holds more than one block puts in order */
};

/* To the least key of a bin. */
template <typename Element>
TOPK_DEVICE void raise_threshold(row_threshold<Element> *threshold, uint32_t bin) {
    typedef candidate_bins<key_word_t<Element>> bins;
    threshold->key += bins::first(bin) << threshold->scale;
    threshold->is_plateau &= bin == 0;
}

/* Adds up the bins of the row's blocks: the bin of its k-th candidate from the best on. *is_short: whether
 * the block's list had no room for all, and then whether any list had none. All threads; the bins are clear
 * afterwards. */
template <typename Element>
TOPK_DEVICE struct ranked_bin add_up_bins(const bracket_task<Element> &t, uint32_t k, struct team_turn *turn,
                                          bool *is_short) {
    const uint32_t now = turn->bins(), quads = SELECT_BINS_MAX / 4;
    if (!t.is_alone() && turn->meetings == 0)
        simt_grid_wait(turn->start); /* the state is clear */
    if (*is_short && simt_thread() == 0 && !t.is_alone())
        simt_store_relaxed(&t.state()->turns[now].is_short, 1u);
    tell_bins(t, *turn);
    meet_team(t, turn);
    if (!t.is_alone())
        *is_short = simt_load_relaxed(&t.state()->turns[now].is_short) != 0;
    const struct ranked_bin from_best = find_bin(
        [&](uint32_t quad) TOPK_LAMBDA {
            const simt_u32x4 held = hear_quad(t, now, quads - 1 - quad);
            return simt_u32x4{held.w, held.z, held.y, held.x};
        },
        k, t.m.sums, t.m.found);
    return ranked_bin{SELECT_BINS_MAX - 1 - from_best.bin, from_best.before, from_best.held, from_best.total};
}

/* Writes the results of a row whose k-th element is of a plateau that has been left: fewer than k candidates
 * are above it. Returns false if the plateau has too few. All threads. */
template <typename Element>
TOPK_DEVICE bool emit_plateau(const bracket_task<Element> &t, const row_threshold<Element> &threshold,
                              uint32_t count, uint32_t above, struct ring_turns *turns,
                              struct team_turn *turn, uint32_t *k) {
    const struct placed_ties placed =
        place_ties<Element>(t.a, t.row, *turns, turn->meetings, threshold.key, above, *k - above);
    *turns = placed.turns;
    turn->meetings = placed.meetings;
    if (placed.count < *k - above && threshold.key != 0)
        return false;
    *k = above + placed.count; /* if the plateau is the last class, so many match */
    const struct emission e = plan_emission(t.a, ranked_bin{0, 0, above, above}, above, false);
    if (emit_list(t, threshold, count, e))
        finish_row(t, above, e.sent(), 0);
    return true;
}

/* Writes the results of a row whose k-th candidate is of that bin, unless this is too crowded: then, if its
 * candidates tie, *crowd becomes their class. All threads. */
template <typename Element>
TOPK_DEVICE enum bracket_outcome
emit_candidates(const bracket_task<Element> &t, const row_threshold<Element> &threshold, uint32_t count,
                const struct ranked_bin &bin, struct team_turn *turn, uint32_t k, kth_class<Element> *crowd) {
    const bool may_choose = t.a.target.ties_free && t.a.target.kind != TARGET_KTH;
    struct emission e = plan_emission(t.a, bin, k, may_choose && threshold.is_plateau && bin.bin == 0);
    if (e.sent() > BRACKET_SENT) {
        *crowd = class_of_bin(t, threshold, count, bin, turn);
        if (crowd->ties == 0)
            return BRACKET_CROWDED;
        TOPK_REACHED(REACHED_BRACKET_GPU_ONE_CLASS);
        if (t.a.target.kind == TARGET_KTH) {
            write_class(t, *crowd);
            return BRACKET_DONE;
        }
        if (may_choose)
            e = plan_emission(t.a, bin, k, true);
        if (e.sent() > BRACKET_SENT)
            return BRACKET_CROWDED;
    }
    if (emit_list(t, threshold, count, e))
        finish_row(t, k, e.sent(), e.sends_winners ? 0 : e.winners);
    return BRACKET_DONE;
}

/* The bins of all blocks say which candidates are results, and these are written. `found`: how many
 * candidates the block has, listed or not. If a list had no room for all, *threshold becomes one that few
 * more than k reach. All threads; the bins are clear afterwards. */
template <typename Element>
TOPK_DEVICE enum bracket_outcome emit(const bracket_task<Element> &t, row_threshold<Element> *threshold,
                                      uint32_t found, struct ring_turns *turns, struct team_turn *turn,
                                      uint32_t *k, kth_class<Element> *crowd) {
    const uint32_t count = found < BRACKET_ROOM ? found : (uint32_t)BRACKET_ROOM;
    const enum plateau_use use = use_of_plateau(t, *threshold);
    bool is_short = found > BRACKET_ROOM;
    if (is_short)
        TOPK_REACHED(REACHED_BRACKET_GPU_OVERFLOW);
    struct ranked_bin bin = add_up_bins(t, *k, turn, &is_short);
    if (use == PLATEAU_COUNTED && bin.total >= *k && bin.bin == 0) {
        TOPK_REACHED(REACHED_BRACKET_GPU_COUNTED);
        write_class(t, kth_class<Element>{threshold->key, bin.before, bin.held});
        return BRACKET_DONE;
    }
    if (is_short) {
        if (bin.total >= *k)
            raise_threshold<Element>(threshold, bin.bin);
        return BRACKET_SHORT;
    }
    if (bin.total < *k) {
        if (use == PLATEAU_LEFT && emit_plateau(t, *threshold, count, bin.total, turns, turn, k))
            return BRACKET_DONE;
        if (threshold->key != 0 || threshold->is_plateau) {
            TOPK_REACHED(REACHED_BRACKET_GPU_MISSED);
            return BRACKET_MISSED;
        }
        TOPK_REACHED(REACHED_BRACKET_GPU_FEW_MATCHES);
        *k = bin.total;
        bin = ranked_bin{0, 0, bin.total, bin.total}; /* all matches, taken as one bin */
    }
    return emit_candidates(t, *threshold, count, bin, turn, *k, crowd);
}

#endif
