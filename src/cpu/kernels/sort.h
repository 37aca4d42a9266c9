/* SPDX-License-Identifier: Apache-2.0
 * Sorts pairs of a key and a slot. Part of kernels.c. */
#ifndef TOPK_SRC_CPU_KERNELS_SORT_H
#define TOPK_SRC_CPU_KERNELS_SORT_H

enum { RANKED_AT_ONCE = 4, RANKED_VECTORS = 4 };

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

/* kernels.h */
static void rank_sort(const void *all, const uint32_t *slots, size_t n, uint32_t *sorted_slots) {
    struct ranking r;
    for (wide_kint i = 0; i < WORD; i++) {
        r.keys[i] = ranked_key(((const kint *)all)[i], i, (wide_kint)n);
    }
    rank_keys(&r, n);
    for (size_t i = 0; i < n; i++) {
        sorted_slots[r.ranks[i]] = slots[i];
    }
}

static inline unsigned digit_of(kint key, unsigned shift) {
    return RADIX_BINS - 1 - (unsigned)(key >> shift & (RADIX_BINS - 1));
}

static void count_digit(const void *all, size_t n, unsigned shift, size_t *counts) {
    const kint *keys = all;
    memset(counts, 0, RADIX_BINS * sizeof *counts);
    for (size_t i = 0; i < n; i++) {
        counts[digit_of(keys[i], shift)]++;
    }
}

static void move_digit(const void *all, const uint32_t *slots, size_t n, unsigned shift, size_t *offsets,
                       void *keys_out, uint32_t *slots_out) {
    const kint *restrict keys = all;
    kint *restrict to = keys_out;
    for (size_t i = 0; i < n; i++) {
        const size_t rank = offsets[digit_of(keys[i], shift)]++;
        to[rank] = keys[i];
        slots_out[rank] = slots[i];
    }
}

/* Sorts the n listed hits of a row; returns their slots. */
static NO_INLINE const uint32_t *radix_sort(const struct short_row *row, size_t n) {
    unsigned from = 0;
    for (unsigned shift = 0; shift < KEY_BITS; shift += 8) {
        size_t counts[RADIX_BINS], sum = 0;
        count_digit(row->hit_keys[from], n, shift, counts);
        if (counts[digit_of(*(const kint *)row->hit_keys[from], shift)] == n) {
            continue;
        }
        for (unsigned d = 0; d < RADIX_BINS; d++) {
            const size_t count = counts[d];
            counts[d] = sum;
            sum += count;
        }
        move_digit(row->hit_keys[from], row->slots[from], n, shift, counts, row->hit_keys[1 - from],
                   row->slots[1 - from]);
        from = 1 - from;
    }
    return row->slots[from];
}

#endif
