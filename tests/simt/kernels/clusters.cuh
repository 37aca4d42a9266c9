/* SPDX-License-Identifier: Apache-2.0
 * Kernels whose blocks reach into each other's shared memory. */
#ifndef TOPK_TESTS_SIMT_CLUSTERS_CUH
#define TOPK_TESTS_SIMT_CLUSTERS_CUH

#include "sums.cuh"

/* out[cluster] = the sum of the cluster's values, which block 0 of the cluster gathers. */
TOPK_KERNEL void cluster_sum(struct sums_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> sums = simt_carve<uint32_t>(arena, 1);
    if (simt_thread() == 0)
        sums[0] = 0;
    simt_block_sync();
    uint32_t sum = simt_reduce_add(SIMT_ALL_LANES, args.in[simt_block() * simt_threads() + simt_thread()]);
    if (simt_lane() == 0)
        simt_atomic_add(&sums[0], sum);
    simt_cluster_sync();
    if (simt_cluster_rank() == 0 && simt_thread() == 0) {
        uint32_t total = 0;
        for (uint32_t rank = 0; rank < simt_cluster_size(); rank++)
            total += simt_remote_load(simt_shared_of_rank(sums, rank), 0);
        args.out[simt_block() / simt_cluster_size()] = total;
    }
    simt_cluster_sync(); /* no block ends before its sum is read */
}

struct list_args {
    const uint32_t *in; /* one value for each thread of the grid, below `bound` where it is sent */
    uint32_t bound;
    uint64_t *listed; /* as many for each cluster as it has threads */
    uint32_t *found;  /* 2 for each block */
};

/* The blocks of a cluster send their values below the bound to its last one, into a list of (value, thread of
 * the cluster), which comes out in any order. Each block finds how many there are, and the maximum. */
TOPK_KERNEL void cluster_list(struct list_args args) {
    const uint32_t threads = simt_cluster_size() * simt_threads();
    const uint32_t thread = simt_block() * simt_threads() + simt_thread(), value = args.in[thread];
    simt_arena arena = simt_shared_arena();
    simt_shared<uint64_t> list = simt_carve<uint64_t>(arena, threads);
    simt_shared<uint32_t> found = simt_carve<uint32_t>(arena, 2);
    const simt_remote<uint64_t> last_list = simt_shared_of_rank(list, simt_cluster_size() - 1);
    const simt_remote<uint32_t> last_found = simt_shared_of_rank(found, simt_cluster_size() - 1);
    simt_cluster_arrive_relaxed();
    simt_cluster_wait();
    if (simt_cluster_rank() == 0 && simt_thread() < 2)
        simt_remote_store(last_found, simt_thread(), 0);
    simt_cluster_arrive();
    const uint64_t entry = (uint64_t)value << 32 | thread % threads;
    simt_cluster_wait();
    if (value < args.bound) {
        simt_remote_store(last_list, simt_remote_add(last_found, 0, 1), entry);
        simt_remote_max(last_found, 1, value);
    }
    simt_cluster_sync();
    const uint32_t number = simt_remote_load(last_found, 0);
    if (simt_thread() < 2)
        args.found[2 * simt_block() + simt_thread()] = simt_remote_load(last_found, simt_thread());
    if (thread % threads < number)
        args.listed[thread] = simt_remote_load(last_list, thread % threads);
    simt_cluster_sync();
}

#endif
