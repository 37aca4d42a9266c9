/* SPDX-License-Identifier: Apache-2.0
 * Sorting networks of single threads, and the order of results, which lanes sort together. */
#ifndef TOPK_TESTS_SIMT_NETWORKS_CUH
#define TOPK_TESTS_SIMT_NETWORKS_CUH

#include "rtopk/part_order.cuh"
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

/* Rows of numbers whose elements are all results, k for each. `rtopk` says how lanes share them. */
struct order_args {
    struct rtopk_args rtopk;
    uint32_t *out; /* the positions in order, and behind these whether words told it; for each row */
};

/* Each warp of the block orders all rows, MOST for each lane. */
template <uint32_t MOST> TOPK_KERNEL TOPK_BOUNDS(32, 1) void rows_in_order(struct order_args args) {
    const struct uniform_rows &u = args.rtopk.uniform;
    const served_rows s = {0, (uint32_t)args.rtopk.rows.rows};
    simt_arena arena = simt_shared_arena();
    const simt_shared<uint16_t> list = simt_carve<uint16_t>(arena, s.count * u.k);
    const rows_in_memory<uint32_t> rows = rows_from<uint32_t>(args.rtopk, s);
    for (uint32_t slot = simt_lane(); slot < s.count * u.k; slot += SIMT_WARP)
        list[slot] = (uint16_t)((slot % u.k * 37 + 5) % u.k);
    simt_warp_sync(SIMT_ALL_LANES);
    const lane_part part = part_of_lane(u.order_shift);
    for (uint32_t r = 0; r < s.count; r++) {
        uint32_t words[MOST];
        const auto elements = rows.row(r);
        const bool is_clear = load_words(
            row_results<uint32_t, decltype(elements), simt_shared<uint16_t>, no_leads>{
                args.rtopk, elements, simt_shared_part(list, r * u.k, u.k), {}},
            part, words);
        const bool all_clear = simt_all(SIMT_ALL_LANES, is_clear);
        if (simt_lane() == 0)
            args.out[r * (u.k + 1) + u.k] = all_clear;
    }
    simt_warp_sync(SIMT_ALL_LANES);
    order_rows<uint32_t, MOST>(args.rtopk, s, rows, list, no_leads{});
    simt_warp_sync(SIMT_ALL_LANES);
    for (uint32_t slot = simt_lane(); slot < s.count * u.k; slot += SIMT_WARP)
        args.out[slot / u.k * (u.k + 1) + slot % u.k] = list[slot];
}

#endif
