/* SPDX-License-Identifier: Apache-2.0
 * Sorts pairs of a key and a slot. Part of kernels.c. */
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

/* Sorts n <= RANK_MAX pairs. */
static NO_INLINE void rank_sort(const kint *keys, const uint32_t *slots, size_t n, kint *sorted_keys,
                                uint32_t *sorted_slots) {
    struct ranking r;
    size_t whole = 0;
    for (; whole + RANKED_WORD <= n; whole += RANKED_WORD) {
        for (size_t j = whole; j < whole + RANKED_WORD; j++) {
            r.keys[j] = ranked_key(keys[j], (wide_kint)j, (wide_kint)n);
        }
    }
    if (whole < n) { /* another part's keys follow, or nothing that may be read */
        kint rest[RANKED_WORD] = {0};
        memcpy(rest, keys + whole, (n - whole) * sizeof *rest);
        for (size_t j = 0; j < RANKED_WORD; j++) {
            r.keys[whole + j] = ranked_key(rest[j], (wide_kint)(whole + j), (wide_kint)n);
        }
    }
    rank_keys(&r, n);
    for (size_t i = 0; i < n; i++) {
        const size_t rank = r.ranks[i];
        sorted_keys[rank] = keys[i];
        sorted_slots[rank] = slots[i];
    }
}

/* Merges the sorted pairs before `middle` with those behind it. There are as many of both, or one more of
 * one. The first half of the results comes from the fronts, the last from the backs: neither can run out
 * before it is done, and the two chains of comparisons overlap. */
static NO_INLINE void merge(const kint *restrict keys, const uint32_t *restrict slots, size_t middle,
                            size_t n, kint *restrict merged_keys, uint32_t *restrict merged_slots) {
    const size_t half = middle < n - middle ? middle : n - middle;
    size_t left = 0, right = middle, left_end = middle, right_end = n;
    for (size_t i = 0; i < half; i++) {
        const size_t is_right = keys[right] > keys[left];
        const size_t is_left = keys[left_end - 1] < keys[right_end - 1];
        const size_t first = left ^ ((left ^ right) & (0 - is_right));
        const size_t last = (right_end ^ ((left_end ^ right_end) & (0 - is_left))) - 1;
        merged_keys[i] = keys[first];
        merged_slots[i] = slots[first];
        right += is_right;
        left += 1 - is_right;
        merged_keys[n - 1 - i] = keys[last];
        merged_slots[n - 1 - i] = slots[last];
        left_end -= is_left;
        right_end -= 1 - is_left;
    }
    if (2 * half < n) {
        const size_t only = left < left_end ? left : right;
        merged_keys[half] = keys[only];
        merged_slots[half] = slots[only];
    }
}

/* Sorts 2^levels parts by ranks, then merges neighbours. */
static const uint32_t *merge_sort(void *const keys[2], uint32_t *const slots[2], size_t n) {
    unsigned levels = 0, from = 1;
    while (n > (size_t)RANKED_PART << levels) {
        levels++;
    }
    for (size_t part = 0; part < (size_t)1 << levels; part++) {
        const size_t begin = n * part >> levels, end = n * (part + 1) >> levels;
        rank_sort((const kint *)keys[0] + begin, slots[0] + begin, end - begin, (kint *)keys[1] + begin,
                  slots[1] + begin);
    }
    for (; levels > 0; levels--, from = 1 - from) {
        for (size_t part = 0; part < (size_t)1 << levels; part += 2) {
            const size_t begin = n * part >> levels, middle = n * (part + 1) >> levels;
            const size_t end = n * (part + 2) >> levels;
            merge((const kint *)keys[from] + begin, slots[from] + begin, middle - begin, end - begin,
                  (kint *)keys[1 - from] + begin, slots[1 - from] + begin);
        }
    }
    return slots[from];
}

/* kernels.h */
static NO_INLINE const uint32_t *sort_pairs(void *const keys[2], uint32_t *const slots[2],
                                            uint64_t *const entries[2], size_t n) {
    if (n <= MERGED_MAX) {
        return merge_sort(keys, slots, n);
    }
    sort_by_entries(keys[0], slots[0], n, entries, slots[1]);
    return slots[1];
}

#endif
