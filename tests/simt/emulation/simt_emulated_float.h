/* SPDX-License-Identifier: Apache-2.0
 * Arithmetic of float32 and float64. What a GPU gives to within some error has about as large a one here,
 * which looks random. */
#ifndef TOPK_TESTS_SIMT_EMULATED_FLOAT_H
#define TOPK_TESTS_SIMT_EMULATED_FLOAT_H

inline float simt_float_of_bits(uint32_t bits) {
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

inline uint32_t simt_bits_of_float(float number) {
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

inline float simt_float_of_half(uint16_t bits) {
    const uint32_t magnitude = bits & 0x7fff, sign = (uint32_t)(bits & 0x8000) << 16;
    const float scaled = simt_float_of_bits(magnitude << 13) * simt_float_of_bits(0x77800000u); /* 2^112 */
    const uint32_t number = magnitude < 0x7c00   ? simt_bits_of_float(scaled)
                            : magnitude > 0x7c00 ? 0x7fffffff
                                                 : 0x7f800000;
    return simt_float_of_bits(number | (magnitude > 0x7c00 ? 0 : sign));
}

inline double simt_float_of_bits(uint64_t bits) {
    double number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

inline uint64_t simt_bits_of_float(double number) {
    uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Number: float or double. A GPU's NaN have no sign. */
template <typename Number> Number simt_float_add(Number a, Number b) {
    const Number sum = a + b;
    return sum == sum ? sum : std::numeric_limits<Number>::quiet_NaN();
}

template <typename Number> Number simt_float_multiply(Number a, Number b) {
    return a * b;
}

template <typename Number> Number simt_float_magnitude(Number number) {
    return std::fabs(number);
}

inline float simt_float_divide(float a, float b) {
    return a / b;
}

template <typename Number> Number simt_float_max(Number a, Number b) {
    return b != b || a > b ? a : b;
}

template <typename Number> Number simt_float_min(Number a, Number b) {
    return b != b || a < b ? a : b;
}

template <typename Number> Number simt_float_max_or_nan(Number a, Number b) {
    return a != a || b != b ? a + b : simt_float_max(a, b);
}

/* Off by up to 2^-22, up or down. */
inline float simt_float_disturbed(double exact, float argument) {
    const uint32_t hash = simt_bits_of_float(argument) * 2654435761u;
    const double error = ((double)hash / 4294967296.0 - 0.5) / 2097152.0;
    const float number = (float)(exact * (1 + error));
    return std::fabs(number) < FLT_MIN ? 0.0f : number;
}

inline float simt_float_exp2_near(float x) {
    return simt_float_disturbed(std::exp2((double)x), x);
}

inline float simt_float_reciprocal_near(float x) {
    return simt_float_disturbed(1 / (double)x, x);
}

#endif
