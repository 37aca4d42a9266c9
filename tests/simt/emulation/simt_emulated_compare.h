/* SPDX-License-Identifier: Apache-2.0
 * Many comparisons at once. */
#ifndef TOPK_TESTS_SIMT_EMULATED_COMPARE_H
#define TOPK_TESTS_SIMT_EMULATED_COMPARE_H

template <typename T> struct simt_tally {
    uint32_t sum = 0;

    void add_if_at_least(T a, T b) {
        sum += a >= b;
    }
    uint32_t count() const {
        return sum;
    }
};

template <typename T> uint32_t simt_count_from(uint32_t count, T value, T low, uint32_t unit) {
    return value >= low ? count + unit : count;
}

inline uint32_t simt_min_of_sum(uint32_t a, uint32_t b, uint32_t c) {
    return a + b < c ? a + b : c;
}

inline uint32_t simt_min_of_sums16(uint32_t a, uint32_t b, uint32_t c) {
    const uint16_t low = (uint16_t)(a + b), high = (uint16_t)((a >> 16) + (b >> 16));
    const uint16_t of_low = (uint16_t)c, of_high = (uint16_t)(c >> 16);
    return (uint32_t)(high < of_high ? high : of_high) << 16 | (low < of_low ? low : of_low);
}

inline uint32_t simt_unknown_one() {
    return 1;
}

template <typename T> uint32_t simt_count_from(uint32_t count, T value, T low, uint32_t unit, uint32_t one) {
    return simt_count_from(count, value, low, unit * one);
}

#endif
