/* SPDX-License-Identifier: Apache-2.0
 * The best leads of a row: each lane of a part sorts its own, and the lanes merge their lists. */
#ifndef TOPK_SRC_CUDA_RTOPK_PART_LIST_CUH
#define TOPK_SRC_CUDA_RTOPK_PART_LIST_CUH

#include "part_sort.cuh"

/* The best KEPT leads of the lane, sorted. */
template <uint32_t KEPT, typename Element, uint32_t ITEMS>
TOPK_DEVICE void sort_items(const part_row<Element, ITEMS> &row, const struct uniform_rows &u,
                            uint32_t (&list)[KEPT]) {
#pragma unroll
    for (uint32_t i = 0; i < KEPT; i++)
        list[i] = row.leads[i];
    sort_words(list);
#pragma unroll
    for (uint32_t begin = KEPT; begin < ITEMS; begin += KEPT) {
        if (begin << row.part.shift < u.length) { /* else no lane has any of these items */
            uint32_t others[KEPT];
#pragma unroll
            for (uint32_t i = 0; i < KEPT; i++)
                others[i] = row.leads[begin + i];
            sort_words(others);
            keep_best_words(list, others);
        }
    }
}

/* The least lead of a list over 1 << span lanes. */
template <uint32_t KEPT> TOPK_DEVICE uint32_t least_of_list(const uint32_t (&list)[KEPT], uint32_t span) {
    uint32_t least = list[0];
#pragma unroll
    for (uint32_t i = 1; i < KEPT; i++)
        least = list[i] < least ? list[i] : least;
#pragma unroll 1
    for (uint32_t lanes = 1u << span >> 1; lanes != 0; lanes /= 2) {
        const uint32_t other = exchange(least, lanes);
        least = other < least ? other : least;
    }
    return least;
}

/* The lead of a rank, of a sorted list over 1 << span lanes. All lanes. */
template <uint32_t KEPT>
TOPK_DEVICE uint32_t lead_of_rank(const uint32_t (&list)[KEPT], uint32_t rank, uint32_t span) {
    uint32_t leads[KEPT];
#pragma unroll
    for (uint32_t i = 0; i < KEPT; i++)
        leads[i] = list[i];
#pragma unroll
    for (uint32_t apart = 1; apart < KEPT; apart *= 2) {
        const uint32_t mask = (rank & apart) != 0 ? ~0u : 0;
#pragma unroll
        for (uint32_t i = 0; i + apart < KEPT; i += 2 * apart)
            leads[i] ^= (leads[i] ^ leads[i + apart]) & mask;
    }
    return simt_shuffle(SIMT_ALL_LANES, leads[0], (simt_lane() & ~((1u << span) - 1)) + rank / KEPT);
}

/* The k-th lead of the sorted lists of a part's lanes. All lanes. */
template <uint32_t KEPT>
TOPK_DEVICE uint32_t kth_of_lists(uint32_t (&list)[KEPT], const lane_part &part,
                                  const struct uniform_rows &u) {
    uint32_t span = 0; /* the list is sorted over the first 1 << span lanes of the part */
#pragma unroll 1
    for (uint32_t s = 0; s < part.shift; s++) {
        const bool grows = s < u.list_shift;
        merge_lists(list, (1u << s) + (1u << span) - 1, grows && (part.lane >> s & 1) != 0);
        if (s + 1 == part.shift && u.k == KEPT << u.list_shift && !grows)
            return least_of_list(list, span);
        sort_list(list, part, span);
        span += grows ? 1 : 0;
    }
    return lead_of_rank(list, u.k - 1, span);
}

/* The k-th lead of a row; or a lesser one, if some lane has more than KEPT better ones. All lanes. */
template <uint32_t KEPT, typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t find_kth(const part_row<Element, ITEMS> &row, const struct uniform_rows &u) {
    uint32_t list[KEPT];
    sort_items(row, u, list);
    return kth_of_lists(list, row.part, u);
}

#endif
