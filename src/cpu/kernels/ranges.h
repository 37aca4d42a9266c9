/* SPDX-License-Identifier: Apache-2.0
 * Elements of several ranges of keys, by one look at each element. Part of kernels.c, for keys of 32 and 64
 * bits, which fill whole lanes: of narrower ones a mask of each range takes less time.
 *
 * The class of an element is how many ends of ranges its key is above: odd within a range, and even between
 * two. All ends are compared with, without a branch, and classes and counts stay in vectors. */
#ifndef TOPK_SRC_CPU_KERNELS_RANGES_H
#define TOPK_SRC_CPU_KERNELS_RANGES_H

#if KEY_BITS >= 32
/* Vectors that are compared with an end once it is loaded. */
enum { RANGE_VECTORS = 4 };
_Static_assert(WORD % (RANGE_VECTORS * WIDE_LANES) == 0, "a word is whole vectors");

/* What one call keeps: the ends as lanes compare them, and in lanes how many keys are above each range. */
struct range_ends {
    size_t count;
    kint first_class, ends[2 * RANGES_MAX];
    lanes above[RANGES_MAX];
};

/* Keys with the bits of wide_flip flipped. Adding what negative elements take does not mind the top bit. */
static inline struct map flipped(struct map map) {
    map.flip_positive ^= wide_flip;
    map.zero_key ^= wide_flip;
    map.nan_key ^= wide_flip;
    return map;
}

static INLINE void classify_word(const kint *keys, struct range_ends *to, kint *classes) {
    for (size_t i = 0; i < WORD; i += RANGE_VECTORS * WIDE_LANES) {
        lanes key[RANGE_VECTORS], class[RANGE_VECTORS];
        for (size_t v = 0; v < RANGE_VECTORS; v++) {
            key[v] = lanes_load(keys + i + v * WIDE_LANES);
            class[v] = lanes_of(to->first_class);
        }
        for (size_t r = 0; r < to->count; r++) {
            const lanes low = lanes_of(to->ends[2 * r]), high = lanes_of(to->ends[2 * r + 1]);
            lanes above = to->above[r];
            for (size_t v = 0; v < RANGE_VECTORS; v++) {
                class[v] = add_above(add_above(class[v], key[v], low), key[v], high);
                above = add_above(above, key[v], high);
            }
            to->above[r] = above;
        }
        memcpy(classes + i, class, sizeof class);
    }
}

static INLINE void collect_word(const kint *in, uint64_t inside, const kint *classes, struct ranges *ranges) {
    for (; inside != 0; inside &= inside - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(inside);
        const size_t r = (size_t)(classes[i] / 2);
        ((kint *)ranges->buffers)[r * RANGE_ROOM + ranges->filled[r]++] = in[i];
    }
}

static void add_counts(const struct range_ends *from, struct ranges *ranges) {
    for (size_t r = 0; r < from->count; r++) {
        kint counts[WIDE_LANES];
        memcpy(counts, &from->above[r], sizeof counts);
        for (size_t i = 0; i < WIDE_LANES; i++) {
            ranges->above[r] += counts[i];
        }
    }
}

static void take_ends(const struct ranges *ranges, struct range_ends *to) {
    to->count = ranges->count;
    to->first_class = ranges->is_open ? 1 : 0;
    for (size_t r = 0; r < ranges->count; r++) {
        to->ends[2 * r] = (kint)ranges->ends[2 * r] ^ wide_flip;
        to->ends[2 * r + 1] = (kint)ranges->ends[2 * r + 1] ^ wide_flip;
        to->above[r] = lanes_of(0);
    }
}

/* What every buffer has room for. */
static size_t least_room(const struct ranges *ranges) {
    size_t most = 0;
    for (size_t r = 0; r < ranges->count; r++) {
        most = ranges->filled[r] > most ? ranges->filled[r] : most;
    }
    return RANGE_ROOM - most;
}

/* kernels.h */
static size_t collect_ranges(const void *elements, size_t n, const struct key_map *key_map,
                             struct ranges *ranges) {
    const struct map map = flipped(narrow(key_map));
    const kint *in = elements;
    struct range_ends ends;
    size_t i = 0, room = least_room(ranges);
    take_ends(ranges, &ends);
    for (; i < n && room >= WORD; i += WORD) {
        kint keys[WORD] __attribute__((aligned(64))), classes[WORD] __attribute__((aligned(64)));
        const size_t rest = n - i < WORD ? n - i : WORD;
        fetch_ahead(in + i);
        if (rest == WORD) {
            word_keys(in + i, &map, keys);
        } else {
            part_keys(in + i, rest, &map, keys);
            for (size_t j = rest; j < WORD; j++) {
                keys[j] = wide_flip; /* key 0, which is above no range */
            }
        }
        classify_word(keys, &ends, classes);
        for (size_t j = 0; j < WORD; j++) {
            keys[j] = classes[j] & 1;
        }
        const uint64_t inside = mask_above(keys, 0) & low_bits(rest);
        room -= (size_t)__builtin_popcountll(inside);
        collect_word(in + i, inside, classes, ranges);
    }
    add_counts(&ends, ranges);
    return i < n ? i : n;
}
#endif

#endif
