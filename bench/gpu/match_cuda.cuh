/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether an element matches, told from its number or its place; shares nothing with the library. */
#ifndef BENCH_MATCH_CUDA_CUH
#define BENCH_MATCH_CUDA_CUH

#include "data/random.h"
#include "gpu/truth_cuda.h"

#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <limits>

/* What a mask says of element e. */
__device__ inline bool bench_masked(const unsigned char *mask, bool in_bits, std::int64_t e) {
    return in_bits ? (mask[e / 8] >> (e % 8) & 1) != 0 : mask[e] != 0;
}

struct bench_match {
    bench_gpu_rule rule;
    std::uint64_t keep_percent; /* by place */
    topk_type type;
    bool all; /* the bound is -infinity, and there is no NaN in the data */
    double number;
    std::int64_t integer;
    std::uint64_t natural;

    /* Of the element that lies at e, counted through all rows. */
    template <typename W> __device__ bool operator()(W bits, std::int64_t e) const {
        constexpr std::uint64_t seed = 0x706C616365; /* that no data has */
        return rule == BENCH_BY_PLACE ? bench_random(seed, e) % 100 < keep_percent
                                      : above(bits) == (rule == BENCH_ABOVE_BOUND);
    }

  private:
    template <typename W> __device__ bool above(W bits) const {
        if (all) {
            return true;
        }
        switch (type) {
        case TOPK_F16:
            return static_cast<double>(__half2float(__ushort_as_half(static_cast<unsigned short>(bits)))) >
                   number;
        case TOPK_BF16:
            return static_cast<double>(__uint_as_float(static_cast<unsigned>(bits) << 16)) > number;
        case TOPK_F32:
            return static_cast<double>(__uint_as_float(static_cast<unsigned>(bits))) > number;
        case TOPK_F8_E4M3:
            return small_number(bits, __NV_E4M3) > number;
        case TOPK_F8_E5M2:
            return small_number(bits, __NV_E5M2) > number;
        case TOPK_F64:
            return __longlong_as_double(static_cast<long long>(bits)) > number;
        default:
            return is_signed() ? signed_number(bits) > integer : static_cast<std::uint64_t>(bits) > natural;
        }
    }
    template <typename W>
    __device__ static double small_number(W bits, __nv_fp8_interpretation_t interpretation) {
        return static_cast<double>(__half2float(
            __half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits), interpretation))));
    }
    __device__ bool is_signed() const {
        return type >= TOPK_I8 && type <= TOPK_I64;
    }
    template <typename W> __device__ static std::int64_t signed_number(W bits) {
        constexpr int unused = 64 - 8 * static_cast<int>(sizeof(W));
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(bits) << unused) >> unused;
    }
};

inline bench_match bench_match_of(topk_type type, const bench_gpu_truth *truth) {
    bench_match match = {truth->rule, static_cast<std::uint64_t>(truth->keep_percent), type, false, 0, 0, 0};
    switch (truth->bound.type) {
    case TOPK_BOUND_I64:
        match.integer = truth->bound.value.i64;
        break;
    case TOPK_BOUND_U64:
        match.natural = truth->bound.value.u64;
        break;
    default:
        match.number = truth->bound.value.f64;
        match.all = match.number < -std::numeric_limits<double>::max();
        break;
    }
    return match;
}

#endif // BENCH_MATCH_CUDA_CUH
