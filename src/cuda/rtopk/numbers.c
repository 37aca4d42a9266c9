/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers.h"

struct number_map topk_cuda_number_map(const struct order *order) {
    const struct type_traits traits = topk_type_traits(order->type);
    const bool is_negated = order->direction == TOPK_SMALLEST, is_signed = order->rank == TOPK_BY_VALUE;
    const uint64_t sign = 1ull << (traits.bits - 1);
    struct number_map map = {.keep = is_signed ? topk_ones(traits.bits) : sign - 1,
                             .negate = is_negated ? sign : 0,
                             .largest = topk_largest_finite(&traits),
                             .infinity = traits.infinity,
                             .nan_is_best = topk_key_map(order).nan_key != 0};
    if (traits.bits < 32) {
        const uint64_t float_sign = 1ull << 31, magnitude = float_sign - 1;
        const unsigned float_mantissa_bits = 23;
        map.shift = 32 - traits.bits - (float_mantissa_bits - traits.mantissa_bits);
        map.keep = magnitude >> map.shift | (is_signed ? float_sign : 0);
        map.scale = (127 + topk_bias_gap(&traits)) << float_mantissa_bits;
        map.scale |= is_negated ? (uint32_t)float_sign : 0;
    }
    return map;
}
