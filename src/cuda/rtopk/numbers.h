/* SPDX-License-Identifier: Apache-2.0
 * How elements become the numbers of an approximation (CONTRACT.md 2.5): the larger the better. */
#ifndef TOPK_SRC_CUDA_RTOPK_NUMBERS_H
#define TOPK_SRC_CUDA_RTOPK_NUMBERS_H

#include "../../keys.h"

/* An element of 32 or 64 bits has the number's own bits, but for the sign. Narrow ones, whose bits lie at the
 * top of a word of 32, move down by `shift`, so that exponent and fraction are where a float has them; a
 * product with a power of 2 mends the exponent's bias. */
struct number_map {
    uint64_t keep; /* narrow elements: once they have moved */
    uint64_t negate;
    uint32_t shift, scale;      /* narrow elements; scale: the bits of a float, which also negates */
    uint64_t largest, infinity; /* elements: the largest finite one, and infinity or, without one, the same */
    bool nan_is_best;
};

#ifndef __cplusplus
struct number_map topk_cuda_number_map(const struct order *order);
#endif
#endif
