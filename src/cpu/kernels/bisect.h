/* SPDX-License-Identifier: Apache-2.0
 * The k-th of some keys in cache. Part of kernels.c. */
#ifndef TOPK_SRC_CPU_KERNELS_BISECT_H
#define TOPK_SRC_CPU_KERNELS_BISECT_H

static size_t count_above(const kint *keys, size_t words, kint threshold) {
    size_t count = 0;
    for (size_t w = 0; w < words; w++) {
        count += (size_t)__builtin_popcountll(mask_above(keys + w * WORD, threshold));
    }
    return count;
}

/* kernels.h */
static struct threshold bisect(const void *all, size_t n, size_t k, size_t most) {
    const kint *keys = all;
    const size_t words = words_of(n);
    kint low = (kint)UINT64_MAX, high = 0;
    size_t above_high = 0;
    for (size_t i = 0; i < n; i++) {
        low = keys[i] < low ? keys[i] : low;
        high = keys[i] > high ? keys[i] : high;
    }
    /* The k-th key is in [low, high], and above_high < k keys are above high. */
    while (low < high) {
        const kint middle = (kint)(low + (kint)(high - low) / 2);
        const size_t above = count_above(keys, words, middle);
        if (above < k) {
            high = middle;
            above_high = above;
        } else if (above <= most) {
            return (struct threshold){middle, above};
        } else {
            low = (kint)(middle + 1);
        }
    }
    return (struct threshold){high, above_high};
}

static struct cut exact_cut(const kint *keys, size_t n, size_t k, size_t most) {
    const struct threshold t = bisect(keys, n, k, most);
    return (struct cut){t.key, t.key, t.above};
}

#endif
