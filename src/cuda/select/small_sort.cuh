/* SPDX-License-Identifier: Apache-2.0
 * How one block sorts entries: few by merging, more in buckets. */
#ifndef TOPK_SRC_CUDA_SELECT_SMALL_SORT_CUH
#define TOPK_SRC_CUDA_SELECT_SMALL_SORT_CUH

#include "bucket_sort.cuh"
#include "merge_sort.cuh"

/* Sorts `count` entries of a row of `length` elements, ascending. All are different; a list has room for
 * merged_size(count), at most ENTRIES_PER_THREAD for each thread. All threads; between barriers. */
template <bool TWO>
TOPK_DEVICE void sort_entries(const entry_list<TWO> &list, const struct bucket_shared &s, uint32_t count,
                              int64_t length) {
    if (count <= SELECT_MERGE_MAX || !sort_by_buckets(list, s, count, length))
        sort_by_merging(list, count);
}

#endif
