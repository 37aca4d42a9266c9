/* SPDX-License-Identifier: Apache-2.0
 * Results on their way to being sorted. An entry is (complement of the key, position): entries in ascending
 * order are results best first, ties by lowest position. Where the key has 32 bits at most and positions
 * 31, an entry is one word; otherwise two. */
#ifndef TOPK_SRC_CUDA_SELECT_ENTRIES_CUH
#define TOPK_SRC_CUDA_SELECT_ENTRIES_CUH

#include "../simt.cuh"

/* Entries of one word have low == 0. */
struct entry {
    uint64_t high, low;
};

TOPK_DEVICE struct entry make_entry(bool two_words, uint64_t key, int64_t position) {
    if (two_words)
        return entry{~key, (uint64_t)position};
    return entry{(uint64_t)(uint32_t)~key << 32 | (uint32_t)position, 0};
}

TOPK_DEVICE int64_t entry_position(bool two_words, struct entry e) {
    return two_words ? (int64_t)e.low : (int64_t)(uint32_t)e.high;
}

TOPK_DEVICE uint64_t entry_key(bool two_words, struct entry e) {
    return two_words ? ~e.high : (uint32_t) ~(e.high >> 32);
}

TOPK_DEVICE bool is_before(struct entry a, struct entry b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* Whether entries have two words, where they lie in shared memory. */
template <typename Element> struct entry_size { static const bool TWO = sizeof(Element) == 8; };

/* Entries in shared memory; TWO: of two words. */
template <bool TWO> struct entry_list {
    simt_shared<uint64_t> high, low;

    TOPK_MEMBER struct entry get(uint32_t slot) const {
        return entry{high[slot], TWO ? (uint64_t)low[slot] : 0};
    }
    TOPK_MEMBER void put(uint32_t slot, struct entry e) const {
        high[slot] = e.high;
        if (TWO)
            low[slot] = e.low;
    }
};

/* Room for `count` entries. */
template <bool TWO> TOPK_HOST_DEVICE entry_list<TWO> carve_entries(simt_arena &arena, uint32_t count) {
    entry_list<TWO> list;
    list.high = simt_carve<uint64_t>(arena, count);
    list.low = simt_carve<uint64_t>(arena, TWO ? count : 0);
    return list;
}

/* Entries that a thread holds while its block sorts a list. */
enum { ENTRIES_PER_THREAD = 8 };

/* Calls work(j, slot) for the slots of the first `count` entries that are this thread's. */
template <typename Work> TOPK_DEVICE void for_own_slots(uint32_t count, const Work &work) {
#pragma unroll
    for (uint32_t j = 0; j < ENTRIES_PER_THREAD; j++)
        if (j * simt_threads() + simt_thread() < count)
            work(j, j * simt_threads() + simt_thread());
}

template <bool TWO>
TOPK_DEVICE void take_entries(const entry_list<TWO> &list, uint32_t count,
                              struct entry (&held)[ENTRIES_PER_THREAD]) {
    for_own_slots(count, [&](uint32_t j, uint32_t slot) TOPK_LAMBDA { held[j] = list.get(slot); });
}

/* Puts each entry into its slot of to[]. */
template <bool TWO>
TOPK_DEVICE void put_entries(const entry_list<TWO> &list, uint32_t count,
                             const struct entry (&held)[ENTRIES_PER_THREAD],
                             const uint32_t (&to)[ENTRIES_PER_THREAD]) {
    for_own_slots(count, [&](uint32_t j, uint32_t) TOPK_LAMBDA { list.put(to[j], held[j]); });
}

#endif
