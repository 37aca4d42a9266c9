/* SPDX-License-Identifier: Apache-2.0
 * Sorting networks over the registers of a thread: words descend. No data changes what they cost. N: a power
 * of two. */
#ifndef TOPK_SRC_CUDA_SELECT_NETWORKS_CUH
#define TOPK_SRC_CUDA_SELECT_NETWORKS_CUH

#include "../simt.cuh"

/* Puts the greater one first. */
template <typename Word> TOPK_DEVICE void sort_two(Word *first, Word *second) {
    const Word a = *first, b = *second;
    *first = a > b ? a : b;
    *second = a > b ? b : a;
}

/* Takes every STEP-th of COUNT words from FIRST on, as a list whose halves are sorted, and sorts the list. */
template <uint32_t FIRST, uint32_t COUNT, uint32_t STEP, typename Word>
TOPK_DEVICE void merge_odd_even(Word *words) {
    if constexpr (2 * STEP < COUNT) {
        merge_odd_even<FIRST, COUNT, 2 * STEP>(words);
        merge_odd_even<FIRST + STEP, COUNT, 2 * STEP>(words);
#pragma unroll
        for (uint32_t i = FIRST + STEP; i + STEP < FIRST + COUNT; i += 2 * STEP)
            sort_two(&words[i], &words[i + STEP]);
    } else {
        sort_two(&words[FIRST], &words[FIRST + STEP]);
    }
}

/* Batcher's odd-even merge sort: 19 comparisons for 8 words, 63 for 16, 191 for 32, 543 for 64. The recursion
 * is one of templates, for loops of this size are not unrolled. */
template <uint32_t FIRST, uint32_t COUNT, typename Word> TOPK_DEVICE void sort_part(Word *words) {
    if constexpr (COUNT > 1) {
        sort_part<FIRST, COUNT / 2>(words);
        sort_part<FIRST + COUNT / 2, COUNT / 2>(words);
        merge_odd_even<FIRST, COUNT, 1>(words);
    }
}

template <typename Word, uint32_t N> TOPK_DEVICE void sort_words(Word (&words)[N]) {
    sort_part<0, N>(words);
}

template <uint32_t FIRST, uint32_t COUNT> TOPK_DEVICE void merge_part(uint32_t *words) {
    if constexpr (COUNT > 1) {
#pragma unroll
        for (uint32_t i = FIRST; i < FIRST + COUNT / 2; i++)
            sort_two(&words[i], &words[i + COUNT / 2]);
        merge_part<FIRST, COUNT / 2>(words);
        merge_part<FIRST + COUNT / 2, COUNT / 2>(words);
    }
}

/* Sorts words that ascend and descend once at most. */
template <uint32_t N> TOPK_DEVICE void merge_words(uint32_t (&words)[N]) {
    merge_part<0, N>(words);
}

/* Keeps the best N of two sorted lists, sorted, in the first one. */
template <uint32_t N> TOPK_DEVICE void keep_best_words(uint32_t (&words)[N], const uint32_t (&others)[N]) {
#pragma unroll
    for (uint32_t i = 0; i < N; i++)
        words[i] = words[i] > others[N - 1 - i] ? words[i] : others[N - 1 - i];
    merge_words(words);
}

#endif
