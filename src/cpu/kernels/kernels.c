/* SPDX-License-Identifier: Apache-2.0
 * The inner loops, for one key width and one instruction set.
 *
 * Compiled once for each pair of them, with
 *   KEY_BITS       8, 16, 32 or 64
 *   KERNEL_SET     name of the struct kernels that this compilation defines
 *   KERNEL_NAME    its instruction set, as a string
 * and the compiler options of the instruction set. The loops that turn elements into keys are plain
 * C which compilers vectorise; what they do not (masks, moving by masks) is in vector.h. */
#include "kernels.h"

#include <string.h>

/* An element or a key. Callers' elements have types of their own. */
#if KEY_BITS == 8
typedef uint8_t kint __attribute__((may_alias));
#elif KEY_BITS == 16
typedef uint16_t kint __attribute__((may_alias));
#elif KEY_BITS == 32
typedef uint32_t kint __attribute__((may_alias));
#else
typedef uint64_t kint __attribute__((may_alias));
#endif

#include "vector.h"

/* struct key_map at the width of keys. */
struct map {
    kint keep, flip_positive, flip_change, add_negative, magnitude, zero_key, largest_number, nan_key;
};

static inline struct map narrow(const struct key_map *map) {
    return (struct map){
        (kint)map->keep,           (kint)map->flip_positive, (kint)(map->flip_positive ^ map->flip_negative),
        (kint)map->add_negative,   (kint)map->magnitude,     (kint)map->zero_key,
        (kint)map->largest_number, (kint)map->nan_key};
}

static inline kint key_of(kint element, const struct map *map) {
    const kint u = element & map->keep;
    const kint size = u & map->magnitude;
    const kint negative = (kint)(0 - (u >> (KEY_BITS - 1)));
    kint key =
        (kint)((u ^ map->flip_positive ^ (negative & map->flip_change)) + (negative & map->add_negative));
    key = size == 0 ? map->zero_key : key;
    return size > map->largest_number ? map->nan_key : key;
}

#include "few.h"

static inline void word_keys(const kint *restrict elements, const struct map *map, kint *restrict keys) {
    const struct map m = *map;
    for (unsigned i = 0; i < WORD; i++) {
        keys[i] = key_of(elements[i], &m);
    }
}

/* The last word of n elements: what lies beyond gets key 0. */
static inline void part_keys(const kint *elements, size_t n, const struct map *map, kint *keys) {
    for (size_t i = 0; i < n; i++) {
        keys[i] = key_of(elements[i], map);
    }
    memset(keys + n, 0, (WORD - n) * sizeof *keys);
}

/* Each run misses the cache: many are kept under way at once. */
static void sample(const void *elements, size_t stretch, size_t begin, size_t end, uint64_t seed,
                   const struct key_map *key_map, void *keys) {
    const struct map map = narrow(key_map);
    const size_t first = begin / SAMPLE_GROUP, last = end / SAMPLE_GROUP;
    const kint *in = elements;
    kint *out = (kint *)keys + begin;
    for (size_t i = first; i < last && i < first + RUNS_AHEAD; i++) {
        __builtin_prefetch(in + sample_position(i, stretch, seed));
    }
    for (size_t i = first; i < last; i++) {
        if (i + RUNS_AHEAD < last) {
            __builtin_prefetch(in + sample_position(i + RUNS_AHEAD, stretch, seed));
        }
        const size_t position = sample_position(i, stretch, seed);
        for (size_t j = 0; j < SAMPLE_GROUP; j++) {
            *out++ = key_of(in[position + j], &map);
        }
    }
}

static inline uint64_t low_bits(size_t n) {
    return n >= WORD ? UINT64_MAX : (1ull << n) - 1;
}

static void encode(const void *elements, size_t n, const struct key_map *key_map, void *keys) {
    const struct map map = narrow(key_map);
    const kint *restrict in = elements;
    kint *restrict out = keys;
    for (size_t i = 0; i < n; i++) {
        out[i] = key_of(in[i], &map);
    }
}

/* Masks of the last, incomplete word of elements, made from a padded copy. */
static INLINE void tail_masks(const struct arcs *arcs, const kint *in, size_t rest, bool by_magnitude,
                              uint64_t *in_a, uint64_t *in_b) {
    kint padded[WORD] = {0};
    memcpy(padded, in, rest * sizeof *in);
    arcs_masks(arcs, padded, by_magnitude, in_a, in_b);
}

