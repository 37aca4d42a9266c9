/* SPDX-License-Identifier: Apache-2.0
 * Sorts codes that lie in cache, by their stubs: integers of 32 bits, the leading bits of a code's range
 * above the code's number in its array. Codes are complements of keys, so the best come first. Part of
 * kernels.c.
 *
 * A stub has all that a sort moves, for keys of any width, and thousands of them fit in the first-level
 * cache. Few stubs go through a network of comparisons, more through two stable passes of a radix sort. The
 * leading bits tell most codes apart. Codes that share them lie side by side then, in runs: short runs are
 * inserted, long ones are sorted again, by their own range. Each time it is the range of one prefix, so data
 * cannot make it take more than a few rounds. */
#ifndef TOPK_SRC_CPU_KERNELS_STUBS_H
#define TOPK_SRC_CPU_KERNELS_STUBS_H

#include "network.h"

enum { STUB_BITS = 32, LOOKED_AT = 64 };

/* Codes, and stubs of them in some order. `others` has room for as many stubs. */
struct stubs {
    const kint *codes;
    uint32_t *stubs, *others;
    unsigned number_bits; /* of each stub */
};

/* How many bits a number has. */
static inline unsigned bit_width(uint64_t number) {
    return number == 0 ? 0 : 64 - (unsigned)__builtin_clzll(number);
}

/* Bits that hold the numbers of n codes. */
static inline unsigned number_width(size_t n) {
    return bit_width(n - 1);
}

/* Two digits of b bits each leave n codes about n^2 / 2^(2b + 1) times together, if these are spread evenly:
 * 2^7 times or less, which as floats are spread is a few times as often. Counters of more bits cost more to
 * clear and to add up. */
static inline unsigned digit_width(size_t n) {
    const unsigned bits = (bit_width(n) + 7) / 2;
    return bits < DIGIT_BITS_MAX ? bits : DIGIT_BITS_MAX;
}

/* How many leading bits of `range` bits the stubs of n codes have. A network compares all that there is room
 * for. */
static inline unsigned prefix_width(size_t n, unsigned number_bits, unsigned range) {
    const unsigned room = STUB_BITS - number_bits, digits = 2 * digit_width(n);
    const unsigned most = n <= NETWORK_MAX || room < digits ? room : digits;
    return range < most ? range : most;
}

static inline size_t stub_number(const struct stubs *s, size_t i) {
    return s->stubs[i] & ((1u << s->number_bits) - 1);
}

static inline kint stub_code(const struct stubs *s, size_t i) {
    return s->codes[stub_number(s, i)];
}

/* Sorts n stubs by their prefixes. */
static NO_INLINE void sort_digits(const struct stubs *s, size_t n, unsigned prefix_bits) {
    const struct digit high = {.shift = s->number_bits + prefix_bits - prefix_bits / 2,
                               .bits = prefix_bits / 2};
    const struct digit low = {.shift = s->number_bits, .bits = prefix_bits - high.bits};
    struct ends low_ends, high_ends;
    count_ends(s->stubs, n, false, &low, &high, &low_ends, &high_ends);
    place_ends(&low_ends, low.bits);
    place_ends(&high_ends, high.bits);
    move_to_ends(s->stubs, s->others, n, false, &low, &low_ends);
    move_to_ends(s->others, s->stubs, n, false, &high, &high_ends);
}

static inline void sort_prefixes(const struct stubs *s, size_t n, unsigned prefix_bits) {
    if (n <= NETWORK_MAX) {
        SORT_NETWORK(s->stubs, n);
    } else {
        sort_digits(s, n, prefix_bits);
    }
}

/* Inserts n stubs of the same prefix, each behind those with codes that are no larger. */
static inline void insert_stubs(const struct stubs *s, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const uint32_t stub = s->stubs[i];
        const kint code = stub_code(s, i);
        size_t at = i;
        for (; at > 0 && stub_code(s, at - 1) > code; at--) {
            s->stubs[at] = s->stubs[at - 1];
        }
        s->stubs[at] = stub;
    }
}

static void sort_run(const struct stubs *s, size_t n);

/* True if two neighbours among stubs[0 .. LOOKED_AT] have the same prefix: they differ in their numbers
 * alone. */
static inline bool any_together(const uint32_t *stubs, uint32_t numbers) {
    uint32_t least = UINT32_MAX;
    for (unsigned i = 0; i < LOOKED_AT; i++) {
        const uint32_t different = stubs[i] ^ stubs[i + 1];
        least = different < least ? different : least;
    }
    return least <= numbers;
}

/* Puts codes in order that their prefixes left together. */
static inline void sort_runs(const struct stubs *s, size_t n) {
    const uint32_t *stubs = s->stubs, numbers = (1u << s->number_bits) - 1;
    for (size_t i = 1; i < n;) {
        const size_t end = i + LOOKED_AT < n ? i + LOOKED_AT : n;
        if (end - i == LOOKED_AT && !any_together(stubs + i - 1, numbers)) {
            i = end;
            continue;
        }
        while (i < end) {
            const size_t begin = i - 1;
            bool sorted = true;
            for (; i < n && (stubs[i] ^ stubs[begin]) <= numbers; i++) {
                sorted &= stub_code(s, i) >= stub_code(s, i - 1);
            }
            if (!sorted) {
                const struct stubs run = {s->codes, s->stubs + begin, s->others, s->number_bits};
                sort_run(&run, i - begin);
            }
            i++;
        }
    }
}

/* Sorts n stubs of the same prefix. */
static NO_INLINE void sort_run(const struct stubs *s, size_t n) {
    if (n <= INSERTED_MAX) {
        insert_stubs(s, n);
        return;
    }
    TOPK_REACHED(REACHED_SORT_RUNS);
    kint least = (kint)UINT64_MAX, greatest = 0;
    for (size_t i = 0; i < n; i++) {
        const kint code = stub_code(s, i);
        least = code < least ? code : least;
        greatest = code > greatest ? code : greatest;
    }
    const unsigned range = bit_width((kint)(greatest - least));
    const unsigned prefix_bits = prefix_width(n, s->number_bits, range);
    for (size_t i = 0; i < n; i++) {
        const kint above = (kint)(stub_code(s, i) - least);
        s->stubs[i] =
            (uint32_t)(above >> (range - prefix_bits)) << s->number_bits | (uint32_t)stub_number(s, i);
    }
    sort_prefixes(s, n, prefix_bits);
    if (range > prefix_bits) {
        sort_runs(s, n);
    }
}

/* Makes the stubs of n codes within the range, and sorts them; equal codes stay in their order. */
static NO_INLINE void sort_codes(const struct stubs *s, size_t n, struct code_range codes) {
    const unsigned range = bit_width((kint)(codes.greatest - codes.least));
    const unsigned prefix_bits = prefix_width(n, s->number_bits, range), shift = range - prefix_bits;
    const kint *restrict from = s->codes;
    uint32_t *restrict stubs = s->stubs;
    for (size_t i = 0; i < n; i++) {
        const kint above = (kint)(from[i] - codes.least);
        stubs[i] = (uint32_t)(above >> shift) << s->number_bits | (uint32_t)i;
    }
    if (range > 0) {
        sort_prefixes(s, n, prefix_bits);
    }
    if (shift > 0) {
        sort_runs(s, n);
    }
}

#endif
