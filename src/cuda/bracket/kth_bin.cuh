/* SPDX-License-Identifier: Apache-2.0
 * Which bin of a row's candidates holds the k-th, and what is known of that bin. */
#ifndef TOPK_SRC_CUDA_BRACKET_KTH_BIN_CUH
#define TOPK_SRC_CUDA_BRACKET_KTH_BIN_CUH

#include "pages.cuh"
#include "sample.cuh"
#include "team.cuh"

/* The candidates with keys from `first` to `last`. The k-th of a row is one of them. */
template <typename Element> struct kth_bin {
    key_word_t<Element> first, last;
    uint32_t before, held; /* so many have greater keys, so many are of the bin */

    TOPK_MEMBER bool holds(key_word_t<Element> key) const {
        return key - first <= last - first;
    }
    TOPK_MEMBER bool is_class(void) const {
        return first == last;
    }
    static TOPK_MEMBER kth_bin of_all(uint32_t held) {
        return kth_bin{0, ~(key_word_t<Element>)0, 0, held};
    }
    static TOPK_MEMBER kth_bin of(const row_threshold<Element> &threshold, const struct ranked_bin &bin) {
        typedef key_word_t<Element> word;
        typedef candidate_bins<word> bins;
        const word first = threshold.key + (bins::first(bin.bin) << threshold.scale);
        const word rest = ((word)1 << threshold.scale) - 1;
        const word last = threshold.key + (bins::last(bin.bin) << threshold.scale) + rest;
        const bool is_cut = bin.bin != bins::LAST && last >= first;
        return kth_bin{first, is_cut ? last : ~(word)0, bin.before, bin.held};
    }
};

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

/* A bin, and how often the blocks of the row have met. */
template <typename Element> struct found_bin {
    kth_bin<Element> bin;
    uint32_t meetings;
};

/* Cuts a crowded bin: what the lists of the row's blocks have of it is counted in bins of its own, and the
 * one that holds the k-th takes its place. If all of its candidates tie, their class does. All threads of all
 * blocks of the row, which have met so often. */
template <typename Element>
TOPK_NOINLINE found_bin<Element> cut_bin(const struct bracket_args &a, int64_t row,
                                         const kth_bin<Element> &bin, uint32_t listed, uint32_t k,
                                         uint32_t meetings) {
    typedef key_word_t<Element> word;
    const bracket_task<Element> t = task_of<Element>(a, row);
    const row_threshold<Element> finer = threshold_at<Element>(bin.first, bin.last, false, 0);
    struct team_turn turn = {};
    word least = ~(word)0, greatest = 0;
    bool is_short = false;
    turn.meetings = meetings;
    const uint32_t now = turn.bins();
    for_pages(t, listed, [&](uint32_t count) TOPK_LAMBDA {
        for (uint32_t i = simt_thread(); i < count; i += simt_threads()) {
            const word bits = t.m.list.bits(i), key = key_of<Element>(bits, a.rows.map);
            if (!bin.holds(key))
                continue;
            least = key < least ? key : least;
            greatest = key > greatest ? key : greatest;
            simt_atomic_add(&t.m.digit.bins[bin_of_candidate<Element>(bits, finer, a.rows.map)], 1u);
        }
    });
    number_ends<word> ends = ends_of_block<word>(t.m.ends, least, greatest);
    if (!t.is_alone()) {
        clear_next_turn(t, turn);
        if (simt_thread() == 0 && ends.least <= ends.greatest) {
            simt_atomic_min(&t.state()->turns[now].least, (uint64_t)ends.least);
            simt_atomic_max(&t.state()->turns[now].greatest, (uint64_t)ends.greatest);
        }
    }
    const struct ranked_bin found = add_up_bins(t, k - bin.before, &turn, &is_short);
    if (!t.is_alone()) {
        ends.least = (word)simt_load_relaxed(&t.state()->turns[now].least);
        ends.greatest = (word)simt_load_relaxed(&t.state()->turns[now].greatest);
    }
    if (ends.least == ends.greatest)
        return found_bin<Element>{{ends.least, ends.least, bin.before, bin.held}, turn.meetings};
    TOPK_REACHED(REACHED_BRACKET_GPU_CUT);
    kth_bin<Element> cut = kth_bin<Element>::of(finer, found);
    cut.before += bin.before;
    cut.last = cut.last < bin.last ? cut.last : bin.last;
    return found_bin<Element>{cut, turn.meetings};
}

#endif
