/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as elements, as data/elements.c rounds them. */
#ifndef BENCH_NUMBER_CUDA_CUH
#define BENCH_NUMBER_CUDA_CUH

#include "topk.h"

#include <cstdint>
#include <cstring>

__device__ inline std::uint64_t bench_f16_of_number(double number) {
    const double magnitude = fmin(fabs(number), 65504.0);
    const std::uint64_t sign = number < 0 ? 0x8000 : 0;
    if (magnitude < 6.103515625e-05) {
        return sign | static_cast<std::uint64_t>(rint(magnitude * 16777216.0));
    }
    const int exponent = ilogb(magnitude);
    /* The significand is in [1024, 2048]; 2048 carries into the exponent, as it should. */
    const std::uint64_t significand = static_cast<std::uint64_t>(rint(ldexp(magnitude, 10 - exponent)));
    return sign | ((static_cast<std::uint64_t>(exponent + 14) << 10) + significand);
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
        return bench_f16_of_number(number);
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
