/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as elements, as data/elements.c rounds them. */
#ifndef BENCH_NUMBER_CUDA_CUH
#define BENCH_NUMBER_CUDA_CUH

#include "data/elements.h"

#include <cstdint>
#include <cstring>

__device__ inline std::uint64_t bench_small_float_of_number(topk_type type, int width, double number) {
    const bench_small_float f = bench_small_float_of(type);
    const double magnitude = fmin(fabs(number), f.largest);
    const bool normal = magnitude >= ldexp(1.0, f.least_exponent);
    const int exponent = normal ? ilogb(magnitude) : f.least_exponent;
    const std::uint64_t significand =
        static_cast<std::uint64_t>(rint(ldexp(magnitude, f.fraction_bits - exponent)));
    const std::uint64_t sign = number < 0 ? std::uint64_t(1) << (width - 1) : 0;
    return sign |
           ((static_cast<std::uint64_t>(exponent - f.least_exponent) << f.fraction_bits) + significand);
}

/* The element, in the low `width` bits; integers are cut to their range. */
__device__ inline std::uint64_t bench_bits_of_number(topk_type type, int width, double number) {
    const float rounded = static_cast<float>(number);
    std::uint32_t bits;
    std::uint64_t wide;
    memcpy(&bits, &rounded, sizeof bits);
    memcpy(&wide, &number, sizeof wide);
    switch (type) {
    case TOPK_F16:
    case TOPK_F8_E4M3:
    case TOPK_F8_E5M2:
        return bench_small_float_of_number(type, width, number);
    case TOPK_BF16:
        return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    case TOPK_F32:
        return bits;
    case TOPK_F64:
        return wide;
    default:
        break;
    }
    const bool is_signed = type >= TOPK_I8 && type <= TOPK_I64;
    const double limit = ldexp(1.0, width - is_signed);
    const double low = is_signed ? -limit : 0.0;
    return static_cast<std::uint64_t>(llrint(fmin(fmax(number, low), limit - 1.0)));
}

#endif // BENCH_NUMBER_CUDA_CUH
