/* SPDX-License-Identifier: Apache-2.0
 * Sorting networks of single threads. */
#ifndef TOPK_TESTS_SIMT_NETWORKS_CUH
#define TOPK_TESTS_SIMT_NETWORKS_CUH

#include "select/networks.cuh"
#include "sums.cuh"

/* From 2 N words of each thread to the first N of them, sorted, and the best N of all. */
template <uint32_t N> TOPK_KERNEL TOPK_BOUNDS(64, 1) void networks_of_threads(struct sums_args args) {
    const uint32_t begin = (simt_block() * simt_threads() + simt_thread()) * 2 * N;
    uint32_t first[N], second[N];
    for (uint32_t i = 0; i < N; i++) {
        first[i] = args.in[begin + i];
        second[i] = args.in[begin + N + i];
    }
    sort_words(first);
    sort_words(second);
    for (uint32_t i = 0; i < N; i++)
        args.out[begin + i] = first[i];
    keep_best_words(first, second);
    for (uint32_t i = 0; i < N; i++)
        args.out[begin + N + i] = first[i];
}

#endif
