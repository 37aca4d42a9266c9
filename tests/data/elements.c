/* SPDX-License-Identifier: Apache-2.0 */
#include "elements.h"

double element_scale(topk_type type) {
    return element_is_float(type) ? 1 : ldexp(1.0, element_bits(type) - 3);
}

void element_put(topk_type type, void *values, int64_t i, double x) {
    element_put_bits(type, values, i, element_encode(type, x * element_scale(type)));
}

static uint64_t sign_bit(topk_type type) {
    return UINT64_C(1) << (element_bits(type) - 1);
}

uint64_t element_largest(topk_type type, bool negative) {
    const element_format f = element_format_of(type);
    if (element_is_float(type)) {
        return f.largest | (negative ? sign_bit(type) : 0);
    }
    return negative ? f.is_signed ? sign_bit(type) : 0 : f.largest;
}

uint64_t element_infinity(topk_type type, bool negative) {
    return element_is_float(type) ? element_format_of(type).infinity | (negative ? sign_bit(type) : 0)
                                  : element_largest(type, negative);
}

uint64_t element_zero(topk_type type, bool negative) {
    return element_is_float(type) && negative ? sign_bit(type) : 0;
}

uint64_t element_random_nan(topk_type type, random_state *random) {
    const element_format f = element_format_of(type);
    const uint64_t draw = random_bits(random);
    const uint64_t sign = draw >> 63 ? sign_bit(type) : 0;
    if (!element_is_float(type)) {
        return element_largest(type, sign != 0);
    }
    const uint64_t payloads = sign_bit(type) - 1 - f.infinity;
    return sign | (f.infinity + 1 + (draw >> 1) % payloads);
}

uint64_t element_random_denormal(topk_type type, random_state *random) {
    const uint64_t draw = random_bits(random);
    if (!element_is_float(type)) {
        return draw % 3;
    }
    return (draw >> 63 ? sign_bit(type) : 0) | draw % (UINT64_C(1) << element_format_of(type).fraction_bits);
}
