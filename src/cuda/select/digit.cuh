/* SPDX-License-Identifier: Apache-2.0
 * The digit of the k-th code: what a histogram says about the range. */
#ifndef TOPK_SRC_CUDA_SELECT_DIGIT_CUH
#define TOPK_SRC_CUDA_SELECT_DIGIT_CUH

#include "../block.cuh"
#include "histogram.cuh"

/* The bin of the lesser of the two codes of zero, if this digit tells them apart; else a number that no bin
 * has. */
TOPK_DEVICE uint32_t bin_of_zeros(const struct code_map &map, uint64_t low, struct digit digit) {
    bool here = digit.shift == 0 && map.zeros >= low && map.zeros - low < digit.mask;
    return here ? (uint32_t)(map.zeros - low) : 1u << 31;
}

/* Finds the digit of the `need`-th best candidate of `range` and calls then() with the narrower range, in one
 * thread; returns the sum of all bins. Both zeros are one class, so their bins stay together. bins(i) is what
 * bin i holds. PER: bins of a thread, at least. LIMIT: clamps range.need to the sum, and does not call then()
 * if that is 0; otherwise need is at least 1 and at most the sum. All threads; as block_scan(). */
template <uint32_t PER, bool LIMIT, typename Bins, typename Then>
TOPK_DEVICE uint64_t find_digit(const Bins &bins, const struct code_map &map, struct digit digit,
                                const struct kth_range &range, simt_shared<uint64_t> scratch,
                                const Then &then) {
    const uint32_t count = digit.mask + 1, zeros = bin_of_zeros(map, range.low, digit);
    uint64_t counts[PER], sum = 0, total, need = range.need;
    uint32_t best = count - 1 - simt_thread() * PER; /* the thread's; wraps where it has none */
#pragma unroll
    for (uint32_t i = 0; i < PER; i++) {
        counts[i] = best - i < count ? bins(best - i) : 0;
        sum += counts[i];
    }
    uint64_t better = block_scan(scratch, sum, &total);
    if (LIMIT && need > total)
        need = total;
    if (better >= need || better + sum < need)
        return total;
    uint32_t bin = best, width = 1;
    uint64_t equal = counts[0];
#pragma unroll
    for (uint32_t i = 1; i < PER; i++) {
        if (better + equal < need) {
            better += equal;
            equal = counts[i];
            bin = best - i;
        }
    }
    if (bin == zeros) {
        better -= bins(bin + 1);
        equal += bins(bin + 1);
        width = 2;
    } else if (bin == zeros + 1) {
        bin = zeros;
        equal += bins(bin);
        width = 2;
    }
    uint64_t low = range.low + ((uint64_t)bin << digit.shift);
    then(kth_range{low, low + ((uint64_t)width << digit.shift) - 1, need - better, equal});
    return total;
}

/* Shared memory for a block's search. */
struct digit_shared {
    simt_shared<uint32_t> bins;
    simt_shared<uint64_t> sums;  /* of scans */
    simt_shared<uint64_t> found; /* a range, from one thread to all */
};

TOPK_HOST_DEVICE struct digit_shared carve_digit(simt_arena &arena) {
    struct digit_shared s;
    s.sums = simt_carve<uint64_t>(arena, SIMT_WARP);
    s.found = simt_carve<uint64_t>(arena, 4);
    s.bins = simt_carve<uint32_t>(arena, SELECT_BINS_MAX + 1);
    return s;
}

/* Narrows the range by the digit that s.bins have counted; returns the sum of all bins. PER: bins of a
 * thread, at least. LIMIT: as in find_digit(); if the sum is 0 the range stays. All threads. */
template <uint32_t PER, bool LIMIT>
TOPK_DEVICE uint64_t narrow(const struct code_map &map, struct digit digit, const struct digit_shared &s,
                            struct kth_range *range) {
    const auto then = [&](const struct kth_range &narrower) TOPK_LAMBDA {
        s.found[0] = narrower.low;
        s.found[1] = narrower.high;
        s.found[2] = narrower.need;
        s.found[3] = narrower.candidates;
    };
    const auto bins = [&](uint32_t bin) TOPK_LAMBDA -> uint64_t { return (uint32_t)s.bins[bin]; };
    uint64_t total;
    simt_block_sync();
    if (digit.mask < 2 * simt_threads())
        total = find_digit<2, LIMIT>(bins, map, digit, *range, s.sums, then);
    else
        total = find_digit<PER, LIMIT>(bins, map, digit, *range, s.sums, then);
    simt_block_sync();
    if (!LIMIT || total > 0)
        *range = kth_range{s.found[0], s.found[1], s.found[2], s.found[3]};
    return total;
}

#endif
