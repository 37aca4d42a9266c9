/* SPDX-License-Identifier: Apache-2.0
 * Clusters of blocks. Where the hardware has none, every block is a cluster of its own, and the launch
 * wrapper refuses larger ones. Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_CLUSTER_CUH
#define TOPK_SRC_CUDA_SIMT_CLUSTER_CUH

#include "shared.cuh"

/* An array in the shared memory of another block, read, written and changed by atomics as one's own is. It is
 * no simt_shared: what takes that may use addresses that mean the caller's own block. */
template <typename T> struct simt_remote {
    T *data;

    __device__ __forceinline__ T &operator[](uint32_t index) const {
        return data[index];
    }
};

#ifdef SIMT_HAS_CLUSTERS

TOPK_DEVICE uint32_t simt_cluster_rank(void) {
    return __clusterRelativeBlockRank();
}

TOPK_DEVICE uint32_t simt_cluster_size(void) {
    return __clusterSizeInBlocks();
}

/* Every thread of every block of the cluster. */
TOPK_DEVICE void simt_cluster_sync(void) {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}

/* The same array in another block of the cluster, which must have started (a cluster barrier before) and
 * must not have ended (a cluster barrier after). */
template <typename T> TOPK_DEVICE simt_remote<T> simt_shared_of_rank(simt_shared<T> array, uint32_t rank) {
    return simt_remote<T>{(T *)__cluster_map_shared_rank(array.data, rank)};
}

#else

TOPK_DEVICE uint32_t simt_cluster_rank(void) {
    return 0;
}

TOPK_DEVICE uint32_t simt_cluster_size(void) {
    return 1;
}

TOPK_DEVICE void simt_cluster_sync(void) {
    __syncthreads();
}

template <typename T> TOPK_DEVICE simt_remote<T> simt_shared_of_rank(simt_shared<T> array, uint32_t) {
    return simt_remote<T>{array.data};
}

#endif
#endif
