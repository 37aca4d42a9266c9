/* SPDX-License-Identifier: Apache-2.0
 * Kernels over the queues that topk_device.cuh offers. Each selects the k best of each row of values; where
 * there are fewer, a row's other slots stay as they were. */
#ifndef TOPK_TESTS_SIMT_QUEUES_CUH
#define TOPK_TESTS_SIMT_QUEUES_CUH

#include "launch.cuh"
#include "select/best.cuh"

template <typename Index> struct queue_args {
    const float *values; /* rows of `length` */
    uint32_t rows, length, k;
    Index base;       /* of indices */
    uint32_t of_warp; /* rows that a warp has in hand */
    float *best;      /* rows of k */
    Index *indices;   /* as best */
    uint32_t *counts; /* of each row: results */
    bool is_reversed;
    bool asks;        /* wants() before a push */
    uint32_t *pushes; /* that wants() let through */
};

/* Pushes what the lane has of a row, in the order of positions or from the last one on. */
template <typename Best, typename Index>
TOPK_DEVICE void push_of_row(const queue_args<Index> &a, Best &best, uint32_t row, uint32_t turn) {
    const bool exists = row < a.rows && turn < a.length;
    const uint32_t at = a.is_reversed ? a.length - 1 - turn : turn;
    const float v = exists ? a.values[(size_t)row * a.length + at] : 0;
    const bool is_wanted = exists && (!a.asks || best.wants(v));
    best.push(is_wanted, v, (Index)(a.base + (Index)at));
    if (is_wanted)
        simt_atomic_add(a.pushes, 1u);
}

/* Writes the results of a row from a list of its own. */
template <typename Best, typename Index>
TOPK_DEVICE void write_list(const queue_args<Index> &a, Best &best, uint32_t row) {
    best.resume(a.k);
    best.finish();
    const size_t to = (size_t)row * a.k;
    for (uint32_t rank = simt_lane(); rank < best.count(); rank += SIMT_WARP) {
        a.best[to + rank] = best.value_at(rank);
        a.indices[to + rank] = best.index_at(rank);
    }
    if (simt_lane() == 0)
        a.counts[row] = best.count();
}

/* Each warp has `of_warp` rows, and goes from one to the next after each 32 values. */
template <typename Order, typename Index> TOPK_KERNEL void rows_by_warps(queue_args<Index> a) {
    typedef best_of_warp<Order, Index> best_t;
    simt_arena arena = simt_shared_arena();
    const list_memory<best_t::TWO> memory = carve_best<best_t>(arena, simt_warps() * a.of_warp, a.k);
    const uint32_t first = simt_warp() * a.of_warp, first_row = simt_block() * simt_warps() * a.of_warp;
    for (uint32_t i = first; i < first + a.of_warp; i++) {
        best_t best(memory, i);
        best.begin(a.k);
        best.save();
    }
    for (uint32_t at = simt_lane(); simt_any(SIMT_ALL_LANES, at < a.length); at += SIMT_WARP) {
        for (uint32_t i = first; i < first + a.of_warp; i++) {
            best_t best(memory, i);
            best.resume(a.k);
            push_of_row(a, best, first_row + i, at);
            best.save();
        }
    }
    for (uint32_t i = first; i < first + a.of_warp && first_row + i < a.rows; i++) {
        best_t best(memory, i);
        write_list(a, best, first_row + i);
    }
}

/* Each warp has `of_warp` rows. Lanes push to lists of their own choice: of neighbouring rows, or mostly of
 * the same row. */
template <typename Order, typename Index> TOPK_KERNEL void rows_by_lanes(queue_args<Index> a) {
    typedef best_of_warp<Order, Index> best_t;
    simt_arena arena = simt_shared_arena();
    const list_memory<best_t::TWO> memory = carve_best<best_t>(arena, simt_warps() * a.of_warp, a.k);
    const uint32_t first = simt_warp() * a.of_warp, first_row = simt_block() * simt_warps() * a.of_warp;
    for (uint32_t i = first; i < first + a.of_warp; i++) {
        best_t best(memory, i);
        best.begin(a.k);
        best.save();
    }
    for (uint32_t turn = simt_lane(); simt_any(SIMT_ALL_LANES, turn < a.of_warp * a.length);
         turn += SIMT_WARP) {
        const bool exists = turn < a.of_warp * a.length;
        const uint32_t i = !exists ? 0 : a.is_reversed ? turn % a.of_warp : turn / a.length;
        const uint32_t at = !exists ? 0 : a.is_reversed ? a.length - 1 - turn / a.of_warp : turn % a.length;
        const bool has_row = exists && first_row + first + i < a.rows;
        const float v = has_row ? a.values[(size_t)(first_row + first + i) * a.length + at] : 0;
        const bool is_wanted =
            has_row && (!a.asks || Order::may_precede(v, saved_bound<best_t>(memory, first + i)));
        push_saved<best_t>(memory, a.k, is_wanted, first + i, v, (Index)(a.base + (Index)at));
    }
    for (uint32_t i = first; i < first + a.of_warp && first_row + i < a.rows; i++) {
        best_t best(memory, i);
        write_list(a, best, first_row + i);
    }
}

