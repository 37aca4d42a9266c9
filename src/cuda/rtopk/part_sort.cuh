/* SPDX-License-Identifier: Apache-2.0
 * Lists of words over the lanes of a part. Each lane has some of the words. The first lane has the first
 * ones. */
#ifndef TOPK_SRC_CUDA_RTOPK_PART_SORT_CUH
#define TOPK_SRC_CUDA_RTOPK_PART_SORT_CUH

#include "../select/networks.cuh"
#include "parts.cuh"

TOPK_DEVICE uint32_t pick(uint32_t a, uint32_t b, bool lesser) {
    return (a < b) == lesser ? a : b;
}

/* Merges the lane's list with the list of another lane; the lanes' numbers differ in `lanes`. If the list
 * grows, the upper lanes keep its worse half. What is kept ascends and descends once at most. */
template <uint32_t KEPT>
TOPK_DEVICE void merge_lists(uint32_t (&list)[KEPT], uint32_t lanes, bool keeps_worse) {
    uint32_t others[KEPT];
#pragma unroll
    for (uint32_t i = 0; i < KEPT; i++)
        others[i] = exchange(list[KEPT - 1 - i], lanes);
#pragma unroll
    for (uint32_t i = 0; i < KEPT; i++)
        list[i] = pick(list[i], others[i], keeps_worse);
}

/* Sorts a list over 1 << span lanes that ascends and descends once at most. */
template <uint32_t KEPT>
TOPK_DEVICE void sort_list(uint32_t (&list)[KEPT], const lane_part &part, uint32_t span) {
#pragma unroll 1
    for (uint32_t lanes = 1u << span >> 1; lanes != 0; lanes /= 2) {
#pragma unroll
        for (uint32_t i = 0; i < KEPT; i++)
            list[i] = pick(list[i], exchange(list[i], lanes), (part.lane & lanes) != 0);
    }
    merge_words(list);
}

/* Sorts a list over all lanes of the part. All lanes of the warp. */
template <uint32_t WORDS> TOPK_DEVICE void sort_over_part(uint32_t (&words)[WORDS], const lane_part &part) {
    sort_words(words);
#pragma unroll 1
    for (uint32_t s = 0; s < part.shift; s++) {
        merge_lists(words, (2u << s) - 1, (part.lane >> s & 1) != 0);
        sort_list(words, part, s);
    }
}

#endif
