/* SPDX-License-Identifier: Apache-2.0
 * The inner loops of the CPU backend, one set for each key width and instruction set.
 *
 * kernels.c is compiled once for each; everything else in this folder is compiled once and works
 * on whole tiles through these pointers. Elements are `bits` wide; keys have the width of elements.
 * A mask holds bit i % 64 of word i / 64 for element i; bits beyond n are clear. */
#ifndef TOPK_SRC_CPU_KERNELS_H
#define TOPK_SRC_CPU_KERNELS_H

#include <stddef.h>

#include "../../keys.h"
#include "../../predicate.h"
#include "../sizes.h"

struct split_counts {
    size_t above, equal;
};

/* What separates the k best of some keys from the others: the `above` keys above `key`;
 * and if these are fewer than k, the first k - above of those equal to it. */
struct threshold {
    uint64_t key;
    size_t above;
};

/* How an approximate selection ends (CONTRACT.md 2.5), and the numbers that keys stand for: a key with its
 * top bit set has the bits of a number that is not negative, any other key the complement of the bits of one
 * that is, both but for the sign. Larger numbers are better. */
struct approximation {
    int64_t max_iterations; /* 0: by epsilon */
    double epsilon;
    bool relative;            /* epsilon is to be multiplied by the larger of the row's magnitudes */
    uint64_t least, greatest; /* keys of the type's finite numbers */
    unsigned mantissa_bits;
    double scale; /* of the numbers, to what their bits are as the upper bits of a float or double */
};

/* The results among some keys: the `above` keys above `high`, and if these are too few
 * the first from low to high, in the order of their positions. */
struct cut {
    uint64_t low, high;
    size_t above;
};

/* The k-th key of a row, and how many are above and equal to it. */
struct kth {
    uint64_t key;
    size_t above, equal;
};

/* Where a short row is worked on, all in whole words. */
struct short_row {
    void *matches;        /* of the row: what meets the predicate, if there is one */
    uint32_t *positions;  /* of the matches */
    void *keys;           /* of the row */
    uint64_t *hits;       /* mask of the row: its results, and maybe a few more */
    void *hit_keys[2];    /* of hits_room() hits, and a word more */
    uint32_t *slots[2];   /* likewise */
    uint64_t *entries[2]; /* likewise, of select */
    struct arc not_above; /* no hits of the next row, at a guess */
    bool guesses;         /* there is one */
    bool reversed;        /* of kth: it is in the reversed order */
    bool searched;        /* the row's hits were found by a search, and keys are valid */
    bool equal;           /* the row's hits all have the same key */
    uint64_t threshold;   /* that it found: whoever runs the row makes the next guess from it */
};

/* The keys and the points of an order of elements. */
struct maps {
    const struct key_map *key;
    const struct point_map *point;
};

/* How many hits of a row are moved together at most, where k <= n are wanted: enough that the same threshold
 * serves most rows of the same distribution, and few enough to be sorted. */
static inline size_t hits_room(size_t n, size_t k) {
    const size_t room = k + k / 4 + 24;
    return room < n ? room : n;
}

/* Entries on their way to be sorted: complements of keys, and slots. An integer of 64 bits has both, the slot
 * below, where keys have up to 32 bits; of wider keys slots are an array of their own, else NULL. */
struct list {
    uint64_t *entries;
    uint32_t *slots;
};

/* An entry's prefix: how far its code, the complement of a key, is above `low`, in steps of 2^shift. Prefixes
 * stay within 0 and `last`, wherever the code is. */
struct prefixes {
    uint64_t low;
    unsigned shift;
    uint32_t last;
};

/* Up to RANGES_MAX ranges of keys that have none in common, the worst first: the keys above ends[2 * r] and
 * up to ends[2 * r + 1]. An open first range has all keys up to its higher end, and the greatest key as its
 * lower one. */
enum { RANGES_MAX = 16, RANGE_ROOM = 256 };
struct ranges {
    size_t count;
    bool is_open;
    uint64_t ends[2 * RANGES_MAX];
    size_t above[RANGES_MAX];  /* grows by the keys above each range */
    size_t filled[RANGES_MAX]; /* elements in each buffer, at most RANGE_ROOM - WORD when a call begins */
    void *buffers;             /* RANGE_ROOM elements of each range */
};

/* From the least code of some elements to the greatest. */
struct code_span {
    uint64_t least, greatest;
};

