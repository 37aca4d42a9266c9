/* SPDX-License-Identifier: Apache-2.0
 * Masks in memory: a byte or a bit for each element. */
#ifndef TOPK_SRC_CUDA_PREDICATE_MASKS_CUH
#define TOPK_SRC_CUDA_PREDICATE_MASKS_CUH

#include "../tiles.cuh"
#include "bytes.cuh"

/* Loads bits [first, first + count) of a mask, 1 to 32: as one aligned word, else byte by byte. */
TOPK_DEVICE uint32_t load_mask_bits(const uint8_t *mask, int64_t first, uint32_t count) {
    const uint8_t *from = mask + (uint64_t)first / 8;
    const uint32_t shift = (uint32_t)first % 8;
    uint64_t bits = 0;
    if (count == 32 && (uintptr_t)from % 4 == 0 && shift == 0)
        return simt_load_read_only((const uint32_t *)from);
#pragma unroll
    for (uint32_t i = 0; i < 5; i++)
        if (8 * i < shift + count)
            bits |= (uint64_t)simt_load_read_only(from + i) << 8 * i;
    return (uint32_t)(bits >> shift);
}

/* The bytes of `count` elements, at most 32, that are not 0, as bits. */
template <uint32_t COUNT> TOPK_DEVICE uint32_t bytes_of_mask(const uint8_t *from) {
    uint8_t bytes[COUNT];
    uint32_t matches = 0;
#pragma unroll
    for (uint32_t i = 0; i < COUNT; i++)
        bytes[i] = simt_load_read_only(from + i);
#pragma unroll
    for (uint32_t i = 0; i < COUNT; i++)
        matches |= (uint32_t)(bytes[i] != 0) << i;
    return matches;
}

/* By 1 to 31 bits. */
TOPK_DEVICE uint32_t rotate_left(uint32_t word, uint32_t bits) {
    return word << bits | word >> (32 - bits);
}

/* A lane's part of a mask, for a tile of the body of a row.
 *
 * Bytes: the lane's own elements' bytes. Bits: as many, but side by side in memory. GROUPS neighbouring
 * lanes share the bits of their groups 0, 1 and so on: the first of these lanes loads the bits of the groups
 * 0, the next one of the groups 1; they trade them once the loads are complete. */
