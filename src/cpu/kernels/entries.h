/* SPDX-License-Identifier: Apache-2.0
 * Sorts entries that lie in cache: 64-bit integers, a code of up to 32 bits above a slot. Part of kernels.c.
 *
 * Two stable passes of a radix sort put the leading bits of the codes' range in order, which tell most codes
 * apart. What these bits leave together lies side by side, in runs: short runs are inserted, long ones are
 * sorted again, by their own range. Each time it is the range of one prefix, so data cannot make it take more
 * than a few rounds. */
#ifndef TOPK_SRC_CPU_KERNELS_ENTRIES_H
#define TOPK_SRC_CPU_KERNELS_ENTRIES_H

enum { CROWDED_SHARE = 4 };

/* The digits that entries are sorted by: the high one holds the leading bits of the codes' range. */
struct digits {
    struct digit low, high;
};

/* The leading bits of the codes from `least` to `greatest` that two digits hold. */
static inline struct digits leading_digits(size_t n, uint64_t least, uint64_t greatest) {
    const unsigned range = bit_width(greatest - least), width = digit_width(n);
    const unsigned taken = range < 2 * width ? range : 2 * width;
    struct digits d = {.low = {.base = least << CODE_SHIFT, .bits = taken - taken / 2},
                       .high = {.base = least << CODE_SHIFT, .bits = taken / 2}};
    d.low.shift = CODE_SHIFT + range - taken;
    d.high.shift = d.low.shift + d.low.bits;
    return d;
}

/* How many codes the digits leave together, if those with the same high digit are spread evenly: where data
 * crowd, most counters are 0. */
static inline bool is_crowded(const struct ends *high, const struct digits *d, size_t n) {
    uint64_t squares = 0;
    for (size_t i = 0; i < (size_t)1 << d->high.bits; i++) {
        const uint64_t count = (uint64_t)high->fronts[i] + high->backs[i];
        squares += count * count;
    }
    return squares >> (d->low.bits + 1) > n / CROWDED_SHARE;
}

/* Sorts n entries by the digit below the others, which becomes a part of the low one. */
static void sort_digit_below(uint64_t *restrict entries, uint64_t *restrict others, size_t n,
                             struct digit *low) {
    const unsigned below = low->shift - CODE_SHIFT;
    struct digit digit = {.base = low->base, .bits = below < low->bits ? below : low->bits};
    struct ends ends, none;
    digit.shift = low->shift -= digit.bits;
    low->bits += digit.bits;
    count_ends(entries, n, true, &digit, &(struct digit){.base = low->base, .shift = 63}, &ends, &none);
    place_ends(&ends, digit.bits);
    move_to_ends(entries, others, n, true, &digit, &ends);
    memcpy(entries, others, n * sizeof *entries);
}

/* Sorts n entries by two digits, or three where data crowd: then the low digit of *digits is longer. */
static void sort_entry_digits(uint64_t *restrict entries, uint64_t *restrict others, size_t n,
                              struct digits *digits) {
    const struct digits d = *digits;
    struct ends low, high;
    count_ends(entries, n, true, &d.low, &d.high, &low, &high);
    if (d.low.shift > CODE_SHIFT && is_crowded(&high, &d, n)) {
        TOPK_REACHED(REACHED_SORT_CROWDED);
        sort_digit_below(entries, others, n, &digits->low);
    }
    place_ends(&low, d.low.bits);
    place_ends(&high, d.high.bits);
    move_to_ends(entries, others, n, true, &d.low, &low);
    move_to_ends(others, entries, n, true, &d.high, &high);
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
    for (size_t i = 1; d.low.shift > CODE_SHIFT && i < n; i++) {
        if (entry_code(entries[i]) >= entry_code(entries[i - 1])) {
            continue;
        }
        const uint64_t prefix = (entries[i] - d.low.base) >> d.low.shift;
        size_t begin = i - 1, end = i + 1;
        while (begin > 0 && (entries[begin - 1] - d.low.base) >> d.low.shift == prefix) {
            begin--;
        }
        while (end < n && (entries[end] - d.low.base) >> d.low.shift == prefix) {
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

#if KEY_BITS < 64

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
