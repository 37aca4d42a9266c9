/* SPDX-License-Identifier: Apache-2.0
 * The k-th of some keys in cache. Part of kernels.c. */
#ifndef TOPK_SRC_CPU_KERNELS_BISECT_H
#define TOPK_SRC_CPU_KERNELS_BISECT_H

static size_t count_above(const kint *keys, size_t words, kint threshold) {
    size_t count = 0;
    TOPK_REACHED(REACHED_KEYS_COUNTED);
    for (size_t w = 0; w < words; w++) {
        count += (size_t)__builtin_popcountll(mask_above(keys + w * WORD, threshold));
    }
    return count;
}

/* From the lowest to the highest key. */
struct key_range {
    kint low, high;
};

/* The lowest and the highest of the n keys that lie in a range; one does at least. What lies below the range
 * wraps round to the farthest differences from `low`, what lies above it to those from `high`. */
static NO_INLINE struct key_range tighten(const kint *keys, size_t n, struct key_range range) {
    const kint low = range.low, high = range.high;
    kint above_low = (kint)UINT64_MAX, below_high = (kint)UINT64_MAX;
    TOPK_REACHED(REACHED_RANGE_TIGHTENED);
    for (size_t i = 0; i < n; i++) {
        const kint above = (kint)(keys[i] - low), below = (kint)(high - keys[i]);
        above_low = above < above_low ? above : above_low;
        below_high = below < below_high ? below : below_high;
    }
    return (struct key_range){(kint)(low + above_low), (kint)(high - below_high)};
}

/* A count that halves the range and excludes no key says that its keys lie close together, or are few. The
 * range is tightened then: else keys of few classes would take a count for each of their bits.
 * kernels.h */
static struct threshold bisect(const void *all, size_t n, size_t k, size_t most) {
    const kint *keys = all;
    const size_t words = words_of(n);
    struct key_range range = {(kint)UINT64_MAX, 0};
    size_t from_low = n, above_high = 0;
    for (size_t i = 0; i < n; i++) {
        range.low = keys[i] < range.low ? keys[i] : range.low;
        range.high = keys[i] > range.high ? keys[i] : range.high;
    }
    /* The k-th key is in the range; from_low keys are in it or above, and above_high < k are above. */
    while (range.low < range.high) {
        const kint middle = (kint)(range.low + (kint)(range.high - range.low) / 2);
        const size_t above = count_above(keys, words, middle), low = from_low, high = above_high;
        if (above < k) {
            range.high = middle;
            above_high = above;
        } else if (above <= most) {
            return (struct threshold){middle, above};
        } else {
            range.low = (kint)(middle + 1);
            from_low = above;
        }
        if (from_low == low && above_high == high) {
            range = tighten(keys, n, range);
        }
    }
    return (struct threshold){range.high, above_high};
}

static struct cut exact_cut(const kint *keys, size_t n, size_t k, size_t most) {
    const struct threshold t = bisect(keys, n, k, most);
    return (struct cut){t.key, t.key, t.above};
}

#endif
