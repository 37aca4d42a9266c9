/* SPDX-License-Identifier: Apache-2.0
 * The kernels of merge for elements of KEY_BITS bits. docs/merge.md tells the whole. */
#include "kernels.h"

#include "../instance.cuh"
#include "held.cuh"
#include "select.cuh"
#include "short.cuh"
#include "sort.cuh"

#if KEY_BITS <= 32
#include "exchange.cuh"
#endif

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

static uint32_t sort_bytes(uint32_t entries, uint32_t threads) {
    return shared_bytes_of(carve_merge_sort, entries, threads);
}

static int launch_sort(const struct launch_grid *grid, const struct merge_args *args, uint32_t entries) {
    return launch("merge_sort", grid, sort_bytes(entries, grid->threads), merge_sort<element_t>, args);
}

static uint32_t short_bytes(uint32_t candidates) {
    return shared_bytes_of(carve_merge_short<element_t>, candidates);
}

static int launch_short(const struct launch_grid *grid, const struct merge_args *args) {
    const uint32_t candidates = (uint32_t)args->candidates, bytes = short_bytes(candidates);
    if (candidates <= grid->threads)
        return launch("merge_short", grid, bytes, merge_short<element_t, 1>, args);
    if (candidates <= 2 * grid->threads)
        return launch("merge_short", grid, bytes, merge_short<element_t, 2>, args);
    return launch("merge_short", grid, bytes, merge_short<element_t, MERGE_SHORT_ITEMS>, args);
}

static uint32_t lists_bytes(uint32_t threads) {
    return shared_bytes_of(carve_merge_lists<element_t>, threads);
}

static int launch_lists(const struct launch_grid *grid, const struct merge_args *args, uint32_t cluster) {
    struct simt_launch_shape shape = {};
    shape.name = "merge_lists";
    shape.blocks = grid->blocks;
    shape.rows = grid->rows;
    shape.threads = grid->threads;
    shape.cluster = cluster;
    shape.shared_bytes = lists_bytes(grid->threads);
    shape.dependent = grid->dependent;
    shape.stream = grid->stream;
    return simt_launch(shape, merge_lists<element_t>, *args);
}

static int prepare_lists(uint32_t shared_bytes_max, uint32_t *cluster) {
    const int error = simt_prepare(merge_lists<element_t>, shared_bytes_max);
    *cluster = MERGE_CLUSTER;
    while (error == 0 && *cluster > 1 &&
           simt_resident_clusters(merge_lists<element_t>, MERGE_THREADS, lists_bytes(MERGE_THREADS),
                                  *cluster) == 0)
        --*cluster;
    return error;
}

static uint32_t held_bytes(uint32_t words, bool may_share) {
    return shared_bytes_of(carve_merge_held<element_t>, words, may_share);
}

static int launch_hold(const struct launch_grid *grid, const struct merge_args *args) {
    return launch("merge_held", grid, held_bytes(args->held_words, args->may_share), merge_held<element_t>,
                  args);
}

static int launch_check(const struct launch_grid *grid, const struct merge_args *args) {
    return launch("merge_check", grid, 0, merge_check<element_t>, args);
}

static int launch_select(const struct launch_grid *grid, const struct merge_args *args) {
    return launch("merge_select", grid, shared_bytes_of(carve_merge_select), merge_select<element_t>, args);
}

#if KEY_BITS <= 32
static int launch_exchange(const struct launch_grid *grid, const struct exchange_args *args) {
    const uint32_t candidates = (uint32_t)args->merge.candidates, bytes = short_bytes(candidates);
    if (candidates <= grid->threads)
        return launch("merge_exchanged", grid, bytes, merge_exchanged<element_t, 1>, args);
    if (candidates <= 2 * grid->threads)
        return launch("merge_exchanged", grid, bytes, merge_exchanged<element_t, 2>, args);
    return launch("merge_exchanged", grid, bytes, merge_exchanged<element_t, MERGE_SHORT_ITEMS>, args);
}

static int prepare_exchange(uint32_t shared_bytes_max) {
    int error = simt_prepare(merge_exchanged<element_t, 1>, shared_bytes_max);
    error = error != 0 ? error : simt_prepare(merge_exchanged<element_t, 2>, shared_bytes_max);
    return error != 0 ? error : simt_prepare(merge_exchanged<element_t, MERGE_SHORT_ITEMS>, shared_bytes_max);
}
#else
static constexpr int (*launch_exchange)(const struct launch_grid *, const struct exchange_args *) = nullptr;

static int prepare_exchange(uint32_t) {
    return 0;
}
#endif

static int prepare(uint32_t shared_bytes_max, uint32_t *cluster) {
    int error = prepare_exchange(shared_bytes_max);
    error = error != 0 ? error : prepare_lists(shared_bytes_max, cluster);
    error = error != 0 ? error : simt_prepare(merge_held<element_t>, shared_bytes_max);
    error = error != 0 ? error : simt_prepare(merge_sort<element_t>, shared_bytes_max);
    error = error != 0 ? error : simt_prepare(merge_short<element_t, 1>, shared_bytes_max);
    error = error != 0 ? error : simt_prepare(merge_short<element_t, 2>, shared_bytes_max);
    error = error != 0 ? error : simt_prepare(merge_short<element_t, MERGE_SHORT_ITEMS>, shared_bytes_max);
    error = error != 0 ? error : simt_prepare(merge_check<element_t>, 0);
    return error != 0 ? error : simt_prepare(merge_select<element_t>, 0);
}

extern "C" const struct merge_kernels INSTANCE = {prepare,      sort_bytes,   launch_sort,   short_bytes,
                                                  launch_short, lists_bytes,  launch_lists,  held_bytes,
                                                  launch_hold,  launch_check, launch_select, launch_exchange};
} // namespace WIDTH
