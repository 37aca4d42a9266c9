/* SPDX-License-Identifier: Apache-2.0
 * Mbarriers and bulk copies. The runtime knows what an mbarrier waits for; its word tells ThreadSanitizer who
 * made it, and who uses it. */
#ifndef TOPK_TESTS_SIMT_EMULATED_BULK_H
#define TOPK_TESTS_SIMT_EMULATED_BULK_H

struct alignas(8) simt_mbarrier {
    uint64_t word;
};

/* Where it lies. Nobody uses it before it is made. */
inline uint32_t simt_made_mbarrier(simt_shared<simt_mbarrier> barriers, uint32_t index) {
    simt_shared_pointer<simt_mbarrier> one = &barriers[index];
    (void)__atomic_load_n(&one.access(true, false)->word, __ATOMIC_RELAXED);
    return one.at;
}

inline void simt_fence_bulk() {
    simt_runtime::fence_bulk();
}

inline void simt_mbarrier_init(simt_shared<simt_mbarrier> barriers, uint32_t first, uint32_t count,
                               uint32_t arrivals) {
    for (uint32_t i = first; i < first + count; i++) {
        barriers[i] = simt_mbarrier{arrivals};
        simt_runtime::make_mbarrier((&barriers[i]).at, arrivals);
    }
    simt_fence_bulk();
}

inline void simt_mbarrier_arrive(simt_shared<simt_mbarrier> barriers, uint32_t index) {
    simt_runtime::arrive_mbarrier(simt_made_mbarrier(barriers, index));
}

inline void simt_mbarrier_wait(simt_shared<simt_mbarrier> barriers, uint32_t index, uint32_t parity,
                               simt_site at = simt_here()) {
    simt_runtime::wait_mbarrier(simt_made_mbarrier(barriers, index), parity, at);
}

inline void simt_bulk_copy(simt_shared<simt_u32x4> to, uint32_t first, const void *from, uint32_t count,
                           simt_shared<simt_mbarrier> barriers, uint32_t index, simt_site at = simt_here()) {
    simt_shared<simt_u32x4> slot = simt_shared_part(to, first, count);
    simt_runtime::meet_warp("simt_bulk_copy", SIMT_ALL_LANES, 0, at);
    if (simt_lane() != 0)
        return;
    const uint32_t bytes = count * (uint32_t)sizeof(simt_u32x4);
    simt_runtime::before_copy(slot.start, from, bytes);
    simt_runtime::overwrite(slot.start, bytes);
    simt_runtime::read_through_cache(from, bytes, at);
    simt_runtime::copy_bulk(slot.start, from, bytes, simt_made_mbarrier(barriers, index), at);
}

#endif
