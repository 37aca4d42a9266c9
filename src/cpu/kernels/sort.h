/* SPDX-License-Identifier: Apache-2.0
 * Puts hits of a short row in order: few by their ranks, more by stubs. Part of kernels.c. */
#ifndef TOPK_SRC_CPU_KERNELS_SORT_H
#define TOPK_SRC_CPU_KERNELS_SORT_H

enum { RANKED_AT_ONCE = 4, RANKED_VECTORS = 4, RANKED_WORD = 16 };

/* RANK_MAX keys or fewer, to be sorted, and their ranks: how many come before each. Narrow keys have the
 * complement of their slot below them, so that no two are equal. */
struct ranking {
    wide_kint keys[RANK_MAX] __attribute__((aligned(64))); /* zeros follow the last, up to a whole vector */
    wide_kint ranks[RANK_MAX + RANKED_AT_ONCE] __attribute__((aligned(64))); /* n follows the last */
};

/* Key i of n, as lanes compare it; zeros follow. */
static INLINE wide_kint ranked_key(kint key, wide_kint i, wide_kint n) {
    const wide_kint whole = KEY_BITS < 32 ? (wide_kint)key << 16 | (RANK_MAX - 1 - i) : (wide_kint)key;
    return (i < n ? whole : 0) ^ wide_flip;
}

/* The ranks of `vectors` vectors from `first` on: a constant number, so that counts stay in registers.
 * Returns their sums. */
static INLINE lanes count_ranks(struct ranking *r, size_t n, unsigned vectors, size_t first) {
    lanes these[RANKED_VECTORS], counts[RANKED_VECTORS], sum = {0};
    for (unsigned v = 0; v < vectors; v++) {
        these[v] = lanes_load(r->keys + first + v * WIDE_LANES);
        counts[v] = (lanes){0};
    }
    for (size_t i = 0; i < n; i += RANKED_AT_ONCE) {
        for (size_t j = i; j < i + RANKED_AT_ONCE; j++) {
            const lanes key = lanes_of(r->keys[j]);
            for (unsigned v = 0; v < vectors; v++) {
                counts[v] = add_above(counts[v], key, these[v]);
            }
        }
    }
    for (unsigned v = 0; v < vectors; v++) {
        sum = add_lanes(sum, counts[v]);
    }
    memcpy(r->ranks + first, counts, vectors * sizeof *counts);
    return sum;
}

/* Ranks n keys. How many larger ones there are is their rank, if no two are equal: then all ranks are
 * different, and their sum is known. Else the equal ones that lie before are added. */
static NO_INLINE void rank_keys(struct ranking *r, size_t n) {
    const size_t padded = (n + WIDE_LANES - 1) / WIDE_LANES * WIDE_LANES;
    size_t first = 0;
    wide_kint sum = 0;
    lanes sums = {0};
    for (; first + 3 * WIDE_LANES < n; first += 4 * WIDE_LANES) {
        sums = add_lanes(sums, count_ranks(r, n, 4, first));
    }
    if (first + 2 * WIDE_LANES < n) {
        sums = add_lanes(sums, count_ranks(r, n, 3, first));
    } else if (first + WIDE_LANES < n) {
        sums = add_lanes(sums, count_ranks(r, n, 2, first));
    } else if (first < n) {
        sums = add_lanes(sums, count_ranks(r, n, 1, first));
    }
    wide_kint parts[WIDE_LANES];
    memcpy(parts, &sums, sizeof parts);
    for (size_t i = 0; i < WIDE_LANES; i++) {
        sum += parts[i];
    }
    /* Before a zero, with which vectors are filled, come all keys but zeros. */
    if (sum != n * (n - 1) / 2 + n * (padded - n)) {
        unsigned char equals[RANK_MAX] = {0}; /* that were met, by rank of the first one */
        for (size_t i = 0; i < n; i++) {
            r->ranks[i] += equals[r->ranks[i]]++;
        }
    }
    for (size_t i = n; i < n + RANKED_AT_ONCE; i++) {
        r->ranks[i] = n;
    }
}

/* Codes of keys, in their place, and their range. */
static inline struct code_range codes_of(kint *keys, size_t n) {
    struct code_range range = {(kint)UINT64_MAX, 0};
    for (size_t i = 0; i < n; i++) {
        const kint code = (kint)~keys[i];
        keys[i] = code;
        range.least = code < range.least ? code : range.least;
        range.greatest = code > range.greatest ? code : range.greatest;
    }
    return range;
}

/* kernels.h */
static NO_INLINE const uint32_t *sort_pairs(void *keys, const uint32_t *slots, size_t n,
                                            uint64_t *const entries[2], uint32_t *restrict sorted) {
#if KEY_BITS < 64
    if (n > NETWORK_MAX) {
        sort_by_entries(keys, slots, n, entries, sorted);
        return sorted;
    }
#endif
    const struct stubs s = {keys, (uint32_t *)entries[0], (uint32_t *)entries[1], number_width(n)};
    sort_codes(&s, n, codes_of(keys, n));
    if (slots == NULL) {
        for (size_t i = 0; i < n; i++) {
            sorted[i] = (uint32_t)stub_number(&s, i);
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            sorted[i] = slots[stub_number(&s, i)];
        }
    }
    return sorted;
}

#endif
