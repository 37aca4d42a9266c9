/* SPDX-License-Identifier: Apache-2.0
 * Arithmetic of float32 and float64 whose rounding matters, or whose speed does. Included by simt.cuh alone.
 */
#ifndef TOPK_SRC_CUDA_SIMT_FLOAT_CUH
#define TOPK_SRC_CUDA_SIMT_FLOAT_CUH

TOPK_DEVICE float simt_float_of_bits(uint32_t bits) {
    return __uint_as_float(bits);
}

TOPK_DEVICE uint32_t simt_bits_of_float(float number) {
    return __float_as_uint(number);
}

TOPK_DEVICE double simt_float_of_bits(uint64_t bits) {
    return __longlong_as_double((long long)bits);
}

TOPK_DEVICE uint64_t simt_bits_of_float(double number) {
    return (uint64_t)__double_as_longlong(number);
}

/* Rounded to nearest even, never fused with another operation, denormals included. */
TOPK_DEVICE float simt_float_add(float a, float b) {
    return __fadd_rn(a, b);
}

TOPK_DEVICE float simt_float_multiply(float a, float b) {
    return __fmul_rn(a, b);
}

TOPK_DEVICE double simt_float_add(double a, double b) {
    return __dadd_rn(a, b);
}

TOPK_DEVICE double simt_float_multiply(double a, double b) {
    return __dmul_rn(a, b);
}

TOPK_DEVICE float simt_float_divide(float a, float b) {
    return __fdiv_rn(a, b);
}

/* Of two numbers. If one is NaN the result is the other. */
TOPK_DEVICE float simt_float_max(float a, float b) {
    return fmaxf(a, b);
}

TOPK_DEVICE float simt_float_min(float a, float b) {
    return fminf(a, b);
}

TOPK_DEVICE double simt_float_max(double a, double b) {
    return fmax(a, b);
}

TOPK_DEVICE double simt_float_min(double a, double b) {
    return fmin(a, b);
}

TOPK_DEVICE float simt_float_magnitude(float number) {
    return fabsf(number);
}

TOPK_DEVICE double simt_float_magnitude(double number) {
    return fabs(number);
}

/* NaN if either is. */
TOPK_DEVICE float simt_float_max_or_nan(float a, float b) {
#if SIMT_ARCHITECTURE >= 80
    float greater;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(greater) : "f"(a), "f"(b));
    return greater;
#else
    return a != a || b != b ? a + b : fmaxf(a, b);
#endif
}

TOPK_DEVICE double simt_float_max_or_nan(double a, double b) {
    return a > b || a != a ? a : b;
}

/* The number whose bits as a float16 these are; exact. */
TOPK_DEVICE float simt_float_of_half(uint16_t bits) {
    float number;
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(bits));
    return number;
}

/* 2^x and 1 / x, to within 2^-22 of themselves; results that are denormal may be 0. */
TOPK_DEVICE float simt_float_exp2_near(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

TOPK_DEVICE float simt_float_reciprocal_near(float x) {
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(x));
    return reciprocal;
}

#endif
