/* SPDX-License-Identifier: Apache-2.0
 * What samples of a row need: a hash for random numbers, and a root for deviations. */
#ifndef TOPK_SRC_CUDA_SELECT_CHANCE_CUH
#define TOPK_SRC_CUDA_SELECT_CHANCE_CUH

#include "../simt.cuh"

TOPK_DEVICE uint32_t hash_of(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* The square root, within 6 percent. */
TOPK_DEVICE float root_of(float x) {
    return simt_float_of_bits((simt_bits_of_float(x) >> 1) + 0x1fc00000);
}

#endif
