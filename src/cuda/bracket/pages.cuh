/* SPDX-License-Identifier: Apache-2.0
 * A block's list of candidates. The first page is in shared memory. If the list is longer, all of it is in
 * the workspace, and its pages come to shared memory one after another. */
#ifndef TOPK_SRC_CUDA_BRACKET_PAGES_CUH
#define TOPK_SRC_CUDA_BRACKET_PAGES_CUH

#include "../select/lists.cuh"
#include "memory.cuh"

/* The block's list in the workspace. */
template <typename Element> struct stored_list {
    Element *elements;
    uint32_t *positions;

    static TOPK_MEMBER stored_list of(const struct bracket_args &a) {
        const uint64_t first = (uint64_t)simt_block() * a.room;
        return stored_list{(Element *)a.stored.elements + first, a.stored.positions + first};
    }
    TOPK_MEMBER void put(uint32_t slot, key_word_t<Element> bits, uint32_t position) const {
        elements[slot] = (Element)bits;
        positions[slot] = position;
    }
};

template <typename Element, typename Shape> TOPK_DEVICE shared_list<Element> page(void) {
    simt_arena arena = simt_shared_arena();
    return carve_bracket<Element, Shape>(arena).list;
}

/* Stores the first page of a list that has more. All threads, after a barrier. */
template <typename Element, typename Shape>
TOPK_NOINLINE void store_first_page(const struct bracket_args &a) {
    const stored_list<Element> stored = stored_list<Element>::of(a);
    const shared_list<Element> list = page<Element, Shape>();
    TOPK_REACHED(REACHED_BRACKET_GPU_PAGES);
#pragma unroll 4
    for (uint32_t slot = simt_thread(); slot < Shape::PAGE; slot += simt_threads())
        stored.put(slot, list.bits(slot), list.position(slot));
}

/* Moves `count` candidates, from slot `first` on, to the page in shared memory. All threads. */
template <typename Element, typename Shape>
TOPK_NOINLINE void load_page(const struct bracket_args &a, uint32_t first, uint32_t count) {
    const uint32_t BATCH = 4;
    const stored_list<Element> stored = stored_list<Element>::of(a);
    const shared_list<Element> list = page<Element, Shape>();
    simt_block_sync();
    for (uint32_t begin = simt_thread(); begin < count; begin += BATCH * simt_threads()) {
        key_word_t<Element> bits[BATCH];
        uint32_t positions[BATCH];
#pragma unroll
        for (uint32_t i = 0; i < BATCH; i++) {
            const uint32_t slot = begin + i * simt_threads(), at = first + (slot < count ? slot : 0);
            bits[i] = stored.elements[at];
            positions[i] = stored.positions[at];
        }
#pragma unroll
        for (uint32_t i = 0; i < BATCH; i++)
            if (begin + i * simt_threads() < count)
                list.put(begin + i * simt_threads(), bits[i], positions[i]);
    }
    simt_block_sync();
}

/* Calls work(count) with each page of a list of `listed` candidates; `count` of them are in shared memory
 * then. All threads. */
template <typename Element, typename Shape, typename Work>
TOPK_DEVICE void for_pages(const bracket_task<Element, Shape> &t, uint32_t listed, const Work &work) {
    uint32_t first = 0;
#pragma unroll 1
    do {
        const uint32_t rest = listed - first, count = rest < Shape::PAGE ? rest : (uint32_t)Shape::PAGE;
        if (listed > Shape::PAGE)
            load_page<Element, Shape>(t.a, first, count);
        work(count);
        first += count;
    } while (first < listed);
}

#endif
