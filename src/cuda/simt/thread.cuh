/* SPDX-License-Identifier: Apache-2.0
 * Who a thread is, and the block barrier. Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_THREAD_CUH
#define TOPK_SRC_CUDA_SIMT_THREAD_CUH

TOPK_DEVICE uint32_t simt_thread(void) {
    return threadIdx.x;
}

TOPK_DEVICE uint32_t simt_threads(void) {
    return blockDim.x;
}

TOPK_DEVICE uint32_t simt_lane(void) {
    return threadIdx.x % SIMT_WARP;
}

TOPK_DEVICE uint32_t simt_warp(void) {
    return threadIdx.x / SIMT_WARP;
}

TOPK_DEVICE uint32_t simt_warps(void) {
    return blockDim.x / SIMT_WARP;
}

TOPK_DEVICE uint32_t simt_block(void) {
    return blockIdx.x;
}

TOPK_DEVICE uint32_t simt_blocks(void) {
    return gridDim.x;
}

TOPK_DEVICE uint32_t simt_block_y(void) {
    return blockIdx.y;
}

TOPK_DEVICE uint32_t simt_blocks_y(void) {
    return gridDim.y;
}

/* Every thread of the block, at the same place in the code; no thread may have returned. */
TOPK_DEVICE void simt_block_sync(void) {
    __syncthreads();
}

/* The same, and for how many threads `predicate` holds. */
TOPK_DEVICE uint32_t simt_block_count(bool predicate) {
    return (uint32_t)__syncthreads_count(predicate);
}

#endif
