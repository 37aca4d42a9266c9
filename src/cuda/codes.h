/* SPDX-License-Identifier: Apache-2.0
 * The order of elements on the device. keys.h gives each element a point on a circle, by one xor and one
 * addition. A point becomes a code when the circle is turned to begin at the worst element and ascend to the
 * best:
 *
 *   code = ((bits & keep) ^ always ^ (negative if the top bit is set)) + turn (+ add if the top bit is set)
 *
 * cut to [lowest, highest], so that all NaN, which lie at one end, share a code. The better element has the
 * greater code, and elements that tie share one, but for the zeros of floats: their codes are `zeros`, an
 * even number, and zeros + 1, so that they differ in the last bit alone. That takes about half the
 * instructions of a key. Where it matters a code is made a key by setting that bit. */
#ifndef TOPK_SRC_CUDA_CODES_H
#define TOPK_SRC_CUDA_CODES_H

#include "../keys.h"

struct code_map {
    uint64_t keep, always, negative, turn, add;
    uint64_t lowest, highest;
    uint64_t zeros; /* the even code of a pair of zeros; all ones where there is no pair */
};

/* The bits that topk_kth writes for a key: the inverse, with NaN and zero as their classes. */
struct decode_args {
    struct code_map map;
    uint64_t sign;
    uint64_t unflip;  /* undoes the flip of negative elements */
    uint64_t nan_key; /* meaningful if has_nan */
    uint64_t quiet_nan;
    bool has_nan, has_zeros;
    bool is_by_value; /* keys tell elements of different bits apart, but for NaN and zeros */
};

#ifndef __cplusplus
/* `points`: of that order. */
struct code_map topk_code_map(const struct order *order, const struct point_map *points);

/* `map`: of that order. */
struct decode_args topk_decode_args(const struct order *order, const struct code_map *map);
#endif
#endif
