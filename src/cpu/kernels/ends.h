/* SPDX-License-Identifier: Apache-2.0
 * A stable pass of a radix sort that works from both ends. Part of kernels.c.
 *
 * Where many numbers share a digit, each waits for the counter that the one before it has just stored. So
 * numbers of the first half go to the fronts of their digits' places, and numbers of the second half, last
 * one first, to the backs: two chains of counters that do not wait for each other, and meet. */
#ifndef TOPK_SRC_CPU_KERNELS_ENDS_H
#define TOPK_SRC_CPU_KERNELS_ENDS_H

/* Which bits of a number are a digit, once `base` is subtracted. */
struct digit {
    uint64_t base;
    unsigned shift, bits;
};

/* Of each value of a digit: how many numbers have it, in two parts; then the place of the next one, and the
 * place behind the last free one. */
struct ends {
    uint32_t fronts[1 << DIGIT_BITS_MAX], backs[1 << DIGIT_BITS_MAX];
};

static inline size_t digit_of(uint64_t number, const struct digit *d) {
    return (size_t)((number - d->base) >> d->shift & ((1u << d->bits) - 1));
}

/* Numbers have 64 bits if `wide`, else 32. */
static INLINE uint64_t number_at(const void *numbers, size_t i, bool wide) {
    return wide ? ((const uint64_t *)numbers)[i] : ((const uint32_t *)numbers)[i];
}

static INLINE void put_number(void *numbers, size_t at, uint64_t number, bool wide) {
    if (wide) {
        ((uint64_t *)numbers)[at] = number;
    } else {
        ((uint32_t *)numbers)[at] = (uint32_t)number;
    }
}

static inline void clear_ends(struct ends *ends, unsigned bits) {
    memset(ends->fronts, 0, sizeof *ends->fronts << bits);
    memset(ends->backs, 0, sizeof *ends->backs << bits);
}

/* Counts two digits; neighbours in different parts. */
static INLINE void count_ends(const void *numbers, size_t n, bool wide, const struct digit *low,
                              const struct digit *high, struct ends *low_ends, struct ends *high_ends) {
    const struct digit l = *low, h = *high;
    clear_ends(low_ends, l.bits);
    clear_ends(high_ends, h.bits);
    for (size_t i = 0; i + 1 < n; i += 2) {
        const uint64_t a = number_at(numbers, i, wide), b = number_at(numbers, i + 1, wide);
        low_ends->fronts[digit_of(a, &l)]++;
        high_ends->fronts[digit_of(a, &h)]++;
        low_ends->backs[digit_of(b, &l)]++;
        high_ends->backs[digit_of(b, &h)]++;
    }
    if (n % 2 != 0) {
        low_ends->fronts[digit_of(number_at(numbers, n - 1, wide), &l)]++;
        high_ends->fronts[digit_of(number_at(numbers, n - 1, wide), &h)]++;
    }
}

/* Counts to places. */
static inline void place_ends(struct ends *ends, unsigned bits) {
    uint32_t sum = 0;
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        const uint32_t count = ends->fronts[i] + ends->backs[i];
        ends->fronts[i] = sum;
        sum += count;
        ends->backs[i] = sum;
    }
}

/* Moves n numbers to their places; those with equal digits stay in their order. */
static INLINE void move_to_ends(const void *restrict from, void *restrict to, size_t n, bool wide,
                                const struct digit *digit, struct ends *restrict ends) {
    const struct digit d = *digit;
    size_t i = 0, j = n;
    while (i + 1 < j) {
        const uint64_t first = number_at(from, i++, wide), last = number_at(from, --j, wide);
        put_number(to, ends->fronts[digit_of(first, &d)]++, first, wide);
        put_number(to, --ends->backs[digit_of(last, &d)], last, wide);
    }
    if (i < j) {
        const uint64_t middle = number_at(from, i, wide);
        put_number(to, ends->fronts[digit_of(middle, &d)], middle, wide);
    }
}

#endif
