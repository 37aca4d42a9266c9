/* SPDX-License-Identifier: Apache-2.0
 * Whether an element's point lies in an arc (keys.h): what a comparison comes down to. */
#ifndef TOPK_SRC_CUDA_PREDICATE_ARCS_CUH
#define TOPK_SRC_CUDA_PREDICATE_ARCS_CUH

#include "../codes.cuh"
#include "args.h"
#include "bytes.cuh"

/* An element is compared in a word of at least 32 bits: as its lower bits, or, if UPPER, as its upper bits.
 * Then the bits below make no difference, and none have to be cleared. */
template <typename Element, bool UPPER> struct arc_test {
    typedef key_word_t<Element> word;
    static const uint32_t SHIFT = UPPER ? 8 * (sizeof(word) - sizeof(Element)) : 0;
    static const word ONES = UPPER ? ~(word)0 : (word)(Element) ~(Element)0;
    word flip, begin, span;
    bool none; /* no element matches */

    static TOPK_MEMBER arc_test of(const struct predicate_args &p) {
        const struct match match = p.bounds.values != nullptr ? *p.bounds.found : p.match;
        const word below = ((word)1 << SHIFT) - 1;
        return arc_test{(word)p.flip << SHIFT, (word)match.arc.begin << SHIFT,
                        (word)match.arc.span << SHIFT | below, match.none};
    }

    /* FLIPS: flip may be other than 0. */
    template <bool FLIPS> TOPK_MEMBER bool holds(word element) const {
        word negative = FLIPS ? (word)0 - (element >> (8 * (UPPER ? sizeof(word) : sizeof(Element)) - 1)) : 0;
        word turned = (element ^ (negative & flip)) - begin;
        if (!UPPER && sizeof(Element) < sizeof(word))
            turned &= ONES;
        return turned <= span;
    }

    /* The elements that match: bit PER * g + i for element i of group g, 16 bytes. */
    template <bool FLIPS, uint32_t GROUPS>
    TOPK_MEMBER uint32_t matches(const simt_u32x4 (&groups)[GROUPS]) const {
        static_assert(UPPER, "elements are shifted to the top of a word");
        const uint32_t PER = 16 / sizeof(Element);
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t g = 0; g < GROUPS; g++) {
            if constexpr (sizeof(Element) == 1) {
                uint32_t low = gather_tops(four_bytes<FLIPS>(groups[g].x), four_bytes<FLIPS>(groups[g].y)),
                         high = gather_tops(four_bytes<FLIPS>(groups[g].z), four_bytes<FLIPS>(groups[g].w));
                bits |= (low | high << 8) << g * PER;
            } else {
#pragma unroll
                for (uint32_t i = 0; i < PER; i++)
                    bits |= (uint32_t)holds<FLIPS>(upper_of(groups[g], i)) << (g * PER + i);
            }
        }
        return bits;
    }

  private:
    template <bool FLIPS> TOPK_MEMBER uint32_t four_bytes(uint32_t bytes) const {
        if (FLIPS)
            bytes ^= negative_bytes(bytes) & four_times((uint32_t)flip >> 24);
        return bytes_in_arc(bytes, four_times((uint32_t)begin >> 24), four_times((uint32_t)span >> 24));
    }
    static TOPK_MEMBER word upper_of(const simt_u32x4 &group, uint32_t i) {
        const uint32_t byte = i * (uint32_t)sizeof(Element);
        uint32_t low = byte / 4 == 0 ? group.x : byte / 4 == 1 ? group.y : byte / 4 == 2 ? group.z : group.w;
        if (sizeof(Element) == 8)
            return (word)(byte == 0 ? group.x | (uint64_t)group.y << 32 : group.z | (uint64_t)group.w << 32);
        return (word)(low << (32 - 8 * (byte % 4 + (uint32_t)sizeof(Element))));
    }
};

#endif
