/* SPDX-License-Identifier: Apache-2.0
 * vector.h in plain C, written for compilers to vectorise. */
#ifndef TOPK_SRC_CPU_KERNELS_PORTABLE_H
#define TOPK_SRC_CPU_KERNELS_PORTABLE_H

#include "lanes16.h"

/* 64 bytes of 0 or 1 to 64 bits: eight at a time, the product gathers the low bits of its bytes
 * in the top byte. */
static inline uint64_t flags_to_mask(const unsigned char *flags) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < WORD; i += 8) {
        uint64_t bits = 0;
        for (unsigned j = 0; j < 8; j++) {
            bits |= (uint64_t)flags[i + j] << 8 * j;
        }
        mask |= (bits * 0x0102040810204080u >> 56) << i;
    }
    return mask;
}

static inline uint64_t mask_above(const kint *keys, kint threshold) {
    unsigned char flags[WORD];
    for (unsigned i = 0; i < WORD; i++) {
        flags[i] = keys[i] > threshold;
    }
    return flags_to_mask(flags);
}

static inline uint64_t mask_from(const kint *keys, kint threshold) {
    unsigned char flags[WORD];
    for (unsigned i = 0; i < WORD; i++) {
        flags[i] = keys[i] >= threshold;
    }
    return flags_to_mask(flags);
}

struct arcs {
    kint keep, flip, add, a_begin, a_span, b_begin, b_span;
};

static inline struct arcs arcs_make(const struct point_map *point_map, const struct arc *a,
                                    const struct arc *b) {
    return (struct arcs){(kint)point_map->keep, (kint)point_map->flip, (kint)point_map->add, (kint)a->begin,
                         (kint)a->span,         (kint)b->begin,        (kint)b->span};
}

static INLINE void arcs_masks(const struct arcs *arcs, const kint *elements, bool by_magnitude,
                              uint64_t *in_a, uint64_t *in_b) {
    const struct arcs c = *arcs;
    unsigned char a_flags[WORD], b_flags[WORD];
    (void)by_magnitude;
    for (unsigned i = 0; i < WORD; i++) {
        const kint u = elements[i] & c.keep;
        const kint negative = (kint)(0 - (u >> (KEY_BITS - 1)));
        const kint point = (kint)((u ^ (negative & c.flip)) + (negative & c.add));
        a_flags[i] = (kint)(point - c.a_begin) <= c.a_span;
        b_flags[i] = (kint)(point - c.b_begin) <= c.b_span;
    }
    *in_a = flags_to_mask(a_flags);
    *in_b = flags_to_mask(b_flags);
}

static inline size_t pack_hits(const kint *elements, uint64_t mask, uint32_t base, bool sparse,
                               wide_kint *out, uint32_t *slots) {
    size_t count = 0;
    (void)sparse;
    for (; mask != 0; mask &= mask - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(mask);
        slots[count] = base + i;
        out[count++] = elements[i];
    }
    return count;
}

enum {
    RANK_MAX = WORD,
    STUBS_MIN = STUB_HITS_MIN,
};

#endif