/* How a part deals elements to buckets. */
struct dealing {
    const uint16_t *buckets; /* of each prefix */
    const uint32_t *begins;  /* where the part's entries of each bucket begin */
    uint32_t *offsets;       /* where the next one goes */
    /* A cache line for each bucket, aligned, where entries wait until they fill it; the other one for slots
     * that have an array of their own. NULL: each goes to its place at once. */
    uint64_t *lines;
    uint32_t *slot_lines;
};

/* The n entries of a list from `begin` on are in order, and belong in places `at` and behind. */
typedef void (*list_function)(void *argument, const struct list *list, size_t begin, size_t at, size_t n);

struct kernels {
    const char *name;
    unsigned bits;

    /* keys[i] = key of element i. */
    void (*encode)(const void *elements, size_t n, const struct key_map *map, void *keys);

    /* keys[i] = key of a hashed element of the row, for begin <= i < end, where both are multiples of
     * SAMPLE_GROUP: one run of SAMPLE_GROUP neighbours from each stretch of `stretch` elements. */
    void (*sample)(const void *elements, size_t stretch, size_t begin, size_t end, uint64_t seed,
                   const struct key_map *map, void *keys);

    /* Masks of the elements above and equal to a threshold; `equal` may be NULL. Counts both. */
    struct split_counts (*split)(const void *elements, size_t n, const struct point_map *point_map,
                                 const struct threshold_arcs *threshold, uint64_t *above, uint64_t *equal);

    /* Mask of the elements whose points match; returns their number. */
    size_t (*match)(const void *elements, size_t n, const struct point_map *point_map,
                    const struct match *match, uint64_t *mask);

    /* How many bits of a mask are set. */
    size_t (*count)(const uint64_t *mask, size_t words);

    /* bins[(key - low) >> shift] += 1 for every element with low <= key <= high; returns how many
     * have larger keys. Of all elements, or of those in the mask `only`. */
    size_t (*histogram)(const void *elements, size_t n, const uint64_t *only, const struct key_map *map,
                        uint64_t low, uint64_t high, unsigned shift, uint64_t *bins);

    /* The keys from low to high, in the order of their elements; returns their number. */
    size_t (*take_range)(const void *elements, size_t n, const uint64_t *only, const struct key_map *map,
                         uint64_t low, uint64_t high, void *keys);

    /* Collects the elements of ranges in their buffers. Returns how many of the n elements it has looked at:
     * whole words, and fewer where a buffer might not have room for another word. NULL for narrow keys. */
    size_t (*collect_ranges)(const void *elements, size_t n, const struct key_map *map,
                             struct ranges *ranges);

    /* Table t of DIGIT_TABLES, at bins + t * pitch, counts a part of the elements, for n below 2^32:
     * bins[(key - low) >> shift] += 1 where low <= key <= high, and the bin behind these for all others. */
    void (*count_digits)(const void *elements, size_t n, const struct key_map *map, uint64_t low,
                         uint64_t high, unsigned shift, uint32_t *bins, size_t pitch);

    /* Threshold of the k best (1 <= k <= n) of n keys, by bisection; `keys` is padded with zeros to
     * whole words. Ends early where k to `most` keys are above; else the threshold is the k-th key itself. */
    struct threshold (*bisect)(const void *keys, size_t n, size_t k, size_t most);

    /* Copies the elements of a mask of `words` words to out, which has room for `room` of them: at least
     * as many as there are, and not many more, for how they are moved is chosen by it. Returns their
     * number. */
    size_t (*take)(const void *elements, const uint64_t *mask, size_t words, void *out, size_t room);

    /* base + i for every bit i of a mask. */
    size_t (*positions32)(const uint64_t *mask, size_t words, uint32_t base, uint32_t *out, size_t room);
    size_t (*positions64)(const uint64_t *mask, size_t words, uint64_t base, uint64_t *out, size_t room);

    /* Sorts n >= 1 pairs of a key and a slot, best first and stable; returns `sorted`, which has the slots.
     * NULL for `slots`: the slot of pair i is i. Each of entries has room for as many. Changes the keys. */
    const uint32_t *(*sort_pairs)(void *keys, const uint32_t *slots, size_t n, uint64_t *const entries[2],
                                  uint32_t *sorted);

    /* Slots of the elements in the mask `only`, among n <= FEW_KEYS, best first and stable. */
    void (*sort_few)(const void *elements, size_t n, uint64_t only, const struct key_map *map,
                     uint32_t *slots);

