/* SPDX-License-Identifier: Apache-2.0
 * The inner loops, for one key width and one instruction set.
 *
 * Compiled once for each pair of them, with
 *   KEY_BITS       8, 16, 32 or 64
 *   KERNEL_SET     name of the struct kernels that this compilation defines
 *   KERNEL_NAME    its instruction set, as a string
 *   SORT_NETWORK   network.h's function for that set
 * and the compiler options of the instruction set. The loops that turn elements into keys are plain
 * C which compilers vectorise; what they do not (masks, moving by masks) is in vector.h. */
#include "kernels.h"

#include <string.h>

#include "../../reached.h"

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

/* What few hits are sorted by: a key, and for narrow keys the complement of its slot below it. */
#if KEY_BITS == 64
#define WIDE_BITS 64
typedef uint64_t wide_kint;
#else
#define WIDE_BITS 32
typedef uint32_t wide_kint;
#endif

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

#include "vector.h"

#include "few.h"
#include "masks.h"
#include "moves.h"

#ifndef HAVE_WORD_KEYS
static inline void word_keys(const kint *restrict elements, const struct map *map, kint *restrict keys) {
    const struct map m = *map;
    for (unsigned i = 0; i < WORD; i++) {
        keys[i] = key_of(elements[i], &m);
    }
}
#endif

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

static void encode(const void *elements, size_t n, const struct key_map *key_map, void *keys) {
    const struct map map = narrow(key_map);
    const kint *restrict in = elements;
    kint *restrict out = keys;
    size_t i = 0;
#ifdef HAVE_WORD_KEYS
    for (; n - i >= WORD; i += WORD) {
        word_keys(in + i, &map, out + i);
    }
#endif
    for (; i < n; i++) {
        out[i] = key_of(in[i], &map);
    }
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

static size_t take_range(const void *elements, size_t n, const uint64_t *only, const struct key_map *key_map,
                         uint64_t low, uint64_t high, void *keys_out) {
    const struct map map = narrow(key_map);
    const kint *in = elements, base = (kint)low, span = (kint)(high - low);
    kint *out = keys_out;
    size_t count = 0;
    for (size_t i = 0; i < n; i += WORD) {
        kint keys[WORD] __attribute__((aligned(64)));
        const size_t rest = n - i < WORD ? n - i : WORD;
        fetch_ahead(in + i);
        if (rest == WORD) {
            word_keys(in + i, &map, keys);
        } else {
            part_keys(in + i, rest, &map, keys);
        }
        for (unsigned j = 0; j < WORD; j++) {
            keys[j] = (kint)(keys[j] - base);
        }
        const uint64_t taken = only != NULL ? only[i / WORD] : low_bits(rest);
        for (uint64_t bits = ~mask_above(keys, span) & taken; bits != 0; bits &= bits - 1) {
            out[count++] = (kint)(keys[__builtin_ctzll(bits)] + base);
        }
    }
    return count;
}

#include "bisect.h"
#include "digits.h"

/* A range of codes, which are the complements of keys. */
struct code_range {
    kint least, greatest;
};

enum { CODE_SHIFT = 32 }; /* the code of an entry begins here, where it has both code and slot */

static inline uint64_t entry_code(uint64_t entry) {
    return entry >> CODE_SHIFT;
}

#include "ends.h"
#include "search.h"
#include "stubs.h"

#include "entries.h"
#include "lists.h"
#include "sort.h"

#include "at_once.h"
#include "ranges.h"
#include "short.h"

const struct kernels KERNEL_SET = {
    .name = KERNEL_NAME,
    .bits = KEY_BITS,
    .encode = encode,
    .sample = sample,
    .split = split,
    .match = match,
    .count = count,
    .histogram = histogram,
    .take_range = take_range,
#if KEY_BITS >= 32
    .collect_ranges = collect_ranges,
#endif
    .count_digits = count_digits,
    .bisect = bisect,
    .take = take,
    .positions32 = positions32,
    .positions64 = positions64,
    .sort_pairs = sort_pairs,
    .sort_few = sort_few,
    .count_prefixes = count_prefixes,
    .deal_entries = deal_entries,
    .finish_dealing = finish_dealing,
    .sort_list = sort_list,
    .widen_span = widen_span,
    .list_entries = list_entries,
    .sort_listed = sort_listed,
    .decode_list = decode_list,
    .select_short = select_short,
    .kth_short = kth_short,
};
