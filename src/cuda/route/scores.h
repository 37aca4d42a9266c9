/* SPDX-License-Identifier: Apache-2.0
 * The numbers of routing, for the host and for kernels. */
#ifndef TOPK_SRC_CUDA_ROUTE_SCORES_H
#define TOPK_SRC_CUDA_ROUTE_SCORES_H

#ifdef __cplusplus
#include "../simt.cuh"

#define TOPK_SCORE_FUNCTION TOPK_DEVICE

TOPK_DEVICE float score_add(float a, float b) {
    return simt_float_add(a, b);
}

TOPK_DEVICE float score_multiply(float a, float b) {
    return simt_float_multiply(a, b);
}

TOPK_DEVICE float score_divide(float a, float b) {
    return simt_float_divide(a, b);
}

TOPK_DEVICE float score_of_bits(uint32_t bits) {
    return simt_float_of_bits(bits);
}

TOPK_DEVICE uint32_t score_bits(float score) {
    return simt_bits_of_float(score);
}

TOPK_DEVICE uint32_t score_choose(bool first, uint32_t a, uint32_t b) {
    return first ? a : b;
}
#endif

#include "../../scores.h"
#include "topk_route.h"

#endif
