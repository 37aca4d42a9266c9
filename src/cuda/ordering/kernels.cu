/* SPDX-License-Identifier: Apache-2.0
 * Lists put in order, for elements of KEY_BITS bits. */
#include "kernels.h"

#include "../instance.cuh"
#include "cluster.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

/* A thread for each slot of all rows, or as many as there are. */
template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ORDERING_GATHER_THREADS, 1) void ordering_gather(struct ordering_args a) {
    const int64_t step = (int64_t)simt_blocks() * simt_threads();
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    for (int64_t at = (int64_t)simt_block() * simt_threads() + simt_thread(); at < a.rows.rows * a.rows.k_max;
         at += step) {
        const int64_t row = at / a.rows.k_max, slot = at % a.rows.k_max;
        const int64_t position = read_extent(a.positions, at, a.wide);
        if (position < 0) {
            write_padding<Element>(a.rows, row, slot);
        } else {
            const struct row r = row_at(a.rows, row);
            write_result<Element>(a.rows, row, r, slot, row_values<Element>(a.rows, r)[position], position);
        }
    }
}

/* The second is for entries of two words, which elements of 64 bits always have. */
static void (*const sort_kernels[2])(struct ordering_args) = {ordering_sort<element_t, KEY_BITS == 64>,
                                                              ordering_sort<element_t, true>};

static uint32_t sort_bytes(bool two_words, uint32_t threads) {
    return two_words || KEY_BITS == 64 ? shared_bytes_of(carve_ordering<true>, threads)
                                       : shared_bytes_of(carve_ordering<false>, threads);
}

/* Clusters of `blocks` such blocks that the device holds at once, by the kernel that holds fewer. */
static uint32_t clusters_at_once(uint32_t threads, uint32_t cluster, uint32_t shared_bytes_max) {
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t bytes = sort_bytes(i == 1, threads);
        const uint32_t clusters = bytes > shared_bytes_max ? 0
                                  : cluster == 1
                                      ? simt_resident_blocks(sort_kernels[i], threads, bytes)
                                      : simt_resident_clusters(sort_kernels[i], threads, bytes, cluster);
        least = clusters < least ? clusters : least;
    }
    return least;
}

static int prepare(uint32_t shared_bytes_max, uint32_t clusters[2][ORDERING_CLUSTER_MAX + 1]) {
    int error = simt_prepare(ordering_gather<element_t>, 0);
    for (uint32_t i = 0; i < 2 && error == 0; i++)
        error = simt_prepare(sort_kernels[i], shared_bytes_max);
    for (uint32_t cluster = ORDERING_CLUSTER_MAX; cluster > 0 && error == 0; cluster--) {
        clusters[0][cluster] = clusters_at_once(ORDERING_THREADS, cluster, shared_bytes_max);
        clusters[1][cluster] = clusters_at_once(ORDERING_THREADS_MAX, cluster, shared_bytes_max);
    }
    return error;
}

static int sort(const struct launch_grid *grid, const struct ordering_args *args, uint32_t cluster) {
    struct simt_launch_shape shape = {};
    shape.name = "ordering_sort";
    shape.blocks = grid->blocks * cluster;
    shape.rows = 1;
    shape.threads = grid->threads;
    shape.cluster = cluster;
    shape.shared_bytes = sort_bytes(args->two_words, grid->threads);
    shape.dependent = grid->dependent;
    shape.stream = grid->stream;
    return simt_launch(shape, sort_kernels[args->two_words], *args);
}

static int gather(const struct launch_grid *grid, const struct ordering_args *args) {
    return launch("ordering_gather", grid, 0, ordering_gather<element_t>, args);
}

extern "C" const struct ordering_kernels INSTANCE = {prepare, sort, gather};
} // namespace WIDTH