/* A row is read faster than a core looks ahead while it makes masks: fetch a word's lines early. What
 * lies beyond the row is never used. */
static inline void fetch_ahead(const kint *word) {
    for (unsigned line = 0; line < sizeof *word; line++) {
        __builtin_prefetch((const char *)word + PREFETCH_BYTES + 64 * line, 0, 2); /* to L2 */
    }
}

static INLINE struct split_counts split_as(const kint *in, size_t n, const struct point_map *point_map,
                                           const struct threshold_arcs *threshold, bool by_magnitude,
                                           uint64_t *above, uint64_t *equal) {
    const struct arcs arcs = arcs_make(point_map, &threshold->not_above, &threshold->equal);
    struct split_counts counts = {0, 0};
    for (size_t i = 0; i < n; i += WORD) {
        uint64_t not_above, equal_bits;
        fetch_ahead(in + i);
        if (n - i >= WORD) {
            arcs_masks(&arcs, in + i, by_magnitude, &not_above, &equal_bits);
        } else {
            tail_masks(&arcs, in + i, n - i, by_magnitude, &not_above, &equal_bits);
            not_above |= ~low_bits(n - i);
            equal_bits &= low_bits(n - i);
        }
        above[i / WORD] = ~not_above;
        if (equal != NULL) {
            equal[i / WORD] = equal_bits;
        }
        counts.above += WORD - (size_t)__builtin_popcountll(not_above);
        counts.equal += (size_t)__builtin_popcountll(equal_bits);
    }
    return counts;
}

/* By value a point is a flip at most: the compiler makes a shorter loop of it. */
static bool points_by_magnitude(const struct point_map *point_map) {
    return (kint)point_map->keep != (kint)UINT64_MAX || point_map->add != 0;
}

static struct split_counts split(const void *elements, size_t n, const struct point_map *point_map,
                                 const struct threshold_arcs *threshold, uint64_t *above, uint64_t *equal) {
    return points_by_magnitude(point_map) ? split_as(elements, n, point_map, threshold, true, above, equal)
                                          : split_as(elements, n, point_map, threshold, false, above, equal);
}

static size_t match(const void *elements, size_t n, const struct point_map *point_map,
                    const struct match *match, uint64_t *mask) {
    const struct arcs arcs = arcs_make(point_map, &match->arc, &match->arc);
    const uint64_t all = match->none ? 0 : UINT64_MAX;
    const kint *in = elements;
    size_t count = 0;
    for (size_t i = 0; i < n; i += WORD) {
        uint64_t bits, same;
        fetch_ahead(in + i);
        if (n - i >= WORD) {
            arcs_masks(&arcs, in + i, false, &bits, &same);
            bits &= all;
        } else {
            tail_masks(&arcs, in + i, n - i, false, &bits, &same);
            bits &= all & low_bits(n - i);
        }
        mask[i / WORD] = bits;
        count += (size_t)__builtin_popcountll(bits);
    }
    return count;
}

static size_t count(const uint64_t *mask, size_t words) {
    size_t bits = 0;
    for (size_t w = 0; w < words; w++) {
        bits += (size_t)__builtin_popcountll(mask[w]);
    }
    return bits;
}

static size_t histogram(const void *elements, size_t n, const uint64_t *only, const struct key_map *key_map,
                        uint64_t low, uint64_t high, unsigned shift, uint64_t *bins) {
    const struct map map = narrow(key_map);
    const kint *in = elements, base = (kint)low, span = (kint)(high - low);
    size_t above = 0;
    for (size_t i = 0; i < n; i += WORD) {
        kint keys[WORD] __attribute__((aligned(64)));
        const size_t rest = n - i < WORD ? n - i : WORD;
        const uint64_t taken = only != NULL ? only[i / WORD] : low_bits(rest);
        fetch_ahead(in + i);
        if (rest == WORD) {
            word_keys(in + i, &map, keys);
        } else {
            part_keys(in + i, rest, &map, keys);
        }
        above += (size_t)__builtin_popcountll(mask_above(keys, (kint)high) & taken);
        for (unsigned j = 0; j < WORD; j++) {
            keys[j] = (kint)(keys[j] - base);
        }
        for (uint64_t in_range = ~mask_above(keys, span) & taken; in_range != 0; in_range &= in_range - 1) {
            bins[keys[__builtin_ctzll(in_range)] >> shift]++;
        }
    }
    return above;
}

