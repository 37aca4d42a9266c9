/* SPDX-License-Identifier: Apache-2.0 */
#include "data/elements.h"

#include <math.h>
#include <string.h>

bool bench_type_is_float(topk_type type) {
    return type >= TOPK_F16 && type <= TOPK_F8_E5M2;
}

bool bench_type_is_signed(topk_type type) {
    return type >= TOPK_I8 && type <= TOPK_I64;
}

static uint64_t to_small_float(topk_type type, double number) {
    const bench_small_float f = bench_small_float_of(type);
    const double magnitude = fmin(fabs(number), f.largest);
    const bool normal = magnitude >= ldexp(1.0, f.least_exponent);
    const int exponent = normal ? ilogb(magnitude) : f.least_exponent;
    /* A normal number's has its leading bit, which adds 1 to the exponent; rounding up may carry into it. */
    const uint64_t significand = (uint64_t)nearbyint(ldexp(magnitude, f.fraction_bits - exponent));
    const uint64_t sign = signbit(number) ? UINT64_C(1) << (8 * topk_type_size(type) - 1) : 0;
    return sign | (((uint64_t)(exponent - f.least_exponent) << f.fraction_bits) + significand);
}

static uint16_t to_bf16(double number) {
    const float rounded = (float)number;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return (uint16_t)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

static int64_t to_integer(topk_type type, double number) {
    const int bits = 8 * (int)topk_type_size(type);
    const double limit = ldexp(1.0, bits - bench_type_is_signed(type));
    const double low = bench_type_is_signed(type) ? -limit : 0.0;
    /* Numbers of distributions are small, so that a 64-bit type never comes near its limits. */
    return llrint(fmin(fmax(number, low), limit - 1.0));
}

void bench_store_numbers(topk_type type, const double *numbers, int64_t count, void *elements) {
    uint64_t bits[1];
    unsigned char *out = elements;
    const size_t size = topk_type_size(type);
    for (int64_t i = 0; i < count; ++i, out += size) {
        if (type == TOPK_F32) {
            const float rounded = (float)numbers[i];
            memcpy(out, &rounded, sizeof rounded);
            continue;
        }
        if (type == TOPK_F64) {
            memcpy(out, &numbers[i], sizeof numbers[i]);
            continue;
        }
        *bits = type == TOPK_BF16           ? to_bf16(numbers[i])
                : bench_type_is_float(type) ? to_small_float(type, numbers[i])
                                            : (uint64_t)to_integer(type, numbers[i]);
        bench_store_bits(type, bits, 1, out);
    }
}

void bench_store_bits(topk_type type, const uint64_t *bits, int64_t count, void *elements) {
    switch (topk_type_size(type)) {
    case 1:
        for (int64_t i = 0; i < count; ++i) {
            ((uint8_t *)elements)[i] = (uint8_t)bits[i];
        }
        break;
    case 2:
        for (int64_t i = 0; i < count; ++i) {
            ((uint16_t *)elements)[i] = (uint16_t)bits[i];
        }
        break;
    case 4:
        for (int64_t i = 0; i < count; ++i) {
            ((uint32_t *)elements)[i] = (uint32_t)bits[i];
        }
        break;
    default:
        memcpy(elements, bits, (size_t)count * sizeof *bits);
    }
}