    /* counts[p] += 1 for the prefix p of each of n elements. */
    void (*count_prefixes)(const void *values, size_t n, const struct key_map *map,
                           const struct prefixes *prefixes, uint32_t *counts);

    /* Puts n elements into buckets of the list. The slot of element i is slots[i]; without slots it is
     * first + i. */
    void (*deal_entries)(const void *values, const uint32_t *slots, uint32_t first, size_t n,
                         const struct key_map *map, const struct prefixes *prefixes,
                         const struct dealing *dealing, const struct list *list);

    /* Copies the entries that unfinished lines still hold to the list. After a part's last deal_entries(). */
    void (*finish_dealing)(const struct dealing *dealing, size_t buckets, const struct list *list);

    /* Sorts n >= 1 entries of lists[from] from `begin` on, best first and stable, and hands them on run by
     * run. The other list has room for as many there, `scratch` for in_cache numbers of 64 bits. */
    void (*sort_list)(const struct list lists[2], int from, size_t begin, size_t n, uint64_t *scratch,
                      size_t in_cache, list_function sorted, void *argument);

    /* Widens a span to the codes of n elements. */
    void (*widen_span)(const void *values, size_t n, const struct key_map *map, struct code_span *span);

    /* Makes entries of n elements within the span, in their order, which sort_listed() understands. The slot
     * of element i is slots[i]; without slots it is first + i. */
    void (*list_entries)(const void *values, const uint32_t *slots, uint32_t first, size_t n,
                         const struct key_map *map, const struct code_span *span, uint64_t *entries);

    /* Sorts all n >= 1 entries, which lie in lists[0].entries in the order of their slots, best first and
     * stable, and hands them on. Slot i stands for elements[i]. lists[1].entries has room for n, too. */
    void (*sort_listed)(const struct list lists[2], size_t n, const struct code_span *span,
                        const void *elements, const struct key_map *map, list_function sorted,
                        void *argument);

    /* The elements and slots of n entries. Where an element's bits do not follow from its key they come from
     * elements[slot]. `values` may be NULL. */
    void (*decode_list)(const struct list *list, size_t begin, size_t n, const struct key_map *map,
                        const void *elements, void *values, uint32_t *slots);

    /* The k best (1 <= k <= n) of a row; their positions end up in the array returned, one of row->slots,
     * best first if `sorted`, else ascending. With an approximation (NULL: none) the floating-point mode must
     * be the default. */
    const uint32_t *(*select_short)(const void *elements, size_t n, size_t k, const struct maps *maps,
                                    const struct approximation *approximation, bool sorted,
                                    struct short_row *row);

    /* The k-th key of a row (1 <= k <= n). */
    struct kth (*kth_short)(const void *elements, size_t n, size_t k, const struct maps *maps,
                            struct short_row *row);
};

enum kernel_variant { KERNELS_SCALAR, KERNELS_AVX2, KERNELS_AVX512, KERNELS_NEON, KERNEL_VARIANTS };

/* Chooses the sets for this machine: fills context->kernels and features. */
topk_status topk_cpu_kernels_choose(topk_context *context);

/* The set for an element width, from those the context chose at its creation. */
const struct kernels *topk_cpu_kernels_for(const topk_context *context, unsigned bits);

/* Unsigned integers are their own points. */
static const struct point_map topk_unsigned_point_map = {UINT64_MAX, 0, 0};

static inline size_t words_of(size_t n) {
    return n / WORD + (n % WORD != 0);
}

/* A well-mixed 64-bit hash (the finaliser of SplitMix64, Steele et al. 2014). */
static inline uint64_t hash_mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The position at which the run of samples in stretch i begins. */
static inline size_t sample_position(size_t i, size_t stretch, uint64_t seed) {
    const uint64_t starts = (stretch - SAMPLE_GROUP + 1) & UINT32_MAX;
    return i * stretch + (size_t)((hash_mix(i + seed) >> 32) * starts >> 32);
}

/* Clears all but the first `keep` bits of a mask. */
static inline void mask_keep_first(uint64_t *mask, size_t words, size_t keep) {
    for (size_t w = 0; w < words; w++) {
        const size_t count = (size_t)__builtin_popcountll(mask[w]);
        if (count <= keep) {
            keep -= count;
            continue;
        }
        uint64_t rest = mask[w];
        for (; keep > 0; keep--) {
            rest &= rest - 1;
        }
        mask[w] ^= rest;
    }
}

#endif
