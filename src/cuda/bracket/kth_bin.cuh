/* SPDX-License-Identifier: Apache-2.0
 * Which bin of a row's candidates holds the k-th, and what is known of that bin. */
#ifndef TOPK_SRC_CUDA_BRACKET_KTH_BIN_CUH
#define TOPK_SRC_CUDA_BRACKET_KTH_BIN_CUH

#include "pages.cuh"
#include "sample.cuh"
#include "team.cuh"

/* The candidates with keys from `first` to `last`. Where these are the same, positions may say besides which
 * ones: their complements, so that the first positions are the greatest. The k-th of a row is one of them. */
template <typename Element> struct kth_bin {
    typedef key_word_t<Element> word;
    word first, last;
    uint32_t low, high;    /* complements of positions */
    uint32_t before, held; /* candidates in better bins, and in this bin */

    TOPK_MEMBER bool is_above(word key, uint32_t position) const {
        return key > last || (key == last && ~position > high);
    }
    TOPK_MEMBER bool is_below(word key, uint32_t position) const {
        return key < first || (key == first && ~position < low);
    }
    /* Whether its candidates tie. */
    TOPK_MEMBER bool is_class(void) const {
        return first == last;
    }
    /* A function of its own passes a bin in shared memory: arguments would be stored where it is not called.
     */
    TOPK_MEMBER void keep(const simt_shared<uint64_t> &words) const {
        words[0] = first;
        words[1] = last;
        words[2] = low | (uint64_t)high << 32;
        words[3] = before | (uint64_t)held << 32;
    }
    static TOPK_MEMBER kth_bin kept(const simt_shared<uint64_t> &words) {
        const uint64_t positions = words[2], counts = words[3];
        return kth_bin{(word)words[0],      (word)words[1],
                       (uint32_t)positions, (uint32_t)(positions >> 32),
                       (uint32_t)counts,    (uint32_t)(counts >> 32)};
    }
    static TOPK_MEMBER kth_bin of_all(uint32_t held) {
        return kth_bin{0, ~(word)0, 0, ~0u, 0, held};
    }
    static TOPK_MEMBER kth_bin of(const row_threshold<Element> &threshold, const struct ranked_bin &bin) {
        typedef candidate_bins<word> bins;
        const word first = threshold.key + (bins::first(bin.bin) << threshold.scale);
        const word rest = ((word)1 << threshold.scale) - 1;
        const word last = threshold.key + (bins::last(bin.bin) << threshold.scale) + rest;
        const bool is_cut = bin.bin != bins::LAST && last >= first;
        return kth_bin{first, is_cut ? last : ~(word)0, 0, ~0u, bin.before, bin.held};
    }
};

/* The bin of the rank-th candidate in the row's bins of that turn, from the best on. A block that is alone
 * clears its bins. All threads, once the team has met. */
template <typename Element, typename Shape>
TOPK_DEVICE struct ranked_bin row_bin_of_rank(const bracket_task<Element, Shape> &t, uint32_t bins,
                                              uint32_t rank) {
    const uint32_t quads = SELECT_BINS_MAX / 4;
    const struct ranked_bin from_best = find_bin(
        [&](uint32_t quad) TOPK_LAMBDA {
            const simt_u32x4 held = hear_quad(t, bins, quads - 1 - quad);
            return simt_u32x4{held.w, held.z, held.y, held.x};
        },
        rank, t.m.sums, t.m.found);
    return ranked_bin{SELECT_BINS_MAX - 1 - from_best.bin, from_best.before, from_best.held, from_best.total};
}

/* Adds up the bins of the row's blocks: the bin of its k-th candidate from the best on. *is_short: whether
 * the block's list had no room for all, and then whether any list had none. All threads; the bins are clear
 * afterwards. */
template <typename Element, typename Shape>
TOPK_DEVICE struct ranked_bin add_up_bins(const bracket_task<Element, Shape> &t, uint32_t k,
                                          struct team_turn *turn, bool *is_short) {
    const uint32_t now = turn->bins();
    if (*is_short && simt_thread() == 0 && !t.is_alone())
        simt_store_relaxed(&t.state()->turns[now].is_short, 1u);
    tell_bins(t, *turn);
    meet_team(t, turn);
    if (!t.is_alone())
        *is_short = simt_load_relaxed(&t.state()->turns[now].is_short) != 0;
    return row_bin_of_rank(t, now, k);
}

/* Cuts a crowded bin: what the lists of the row's blocks have of it is counted in bins of its own, by keys,
 * or if these tie by positions. Returns the one that holds the k-th. All threads of all blocks of the row. */
template <typename Element, typename Shape>
TOPK_DEVICE kth_bin<Element> cut_bin(const bracket_task<Element, Shape> &t, const kth_bin<Element> &bin,
                                     uint32_t listed, uint32_t k, struct team_turn *turn) {
    typedef key_word_t<Element> word;
    const bool of_keys = !bin.is_class();
    const uint32_t end = ~(uint32_t)(t.r.length - 1); /* the complement of the last position */
    const word first = of_keys ? bin.first : (word)(bin.low > end ? bin.low : end);
    const word last = of_keys ? bin.last : (word)bin.high;
    const row_threshold<Element> finer = threshold_at<Element>(first, last, false, 0);
    bin_counter counter = {t.m.digit.bins, 0, 0};
    word least = ~(word)0, greatest = 0;
    bool is_short = false;
    const uint32_t now = turn->bins();
    for_pages(t, listed, [&](uint32_t count) TOPK_LAMBDA {
        for (uint32_t i = simt_thread(); i < count; i += simt_threads()) {
            const word key = key_of<Element>(t.m.list.bits(i), t.a.rows.map);
            const uint32_t position = t.m.list.position(i);
            if (bin.is_above(key, position) || bin.is_below(key, position))
                continue;
            const word number = of_keys ? key : (word)(uint32_t)~position;
            least = number < least ? number : least;
            greatest = number > greatest ? number : greatest;
            counter.add(candidate_bins<word>::of((number - finer.key) >> finer.scale));
        }
    });
    counter.flush();
    number_ends<word> ends = ends_of_block<word>(t.m.ends, least, greatest);
    if (!t.is_alone()) {
        clear_next_turn(t, *turn);
        if (simt_thread() == 0 && ends.least <= ends.greatest) {
            simt_atomic_max(&t.state()->turns[now].beyond_least, ~(uint64_t)ends.least);
            simt_atomic_max(&t.state()->turns[now].greatest, (uint64_t)ends.greatest);
        }
    }
    const struct ranked_bin found = add_up_bins(t, k - bin.before, turn, &is_short);
    if (!t.is_alone()) {
        ends.least = (word)~simt_load_relaxed(&t.state()->turns[now].beyond_least);
        ends.greatest = (word)simt_load_relaxed(&t.state()->turns[now].greatest);
    }
    kth_bin<Element> cut = kth_bin<Element>::of(finer, found);
    if (ends.least == ends.greatest) {
        cut = kth_bin<Element>{ends.least, ends.least, 0, ~0u, 0, bin.held};
    } else {
        TOPK_REACHED(of_keys ? REACHED_BRACKET_GPU_CUT : REACHED_BRACKET_GPU_CUT_BY_POSITIONS);
        cut.last = cut.last < last ? cut.last : last;
    }
    cut.before += bin.before;
    if (!of_keys)
        cut = kth_bin<Element>{bin.first,          bin.last,   (uint32_t)cut.first,
                               (uint32_t)cut.last, cut.before, cut.held};
    return cut;
}

#endif
