/* SPDX-License-Identifier: Apache-2.0
 * Many comparisons at once. A compiler that counts or collects their outcomes by itself takes three
 * instructions for each. T: uint32_t, uint64_t, float or double; NaN is not at least anything. Included by
 * simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_COMPARE_CUH
#define TOPK_SRC_CUDA_SIMT_COMPARE_CUH

/* Counts how often a >= b: up to 127 times. The carry of a subtraction is one, and one addition takes two. */
template <typename T> struct simt_tally {
    uint32_t sum = 0;

    TOPK_MEMBER void add_if_at_least(uint32_t a, uint32_t b) {
        asm("{ .reg .u32 rest;\n"
            "sub.cc.u32 rest, %1, %2;\n"
            "addc.u32 %0, %0, 0; }"
            : "+r"(sum)
            : "r"(a), "r"(b));
    }
    TOPK_MEMBER void add_if_at_least(uint64_t a, uint64_t b) {
        asm("{ .reg .u64 rest;\n"
            "sub.cc.u64 rest, %1, %2;\n"
            "addc.u32 %0, %0, 0; }"
            : "+r"(sum)
            : "l"(a), "l"(b));
    }
    TOPK_MEMBER void add_if_at_least(double a, double b) {
        sum += a >= b ? 1 : 0;
    }
    TOPK_MEMBER uint32_t count(void) const {
        return sum;
    }
};

/* A comparison of floats can make 1.0. Float additions count: the units that compare stay free. */
template <> struct simt_tally<float> {
    float sum = 0;

    TOPK_MEMBER void add_if_at_least(float a, float b) {
        float one;
        asm("set.ge.f32.f32 %0, %1, %2;" : "=f"(one) : "f"(a), "f"(b));
        sum = __fadd_rn(sum, one);
    }
    TOPK_MEMBER uint32_t count(void) const {
        return __float2uint_rz(sum);
    }
};

/* `count`, and `unit` added to it if `value` is `low` or more; without a branch. */
TOPK_DEVICE uint32_t simt_count_from(uint32_t count, uint32_t value, uint32_t low, uint32_t unit) {
    asm("{ .reg .pred counts;\n"
        "setp.ge.u32 counts, %1, %2;\n"
        "@counts add.u32 %0, %0, %3; }"
        : "+r"(count)
        : "r"(value), "r"(low), "r"(unit));
    return count;
}

/* The lesser of a + b, which may wrap, and c: one instruction from compute capability 9.0 on. */
TOPK_DEVICE uint32_t simt_min_of_sum(uint32_t a, uint32_t b, uint32_t c) {
    return __viaddmin_u32(a, b, c);
}

/* The same for each half of a word. */
TOPK_DEVICE uint32_t simt_min_of_sums16(uint32_t a, uint32_t b, uint32_t c) {
    return __viaddmin_u16x2(a, b, c);
}

/* 1, which the compiler does not know: blocks have one dimension. */
TOPK_DEVICE uint32_t simt_unknown_one(void) {
    uint32_t one;
    asm("mov.u32 %0, %%ntid.y;" : "=r"(one));
    return one;
}

/* The same. The sum is a multiplication by simt_unknown_one() and an addition: the units that compare stay
 * free. */
TOPK_DEVICE uint32_t simt_count_from(uint32_t count, uint32_t value, uint32_t low, uint32_t unit,
                                     uint32_t one) {
    asm("{ .reg .pred counts;\n"
        "setp.ge.u32 counts, %1, %2;\n"
        "@counts mad.lo.u32 %0, %3, %4, %0; }"
        : "+r"(count)
        : "r"(value), "r"(low), "r"(one), "r"(unit));
    return count;
}

TOPK_DEVICE uint32_t simt_count_from(uint32_t count, float value, float low, uint32_t unit, uint32_t one) {
    asm("{ .reg .pred counts;\n"
        "setp.ge.f32 counts, %1, %2;\n"
        "@counts mad.lo.u32 %0, %3, %4, %0; }"
        : "+r"(count)
        : "f"(value), "f"(low), "r"(one), "r"(unit));
    return count;
}

TOPK_DEVICE uint32_t simt_count_from(uint32_t count, uint64_t value, uint64_t low, uint32_t unit) {
    asm("{ .reg .pred counts;\n"
        "setp.ge.u64 counts, %1, %2;\n"
        "@counts add.u32 %0, %0, %3; }"
        : "+r"(count)
        : "l"(value), "l"(low), "r"(unit));
    return count;
}

TOPK_DEVICE uint32_t simt_count_from(uint32_t count, double value, double low, uint32_t unit, uint32_t) {
    asm("{ .reg .pred counts;\n"
        "setp.ge.f64 counts, %1, %2;\n"
        "@counts add.u32 %0, %0, %3; }"
        : "+r"(count)
        : "d"(value), "d"(low), "r"(unit));
    return count;
}

#endif
