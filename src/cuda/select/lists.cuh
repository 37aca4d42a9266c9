/* SPDX-License-Identifier: Apache-2.0
 * Lists of elements with their positions: in global memory, and in the shared memory of a block. */
#ifndef TOPK_SRC_CUDA_SELECT_LISTS_CUH
#define TOPK_SRC_CUDA_SELECT_LISTS_CUH

#include "../codes.cuh"
#include "args.h"

/* A row's part of a list in global memory; it begins at slot `first`. */
template <typename Element> struct global_list {
    typedef Element element;
    typedef int64_t index;
    const struct element_list &list;
    int64_t first;

    TOPK_MEMBER key_word_t<Element> bits(int64_t slot) const {
        return ((const Element *)list.elements)[first + slot];
    }
    TOPK_MEMBER int64_t position(int64_t slot) const {
        return list.wide ? (int64_t)((const uint64_t *)list.positions)[first + slot]
                         : (int64_t)((const uint32_t *)list.positions)[first + slot];
    }
    TOPK_MEMBER void put(uint64_t slot, key_word_t<Element> bits, int64_t position) const {
        const int64_t at = first + (int64_t)slot;
        ((Element *)list.elements)[at] = (Element)bits;
        if (list.wide)
            ((uint64_t *)list.positions)[at] = (uint64_t)position;
        else
            ((uint32_t *)list.positions)[at] = (uint32_t)position;
    }
};

/* A list in shared memory. */
template <typename Element> struct shared_list {
    typedef Element element;
    typedef uint32_t index;
    simt_shared<key_word_t<Element>> elements;
    simt_shared<uint32_t> positions;

    TOPK_MEMBER key_word_t<Element> bits(uint32_t slot) const {
        return elements[slot];
    }
    TOPK_MEMBER uint32_t position(uint32_t slot) const {
        return positions[slot];
    }
    TOPK_MEMBER void put(uint64_t slot, key_word_t<Element> bits, int64_t position) const {
        elements[(uint32_t)slot] = bits;
        positions[(uint32_t)slot] = (uint32_t)position;
    }
};

template <typename Element>
TOPK_HOST_DEVICE shared_list<Element> carve_list(simt_arena &arena, uint32_t count) {
    shared_list<Element> list;
    list.elements = simt_carve<key_word_t<Element>>(arena, count);
    list.positions = simt_carve<uint32_t>(arena, count);
    return list;
}

#endif
