/* SPDX-License-Identifier: Apache-2.0
 * Sorts entries that lie in cache: 64-bit integers, the code of an element above its slot. Part of kernels.c,
 * for keys of up to 32 bits.
 *
 * Two stable passes of a radix sort put the leading bits of the codes' range in order, which tell most codes
 * apart. What these bits leave together lies side by side, in runs: short runs are inserted, long ones are
 * sorted again, by their own range. Each time it is the range of one prefix, so data cannot make it take more
 * than a few rounds. */
#ifndef TOPK_SRC_CPU_KERNELS_ENTRIES_H
#define TOPK_SRC_CPU_KERNELS_ENTRIES_H

#if KEY_BITS < 64

enum { CROWDED_SHARE = 2 };

/* Which bits of an entry are a digit, once `base` is subtracted. */
struct digits {
    uint64_t base;
    unsigned low_shift, low_bits, high_shift, high_bits;
};

static inline size_t low_digit(uint64_t entry, const struct digits *d) {
    return (size_t)((entry - d->base) >> d->low_shift & ((1u << d->low_bits) - 1));
}

static inline size_t high_digit(uint64_t entry, const struct digits *d) {
    return (size_t)((entry - d->base) >> d->high_shift);
}

/* The leading bits of the codes from `least` to `greatest` that two digits hold. */
static inline struct digits leading_digits(size_t n, uint64_t least, uint64_t greatest) {
    const unsigned range = bit_width(greatest - least), width = digit_width(n);
    const unsigned taken = range < 2 * width ? range : 2 * width;
    struct digits d = {.base = least << CODE_SHIFT, .high_bits = taken / 2, .low_bits = taken - taken / 2};
    d.low_shift = CODE_SHIFT + range - taken;
    d.high_shift = d.low_shift + d.low_bits;
    return d;
}

/* How many codes the digits leave together, if those with the same high digit are spread evenly: where data
 * crowd, most counters are 0. */
static inline bool is_crowded(const uint32_t *high, const struct digits *d, size_t n) {
    uint64_t squares = 0;
    for (size_t i = 0; i < (size_t)1 << d->high_bits; i++) {
        squares += (uint64_t)high[i] * high[i];
    }
    return squares >> (d->low_bits + 1) > n / CROWDED_SHARE;
}

/* Sorts n entries by the digit below the others. */
static void sort_digit_below(uint64_t *restrict entries, uint64_t *restrict others, size_t n,
                             struct digits *d) {
    uint32_t counts[1 << DIGIT_BITS_MAX] = {0};
    const unsigned below = d->low_shift - CODE_SHIFT, bits = below < d->low_bits ? below : d->low_bits;
    const uint64_t base = d->base, mask = (1u << bits) - 1;
    const unsigned shift = d->low_shift -= bits;
    d->low_bits += bits;
    for (size_t i = 0; i < n; i++) {
        counts[(entries[i] - base) >> shift & mask]++;
    }
    add_up(counts, bits);
    for (size_t i = 0; i < n; i++) {
        const uint64_t entry = entries[i];
        others[counts[(entry - base) >> shift & mask]++] = entry;
    }
    memcpy(entries, others, n * sizeof *entries);
}

/* Sorts n entries by two digits, or three where data crowd: then the low digit of *digits is longer. */
static void sort_entry_digits(uint64_t *restrict entries, uint64_t *restrict others, size_t n,
                              struct digits *digits) {
    const struct digits d = *digits;
    uint32_t low[1 << DIGIT_BITS_MAX], high[1 << DIGIT_BITS_MAX];
    memset(low, 0, sizeof *low << d.low_bits);
    memset(high, 0, sizeof *high << d.high_bits);
    for (size_t i = 0; i < n; i++) {
        low[low_digit(entries[i], &d)]++;
        high[high_digit(entries[i], &d)]++;
    }
    if (d.low_shift > CODE_SHIFT && is_crowded(high, &d, n)) {
        TOPK_REACHED(REACHED_SORT_CROWDED);
        sort_digit_below(entries, others, n, digits);
    }
    add_up(low, d.low_bits);
    add_up(high, d.high_bits);
    for (size_t i = 0; i < n; i++) {
        const uint64_t entry = entries[i];
        others[low[low_digit(entry, &d)]++] = entry;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t entry = others[i];
        entries[high[high_digit(entry, &d)]++] = entry;
    }
}

static inline void insert_entries(uint64_t *entries, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const uint64_t entry = entries[i];
        size_t at = i;
        for (; at > 0 && entry_code(entries[at - 1]) > entry_code(entry); at--) {
            entries[at] = entries[at - 1];
        }
        entries[at] = entry;
    }
}

static void sort_entry_run(uint64_t *entries, uint64_t *others, size_t n);

/* Sorts n entries whose codes lie from `least` to `greatest`; equal codes stay in their order. `others` has
 * room for as many. */
static NO_INLINE void sort_entries(uint64_t *entries, uint64_t *others, size_t n, uint64_t least,
                                   uint64_t greatest) {
    if (least == greatest) {
        return;
    }
    struct digits d = leading_digits(n, least, greatest);
    sort_entry_digits(entries, others, n, &d);
    for (size_t i = 1; d.low_shift > CODE_SHIFT && i < n; i++) {
        if (entry_code(entries[i]) >= entry_code(entries[i - 1])) {
            continue;
        }
        const uint64_t prefix = (entries[i] - d.base) >> d.low_shift;
        size_t begin = i - 1, end = i + 1;
        while (begin > 0 && (entries[begin - 1] - d.base) >> d.low_shift == prefix) {
            begin--;
        }
        while (end < n && (entries[end] - d.base) >> d.low_shift == prefix) {
            end++;
        }
        sort_entry_run(entries + begin, others, end - begin);
        i = end;
    }
}

/* Sorts n entries with the same leading bits. */
static void sort_entry_run(uint64_t *entries, uint64_t *others, size_t n) {
    if (n <= INSERTED_MAX) {
        insert_entries(entries, n);
        return;
    }
    TOPK_REACHED(REACHED_ENTRY_RUNS);
    uint64_t least = UINT64_MAX, greatest = 0;
    for (size_t i = 0; i < n; i++) {
        least = entry_code(entries[i]) < least ? entry_code(entries[i]) : least;
        greatest = entry_code(entries[i]) > greatest ? entry_code(entries[i]) : greatest;
    }
    sort_entries(entries, others, n, least, greatest);
}

/* Slots of n (key, slot) pairs, best first; slots may be NULL (kernels.h). */
static void sort_by_entries(const kint *keys, const uint32_t *slots, size_t n, uint64_t *const entries[2],
                            uint32_t *sorted) {
    uint64_t *all = entries[0];
    kint least = (kint)UINT64_MAX, greatest = 0;
    for (size_t i = 0; i < n; i++) {
        least = keys[i] < least ? keys[i] : least;
        greatest = keys[i] > greatest ? keys[i] : greatest;
    }
    for (size_t i = 0; i < n; i++) {
        all[i] = (uint64_t)(kint)~keys[i] << CODE_SHIFT | (slots != NULL ? slots[i] : (uint32_t)i);
    }
    sort_entries(all, entries[1], n, (kint)~greatest, (kint)~least);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (uint32_t)all[i];
    }
}
#endif
#endif