static size_t count_above(const kint *keys, size_t words, kint threshold) {
    size_t count = 0;
    for (size_t w = 0; w < words; w++) {
        count += (size_t)__builtin_popcountll(mask_above(keys + w * WORD, threshold));
    }
    return count;
}

static struct threshold bisect(const void *all, size_t n, size_t k, bool exact) {
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
        } else if (above == k && !exact) {
            return (struct threshold){middle, k};
        } else {
            low = (kint)(middle + 1);
        }
    }
    return (struct threshold){high, above_high};
}

static struct cut exact_cut(const kint *keys, size_t n, size_t k) {
    const struct threshold t = bisect(keys, n, k, false);
    return (struct cut){t.key, t.key, t.above};
}

#include "search.h"

/* ---- Moving by masks ---- */

/* What is moved for bit i of a mask: element i, or base + i in 32 or 64 bits. */
enum moved { ELEMENTS, POSITIONS32, POSITIONS64 };

static INLINE void move_one(enum moved moved, const void *elements, uint64_t base, size_t i, void *out,
                            size_t at) {
    if (moved == ELEMENTS) {
        ((kint *)out)[at] = ((const kint *)elements)[i];
    } else if (moved == POSITIONS32) {
        ((uint32_t *)out)[at] = (uint32_t)(base + i);
    } else {
        ((uint64_t *)out)[at] = base + i;
    }
}

/* Moves a whole word as vectors, if the instruction set can: may fill WORD slots. */
static INLINE bool move_packed(enum moved moved, const void *elements, uint64_t base, size_t i, uint64_t bits,
                               void *out, size_t at) {
#ifdef HAVE_PACK_WORD
    if (moved == ELEMENTS) {
        (void)pack_word((const kint *)elements + i, bits, (kint *)out + at);
        return true;
    }
#endif
#ifdef HAVE_PACK_POSITIONS32
    if (moved == POSITIONS32) {
        (void)pack_positions32(bits, (uint32_t)(base + i), (uint32_t *)out + at);
        return true;
    }
#endif
    (void)moved, (void)elements, (void)base, (void)i, (void)bits, (void)out, (void)at;
    return false;
}

/* Of an empty word, too: any bit will do. */
static inline unsigned first_bit(uint64_t bits) {
    return (unsigned)__builtin_ctzll(bits | 1ull << 63);
}

enum { GROUP = 8, FEW = 4 };

static inline bool empty_group(const uint64_t *mask) {
    uint64_t any = 0;
    for (unsigned i = 0; i < GROUP; i++) {
        any |= mask[i];
    }
    return any == 0;
}

/* How bits are best turned into moves depends on how many there are. Where most words are empty, they
 * are skipped in groups, which branches predict. Where a word has a few, one or FEW moves are made
 * whatever the word holds, and only a fuller one branches. Where it has many, whole vectors are
 * packed. Extra slots that are written lie within `room` and are filled later. */
static INLINE size_t move_bits(enum moved moved, const void *elements, uint64_t base, const uint64_t *mask,
                               size_t words, void *out, size_t room) {
    const bool sparse = room * 8 < words, dense = room >= 3 * words;
    const size_t few = sparse || dense ? 0 : room * 4 < words ? 1 : FEW;
    size_t count = 0;
    for (size_t w = 0; w < words; w++) {
        if (sparse && w % GROUP == 0 && words - w >= GROUP && empty_group(mask + w)) {
            w += GROUP - 1;
            continue;
        }
        uint64_t bits = mask[w];
        size_t at = count;
        count += (size_t)__builtin_popcountll(bits);
        /* Not all of the last word's elements need exist. */
        const bool whole = moved != ELEMENTS || w + 1 < words;
        if (few > 0 && whole && at + few <= room) {
            for (size_t i = 0; i < few; i++, bits &= bits - 1) {
                move_one(moved, elements, base, w * WORD + first_bit(bits), out, at++);
            }
        } else if (dense && whole && at + WORD <= room &&
                   move_packed(moved, elements, base, w * WORD, bits, out, at)) {
            continue;
        }
        for (; bits != 0; bits &= bits - 1) {
            move_one(moved, elements, base, w * WORD + first_bit(bits), out, at++);
        }
    }
    return count;
}