/* Each block has a row at a time. */
template <typename Order, typename Index> TOPK_KERNEL void rows_by_blocks(queue_args<Index> a) {
    typedef best_of_block<Order, Index> best_t;
    simt_arena arena = simt_shared_arena();
    const team_memory<best_t::TWO> memory = carve_best<best_t>(arena, simt_warps(), a.k);
    best_t best(memory);
    for (uint32_t row = simt_block(); row < a.rows; row += simt_blocks()) {
        best.begin(a.k);
        const uint32_t begin = simt_warp() * SIMT_WARP;
        for (uint32_t at = begin; at < a.length; at += simt_threads()) {
            best.listen();
            push_of_row(a, best, row, at + simt_lane());
        }
        const size_t to = (size_t)row * a.k;
        const uint32_t count = best.finish([&](uint32_t rank, float v, Index index) TOPK_LAMBDA {
            a.best[to + rank] = v;
            a.indices[to + rank] = index;
        });
        if (simt_thread() == 0)
            a.counts[row] = count;
    }
}

/* Lists of parts of a row share a bound: each tells the entry whose rank is its part of k, and the last of
 * these is the bound. A lane for each list. */
template <typename Best>
TOPK_DEVICE void share_bounds(const typename Best::memory_type &memory, uint32_t first, uint32_t lists,
                              uint32_t k) {
    const bool has_list = simt_lane() < lists;
    const uint64_t mine =
        has_list ? saved_word<Best>(memory, first + simt_lane(), (k + lists - 1) / lists - 1) : 0;
    const uint64_t last = simt_reduce_max(SIMT_ALL_LANES, mine);
    if (has_list)
        tighten_saved<Best>(memory, first + simt_lane(), last);
    simt_warp_sync(SIMT_ALL_LANES);
}

/* Each warp has a row in `of_warp` parts with a list each, which learn of each other's bounds, and selects
 * from these lists in the end: lane i from list i, from the first entries of all, then from the second ones.
 */
template <typename Order, typename Index> TOPK_KERNEL void rows_in_parts(queue_args<Index> a) {
    typedef best_of_warp<Order, Index> best_t;
    simt_arena arena = simt_shared_arena();
    const list_memory<best_t::TWO> memory = carve_best<best_t>(arena, simt_warps() * (a.of_warp + 1), a.k);
    const uint32_t first = simt_warp() * (a.of_warp + 1), row = simt_block() * simt_warps() + simt_warp();
    for (uint32_t i = first; i <= first + a.of_warp; i++) {
        best_t best(memory, i);
        best.begin(a.k);
        best.save();
    }
    for (uint32_t begin = 0; begin < a.length; begin += SIMT_WARP * a.of_warp) {
        share_bounds<best_t>(memory, first, a.of_warp, a.k);
        for (uint32_t i = 0; i < a.of_warp; i++) {
            best_t best(memory, first + i);
            best.resume(a.k);
            push_of_row(a, best, row, begin + i * SIMT_WARP + simt_lane());
            best.save();
        }
    }
    for (uint32_t i = first; i < first + a.of_warp; i++) {
        best_t best(memory, i);
        best.resume(a.k);
        best.finish();
        best.save();
    }
    best_t of_lane(memory, first + (simt_lane() < a.of_warp ? simt_lane() : 0)),
        best(memory, first + a.of_warp);
    of_lane.resume(a.k);
    best.resume(a.k);
    const uint32_t count = simt_lane() < a.of_warp ? of_lane.count() : 0;
    for (uint32_t rank = 0; simt_any(SIMT_ALL_LANES, rank < count); rank++) {
        const bool exists = rank < count;
        best.push(exists, exists ? of_lane.value_at(rank) : 0, exists ? of_lane.index_at(rank) : 0);
    }
    best.finish();
    for (uint32_t rank = simt_lane(); row < a.rows && rank < best.count(); rank += SIMT_WARP) {
        a.best[(size_t)row * a.k + rank] = best.value_at(rank);
        a.indices[(size_t)row * a.k + rank] = best.index_at(rank);
    }
    if (row < a.rows && simt_lane() == 0)
        a.counts[row] = best.count();
}

/* In and out of ranks: best[i] is what comes back of values[i], indices[i] its rank. */
template <typename Order> TOPK_KERNEL void ranks_of_values(queue_args<uint32_t> a) {
    for (uint32_t i = simt_thread(); i < a.length; i += simt_threads()) {
        a.indices[i] = Order::rank_of(a.values[i]);
        a.best[i] = Order::value_of(a.indices[i]);
    }
}

#endif
