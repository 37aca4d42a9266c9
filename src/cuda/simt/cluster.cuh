/* SPDX-License-Identifier: Apache-2.0
 * Clusters of blocks, and the shared memory of other blocks. Where the hardware has none, every block is a
 * cluster of its own, and the launch wrapper refuses larger ones. Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_CLUSTER_CUH
#define TOPK_SRC_CUDA_SIMT_CLUSTER_CUH

#include "shared.cuh"

/* An array in the shared memory of some block of the cluster. Only the functions below take it: whatever
 * takes a simt_shared may use addresses that mean the caller's own block. T: uint32_t or uint64_t. */
template <typename T> struct simt_remote { uint32_t address; };

#ifdef SIMT_HAS_CLUSTERS

#define SIMT_REMOTE ".shared::cluster"

TOPK_DEVICE uint32_t simt_cluster_rank(void) {
    return __clusterRelativeBlockRank();
}

TOPK_DEVICE uint32_t simt_cluster_size(void) {
    return __clusterSizeInBlocks();
}

/* The cluster's barrier in two parts. Every thread of every block arrives, at the same place in the code, and
 * later waits until all have arrived; it then sees what they did before. Each arrival has its wait before the
 * thread arrives again or returns. */
TOPK_DEVICE void simt_cluster_arrive(void) {
    __cluster_barrier_arrive();
}

/* Without a fence: others see no more than that the block has started. */
TOPK_DEVICE void simt_cluster_arrive_relaxed(void) {
    __cluster_barrier_arrive_relaxed();
}

TOPK_DEVICE void simt_cluster_wait(void) {
    __cluster_barrier_wait();
}

/* The same array in another block of the cluster. Accesses come after a cluster barrier, before which that
 * block may not have started, and before another one, after which it may end. */
template <typename T> TOPK_DEVICE simt_remote<T> simt_shared_of_rank(simt_shared<T> array, uint32_t rank) {
    simt_remote<T> remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(remote.address)
        : "r"(simt_shared_address(array, 0)), "r"(rank));
    return remote;
}

#else

#define SIMT_REMOTE ".shared"

TOPK_DEVICE uint32_t simt_cluster_rank(void) {
    return 0;
}

TOPK_DEVICE uint32_t simt_cluster_size(void) {
    return 1;
}

TOPK_DEVICE void simt_cluster_arrive(void) {
}

TOPK_DEVICE void simt_cluster_arrive_relaxed(void) {
}

TOPK_DEVICE void simt_cluster_wait(void) {
    __syncthreads();
}

template <typename T> TOPK_DEVICE simt_remote<T> simt_shared_of_rank(simt_shared<T> array, uint32_t) {
    return simt_remote<T>{simt_shared_address(array, 0)};
}

#endif

/* Both parts: every thread of every block of the cluster. */
TOPK_DEVICE void simt_cluster_sync(void) {
    simt_cluster_arrive();
    simt_cluster_wait();
}

/* Plain accesses: only barriers order them. */
TOPK_DEVICE uint32_t simt_remote_load(simt_remote<uint32_t> array, uint32_t index) {
    uint32_t value;
    asm volatile("ld" SIMT_REMOTE ".u32 %0, [%1];" : "=r"(value) : "r"(array.address + index * 4) : "memory");
    return value;
}

TOPK_DEVICE uint64_t simt_remote_load(simt_remote<uint64_t> array, uint32_t index) {
    uint64_t value;
    asm volatile("ld" SIMT_REMOTE ".u64 %0, [%1];" : "=l"(value) : "r"(array.address + index * 8) : "memory");
    return value;
}

TOPK_DEVICE void simt_remote_store(simt_remote<uint32_t> array, uint32_t index, uint32_t value) {
    asm volatile("st" SIMT_REMOTE ".u32 [%0], %1;" ::"r"(array.address + index * 4), "r"(value) : "memory");
}

TOPK_DEVICE void simt_remote_store(simt_remote<uint64_t> array, uint32_t index, uint64_t value) {
    asm volatile("st" SIMT_REMOTE ".u64 [%0], %1;" ::"r"(array.address + index * 8), "l"(value) : "memory");
}

/* Atomics, relaxed, which return the old value. For threads of that block they are simt_atomic_{add,max} of
 * the same word. There are none on uint64_t, where the hardware has no instruction for them. */
TOPK_DEVICE uint32_t simt_remote_add(simt_remote<uint32_t> array, uint32_t index, uint32_t value) {
    uint32_t old;
    asm volatile("atom" SIMT_REMOTE ".add.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(array.address + index * 4), "r"(value)
                 : "memory");
    return old;
}

TOPK_DEVICE uint32_t simt_remote_max(simt_remote<uint32_t> array, uint32_t index, uint32_t value) {
    uint32_t old;
    asm volatile("atom" SIMT_REMOTE ".max.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(array.address + index * 4), "r"(value)
                 : "memory");
    return old;
}

#undef SIMT_REMOTE

#endif