static size_t take(const void *elements, const uint64_t *mask, size_t words, void *out, size_t room) {
    return move_bits(ELEMENTS, elements, 0, mask, words, out, room);
}

static size_t positions32(const uint64_t *mask, size_t words, uint32_t base, uint32_t *out, size_t room) {
    return move_bits(POSITIONS32, NULL, base, mask, words, out, room);
}

static size_t positions64(const uint64_t *mask, size_t words, uint64_t base, uint64_t *out, size_t room) {
    return move_bits(POSITIONS64, NULL, base, mask, words, out, room);
}

/* ---- Sorting ---- */

/* The rank of a pair is how many pairs come before it: the ones with larger keys, and the ones with the
 * same key and a lower slot. */
static void rank_sort(void *all, const uint32_t *slots, size_t n, uint32_t *sorted_slots) {
    kint *keys = all;
    memset(keys + n, 0, (WORD - n) * sizeof *keys);
    for (size_t i = 0; i < n; i++) {
        const uint64_t before = mask_above(keys, keys[i]) | (mask_equal(keys, keys[i]) & low_bits(i));
        sorted_slots[__builtin_popcountll(before)] = slots[i];
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

static const uint32_t *radix_sort(const struct short_row *row, size_t n) {
    unsigned from = 0;
    for (unsigned shift = 0; shift < KEY_BITS; shift += 8) {
        size_t counts[RADIX_BINS], sum = 0;
        count_digit(row->sort_keys[from], n, shift, counts);
        if (counts[digit_of(*(const kint *)row->sort_keys[from], shift)] == n) {
            continue;
        }
        for (unsigned d = 0; d < RADIX_BINS; d++) {
            const size_t count = counts[d];
            counts[d] = sum;
            sum += count;
        }
        move_digit(row->sort_keys[from], row->slots[from], n, shift, counts, row->sort_keys[1 - from],
                   row->slots[1 - from]);
        from = 1 - from;
    }
    return row->slots[from];
}

static const uint32_t *select_short(const void *elements, size_t n, size_t k, const struct key_map *map,
                                    const struct approximation *approximation, bool sorted,
                                    const struct short_row *row) {
    const size_t words = words_of(n), padded = words * WORD, room = words_of(k) * WORD;
    kint *keys = row->keys;
    encode(elements, n, map, keys);
    memset(keys + n, 0, (padded - n) * sizeof *keys);
    if (k == n) {
        for (size_t w = 0; w < words; w++) {
            row->above[w] = low_bits(n - w * WORD);
        }
    } else {
        const struct cut cut =
            approximation == NULL ? exact_cut(keys, n, k) : approximate_cut(keys, n, k, approximation);
        const struct threshold_arcs arcs = {{cut.low, cut.high - cut.low}, {0, cut.high}, cut.high};
        (void)split_as(keys, n, &topk_unsigned_point_map, &arcs, false, row->above, row->equal);
        if (cut.above < k) {
            mask_keep_first(row->equal, words, k - cut.above);
            for (size_t w = 0; w < words; w++) {
                row->above[w] |= row->equal[w];
            }
        }
    }
    (void)positions32(row->above, words, 0, row->slots[0], room);
    if (!sorted) {
        return row->slots[0];
    }
    (void)take(keys, row->above, words, row->sort_keys[0], room);
    if (k <= RANK_SORT_MAX) {
        rank_sort(row->sort_keys[0], row->slots[0], k, row->slots[1]);
        return row->slots[1];
    }
    return radix_sort(row, k);
}

const struct kernels KERNEL_SET = {
    .name = KERNEL_NAME,
    .bits = KEY_BITS,
    .encode = encode,
    .sample = sample,
    .split = split,
    .match = match,
    .count = count,
    .histogram = histogram,
    .bisect = bisect,
    .take = take,
    .positions32 = positions32,
    .positions64 = positions64,
    .rank_sort = rank_sort,
    .sort_few = sort_few,
    .count_digit = count_digit,
    .move_digit = move_digit,
    .select_short = select_short,
};
