/* SPDX-License-Identifier: Apache-2.0
 * Digits of keys, and the search for the one of the k-th key.
 *
 * A digit is a part of the distance from the least key of a range, so that it tells keys apart however near
 * they lie to each other: what the paper reaches by subtracting one element from all. The distance of keys is
 * exact, and needs no finite numbers. It is cut into bins of one width; or, where only the lower end of the
 * range is known, into octaves of as many bins each, as a float's digits do. */
#ifndef TOPK_SRC_CUDA_RADIK_DIGIT_CUH
#define TOPK_SRC_CUDA_RADIK_DIGIT_CUH

#include "../block.cuh"
#include "../select/histogram.cuh"
#include "kernels.h"

template <typename Word> TOPK_DEVICE uint32_t bits_of(Word number) {
    return 8 * (uint32_t)sizeof(Word) - simt_clz(number);
}

/* Keys of a range by their distance from its least key. */
template <typename Element> struct key_digit {
    typedef key_word_t<Element> word;
    static const uint32_t OCTAVE_BITS = sizeof(Element) == 8 ? 6 : sizeof(Element) == 4 ? 5 : 4;
    word low, high;
    uint32_t shift; /* of bins of one width */
    uint32_t fine;  /* or 2^fine bins for each octave, counted from `low`, which is not 0 */
    bool has_octaves;

    /* Of at most 2^bits bins. */
    static TOPK_MEMBER key_digit even(const struct kth_range &range, uint32_t bits) {
        const word span = (word)(range.high - range.low);
        const uint32_t width = bits_of(span);
        return key_digit{(word)range.low, (word)range.high, width > bits ? width - bits : 0, 0, false};
    }
    static TOPK_MEMBER key_digit octaves(const struct kth_range &range, uint32_t bits) {
        return key_digit{(word)range.low, (word)range.high, 0, bits - OCTAVE_BITS, true};
    }
    TOPK_MEMBER uint32_t bin(word key) const {
        if (!has_octaves)
            return (uint32_t)((key - low) >> shift);
        const word distance = key - low + 1;
        const uint32_t octave = bits_of(distance) - 1;
        return (octave << fine) + (uint32_t)mantissa(distance, octave) - (1u << fine);
    }
    /* The least and the greatest key of a bin that some key has. */
    TOPK_MEMBER word first(uint32_t bin) const {
        if (!has_octaves)
            return low + ((word)bin << shift);
        const uint32_t octave = bin >> fine;
        const word leading = (word)((bin & ((1u << fine) - 1)) | 1u << fine);
        return low - 1 + (octave < fine ? leading >> (fine - octave) : leading << (octave - fine));
    }
    TOPK_MEMBER word last(uint32_t bin) const {
        const uint32_t octave = has_octaves ? bin >> fine : 0;
        const uint32_t width = has_octaves ? (octave < fine ? 0 : octave - fine) : shift;
        const word begin = first(bin), left = high - begin, others = ((word)1 << width) - 1;
        return others < left ? begin + others : high;
    }

  private:
    /* The leading bits, fine + 1 of them. */
    TOPK_MEMBER word mantissa(word distance, uint32_t octave) const {
        return octave < fine ? distance << (fine - octave) : distance >> (octave - fine);
    }
};

/* Whether a range needs no digit more. */
TOPK_DEVICE bool is_decided(const struct digit_plan &plan, const struct kth_range &range) {
    return range.low == range.high || (plan.early_stop && range.need == range.candidates);
}

/* The bin of the `need`-th best key, counted from 1 and from the last of `count` bins on: calls then(bin,
 * keys in better bins, keys in it) in one thread if bins hold as many; returns what all of them hold. bins(i)
 * is what bin i holds. All threads; as block_scan(). */
template <typename Bins, typename Then>
TOPK_DEVICE uint64_t find_kth_bin(const Bins &bins, uint32_t count, uint64_t need,
                                  simt_shared<uint64_t> scratch, const Then &then) {
    const uint32_t PER = RADIK_BINS_MAX / RADIK_THREADS;
    const uint32_t best = count - 1 - simt_thread() * PER; /* the thread's; wraps where it has none */
    uint64_t counts[PER], sum = 0, total;
#pragma unroll
    for (uint32_t i = 0; i < PER; i++) {
        counts[i] = best - i < count ? bins(best - i) : 0;
        sum += counts[i];
    }
    uint64_t better = block_scan(scratch, sum, &total);
    if (better >= need || better + sum < need)
        return total;
    uint32_t bin = best;
    uint64_t held = counts[0];
#pragma unroll
    for (uint32_t i = 1; i < PER; i++) {
        if (better + held < need) {
            better += held;
            held = counts[i];
            bin = best - i;
        }
    }
    then(bin, better, held);
    return total;
}

/* Shared memory of a search. */
struct digit_memory {
    simt_shared<uint32_t> bins;  /* 2^digits.bits, clear but while a digit is counted */
    simt_shared<uint64_t> sums;  /* of scans */
    simt_shared<uint64_t> found; /* a range, from one thread to all */
};

TOPK_HOST_DEVICE struct digit_memory carve_digits(simt_arena &arena, uint32_t bits) {
    struct digit_memory m;
    m.sums = simt_carve<uint64_t>(arena, SIMT_WARP);
    m.found = simt_carve<uint64_t>(arena, 4);
    m.bins = simt_carve<uint32_t>(arena, 1u << bits);
    return m;
}

/* Narrows a range to the bin of the k-th of some keys, which the block has. for_keys(work) calls work(key)
 * for the thread's keys in the range, at least `need` in all. Leaves the bins clear. All threads. */
template <typename Element, typename Keys>
TOPK_DEVICE void narrow_keys(const key_digit<Element> &digit, uint32_t bits, const struct digit_memory &m,
                             struct kth_range *range, const Keys &for_keys) {
    typedef key_word_t<Element> word;
    for_keys([&](word key) TOPK_LAMBDA { simt_atomic_add(&m.bins[digit.bin(key)], 1u); });
    simt_block_sync();
    (void)find_kth_bin([&](uint32_t bin) TOPK_LAMBDA -> uint64_t { return (uint32_t)m.bins[bin]; },
                       1u << bits, range->need, m.sums,
                       [&](uint32_t bin, uint64_t better, uint64_t held) TOPK_LAMBDA {
                           m.found[0] = digit.first(bin);
                           m.found[1] = digit.last(bin);
                           m.found[2] = range->need - better;
                           m.found[3] = held;
                       });
    simt_block_sync();
    *range = kth_range{m.found[0], m.found[1], m.found[2], m.found[3]};
    clear_bins(m.bins, 1u << bits);
    simt_block_sync();
}

#endif
