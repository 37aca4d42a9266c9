/* SPDX-License-Identifier: Apache-2.0
 * Moves what a mask holds. Part of kernels.c. */
#ifndef TOPK_SRC_CPU_KERNELS_MOVES_H
#define TOPK_SRC_CPU_KERNELS_MOVES_H

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

#endif
