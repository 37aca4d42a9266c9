/* SPDX-License-Identifier: Apache-2.0
 * Bins for how far keys are from one of them: the further, the wider. All octaves of a distance have as many
 * bins, so that a bin is narrow beside the distance, whatever the scale of the data. */
#ifndef TOPK_SRC_CUDA_BRACKET_BINS_CUH
#define TOPK_SRC_CUDA_BRACKET_BINS_CUH

#include "memory.cuh"

template <typename Word, uint32_t OCTAVE_BITS> struct distance_bins {
    static const uint32_t BITS = 8 * sizeof(Word), OCTAVES = 1u << OCTAVE_BITS;
    static const uint32_t FINE = SELECT_DIGIT_BITS_MAX - OCTAVE_BITS; /* 2^FINE bins for each octave */
    static const uint32_t LAST = SELECT_BINS_MAX - 1;

    /* Greater for greater distances; 0 for none. */
    static TOPK_MEMBER uint32_t of(Word distance) {
        const uint32_t zeros = simt_clz(distance);
        const uint32_t leading = (uint32_t)(distance << (zeros & (BITS - 1)) >> (BITS - 1 - FINE));
        const uint32_t bin = ((BITS - 2 - zeros) << FINE) + leading + 1;
        return distance == 0 ? 0 : bin < LAST ? bin : LAST;
    }
    /* The least and the greatest distance of a bin that some distance has. */
    static TOPK_MEMBER Word first(uint32_t bin) {
        return bin == 0 ? 0 : scaled(mantissa(bin), octave(bin));
    }
    static TOPK_MEMBER Word last(uint32_t bin) {
        if (bin == 0 || bin == LAST)
            return bin == 0 ? 0 : ~(Word)0;
        return octave(bin) < FINE ? first(bin) : scaled(mantissa(bin) + 1, octave(bin)) - 1;
    }

  private:
    static TOPK_MEMBER uint32_t octave(uint32_t bin) {
        return (bin - 1) >> FINE;
    }
    static TOPK_MEMBER Word mantissa(uint32_t bin) {
        return ((bin - 1) & ((1u << FINE) - 1)) | 1u << FINE;
    }
    static TOPK_MEMBER Word scaled(Word mantissa, uint32_t octave) {
        return octave < FINE ? mantissa >> (FINE - octave) : mantissa << (octave - FINE);
    }
};

/* Samples lie at any distance; candidates are not far from the threshold, in units of 2^scale. */
template <typename Word> using sample_bins = distance_bins<Word, sizeof(Word) == 8 ? 6 : 5>;
template <typename Word> using candidate_bins = distance_bins<Word, sizeof(Word) == 8 ? 5 : 4>;

/* The bin that holds the rank-th of all that bins hold, counted from 1 and from the first bin asked for; how
 * many are in bins before it; how many it holds; and how many all do. If the rank is beyond that, only the
 * total has a meaning. */
struct ranked_bin {
    uint32_t bin, before, held, total;
};

/* quad(i) is what the i-th four bins hold. All threads, after a barrier. */
template <typename Quads>
TOPK_DEVICE struct ranked_bin find_bin(const Quads &quad, uint32_t rank, simt_shared<uint32_t> scratch,
                                       simt_shared<uint32_t> found) {
    static_assert(SELECT_BINS_MAX / 4 <= BRACKET_THREADS, "a thread has four bins at most");
    simt_u32x4 mine = {0, 0, 0, 0};
    struct ranked_bin result = {0, 0, 0, 0};
    if (simt_thread() < SELECT_BINS_MAX / 4)
        mine = quad(simt_thread());
    const uint32_t two = mine.x + mine.y, three = two + mine.z, sum = three + mine.w;
    const uint32_t before = block_scan(scratch, sum, &result.total), need = rank - before;
    if (before < rank && need <= sum) {
        const uint32_t which = (need > mine.x) + (need > two) + (need > three);
        found[0] = simt_thread() * 4 + which;
        found[1] = before + (which == 0 ? 0 : which == 1 ? mine.x : which == 2 ? two : three);
        found[2] = which == 0 ? mine.x : which == 1 ? mine.y : which == 2 ? mine.z : mine.w;
    }
    simt_block_sync();
    if (rank <= result.total) {
        result.bin = found[0];
        result.before = found[1];
        result.held = found[2];
    }
    return result;
}

/* Counts numbers in bins. A thread adds to a bin in memory only when its next number is of another bin. */
struct bin_counter {
    simt_shared<uint32_t> bins;
    uint32_t bin, count;

    TOPK_MEMBER void flush(void) {
        if (count != 0)
            simt_atomic_add(&bins[bin], count);
        count = 0;
    }
    TOPK_MEMBER void add(uint32_t to) {
        if (to != bin)
            flush();
        bin = to;
        count++;
    }
};

/* Takes four of the block's bins and clears them. */
TOPK_DEVICE simt_u32x4 take_quad(simt_shared<simt_u32x4> bins, uint32_t quad) {
    const simt_u32x4 held = bins[quad];
    bins[quad] = simt_u32x4{0, 0, 0, 0};
    return held;
}

#endif