template <typename Element> struct mask_part {
    static const uint32_t PER = tile_shape<Element>::PER, GROUPS = tile_shape<Element>::GROUPS;
    static const uint32_t WORDS = (PER + 3) / 4; /* for the bytes of a group */
    static const uint32_t BITS = GROUPS * PER;
    uint32_t words[GROUPS * WORDS];

    /* Begins to load the part of a tile in which the lane's first element is element `index` of the input:
     * `here` groups are the warp's, `count` of these the lane's. `mask` has bits, or bytes. All words are 0
     * before. */
    TOPK_MEMBER void load(const uint8_t *mask, bool has_bits, int64_t index, uint32_t here, uint32_t count) {
        if (has_bits)
            load_bits(mask, first_bit(index), (int32_t)here - (int32_t)(simt_lane() + groups_ahead()));
        else
            load_bytes(mask + index, count);
    }
    /* The lane's own elements that match: bit group * PER + element. All lanes. */
    TOPK_MEMBER uint32_t matches(bool has_bits, int64_t index, uint32_t count) const {
        return has_bits ? matches_of_bits(first_bit(index), count) : matches_of_bytes();
    }

  private:
    /* The lane's first bit belongs to the group that lies so far behind the lane's first one in the warp. */
    static TOPK_MEMBER uint32_t groups_ahead(void) {
        return simt_lane() % GROUPS * (SIMT_WARP - 1);
    }
    static TOPK_MEMBER int64_t first_bit(int64_t index) {
        return index + groups_ahead() * PER;
    }

    /* Loads the bytes of the first `count` groups; `from` is the first element's. */
    TOPK_MEMBER void load_bytes(const uint8_t *from, uint32_t count) {
        if ((uintptr_t)from % PER == 0) {
#pragma unroll
            for (uint32_t g = 0; g < GROUPS; g++)
                if (g < count)
                    load_group(from + g * SIMT_WARP * PER, words + g * WORDS);
        } else {
#pragma unroll
            for (uint32_t g = 0; g < GROUPS; g++)
                if (g < count)
                    load_single_bytes(from + g * SIMT_WARP * PER, words + g * WORDS);
        }
    }
    TOPK_MEMBER void load_group(const uint8_t *from, uint32_t *to) const {
        if (PER == 16) {
            simt_u32x4 loaded = simt_load16_read_only(from);
            to[0] = loaded.x;
            to[1 % WORDS] = loaded.y;
            to[2 % WORDS] = loaded.z;
            to[3 % WORDS] = loaded.w;
        } else if (PER == 8) {
            uint64_t loaded = simt_load_read_only((const uint64_t *)from);
            to[0] = (uint32_t)loaded;
            to[1 % WORDS] = (uint32_t)(loaded >> 32);
        } else if (PER == 4) {
            to[0] = simt_load_read_only((const uint32_t *)from);
        } else {
            to[0] = simt_load_read_only((const uint16_t *)from);
        }
    }
    TOPK_MEMBER void load_single_bytes(const uint8_t *from, uint32_t *to) const {
#pragma unroll
        for (uint32_t i = 0; i < PER; i++)
            to[i / 4] |= (uint32_t)simt_load_read_only(from + i) << i % 4 * 8;
    }

    /* Loads up to GROUPS groups of bits, from bit `first` of the mask on; only `count` exist (none if
     * negative): as one aligned word, else byte by byte, each in a word of its own. */
    TOPK_MEMBER void load_bits(const uint8_t *mask, int64_t first, int32_t count) {
        static_assert(BITS / 8 < GROUPS * WORDS, "the bits may begin in the middle of a byte");
        const uint8_t *from = mask + (uint64_t)first / 8;
        if (count >= (int32_t)GROUPS && ((uint32_t)(uintptr_t)mask * 8 + (uint32_t)first) % BITS == 0) {
            words[0] = BITS == 32   ? simt_load_read_only((const uint32_t *)from)
                       : BITS == 16 ? simt_load_read_only((const uint16_t *)from)
                                    : simt_load_read_only(from);
        } else if (count > 0) {
            uint32_t end = (uint32_t)first % 8 + (count < (int32_t)GROUPS ? PER * (uint32_t)count : BITS);
#pragma unroll
            for (uint32_t i = 0; i <= BITS / 8; i++)
                if (end > 8 * i)
                    words[i] = simt_load_read_only(from + i);
        }
    }

    TOPK_MEMBER uint32_t matches_of_bytes(void) const {
        uint32_t matches = 0;
        if (PER == 2) {
            matches = gather_tops(nonzero_bytes(words[0] | words[1] << 16),
                                  nonzero_bytes(words[2 % GROUPS] | words[3 % GROUPS] << 16));
        } else {
#pragma unroll
            for (uint32_t i = 0; i < GROUPS * WORDS; i += 2)
                matches |= gather_tops(nonzero_bytes(words[i]), nonzero_bytes(words[i + 1])) << 4 * i;
        }
        return matches;
    }
    /* GROUPS lanes transpose a square of as many groups' bits each. `first` is as in load_bits(); `count`
     * groups are the lane's own. All lanes. */
    TOPK_MEMBER uint32_t matches_of_bits(int64_t first, uint32_t count) const {
        const uint32_t shift = (uint32_t)first % 8;
        uint32_t matches = 0;
#pragma unroll
        for (uint32_t i = 0; i < 4 && i <= BITS / 8; i++)
            matches |= words[i] << 8 * i;
        matches =
            BITS < 32 ? matches >> shift : (uint32_t)(((uint64_t)words[BITS / 8] << 32 | matches) >> shift);
#pragma unroll
        for (uint32_t lanes = 1; lanes < GROUPS; lanes *= 2) {
            const uint32_t width = lanes * PER, low = 0xffffffffu / ((1u << width) + 1);
            bool upper = (simt_lane() & lanes) != 0;
            uint32_t kept = upper ? ~low : low;
            uint32_t other = simt_shuffle_xor(SIMT_ALL_LANES, matches, lanes);
            matches = (matches & kept) | (rotate_left(other, upper ? 32 - width : width) & ~kept);
        }
        return BITS < 32 || count < GROUPS ? matches & ((1u << count * PER) - 1) : matches;
    }
};

#endif
