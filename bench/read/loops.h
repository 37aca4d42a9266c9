/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops that read memory and do no more than use every byte, for vectors of VECTOR_BYTES and an
 * instruction set that TARGET turns on. They differ in how many streams they read at once, in how many
 * vectors of each are in flight, and in prefetching: which is best depends on the machine and on the level of
 * memory. NAME(x) makes a name of its own, and no include guard: kernels.c includes this once for each width;
 * all three macros end here. */
typedef uint64_t NAME(vector) __attribute__((vector_size(VECTOR_BYTES), aligned(16), may_alias));

TARGET __attribute__((always_inline)) static inline uint64_t
NAME(add_up)(const unsigned char *begin, size_t steps, size_t streams, size_t flight, bool ahead) {
    const NAME(vector) *in = (const NAME(vector) *)(const void *)begin;
    const size_t all = steps * (bench_read_step / VECTOR_BYTES);
    const size_t span = steps / streams * (bench_read_step / VECTOR_BYTES);
    NAME(vector) sums[8] = {0};
    for (size_t i = 0; i < span; i += flight) {
        for (size_t line = 0; ahead && line < flight * VECTOR_BYTES; line += 64) {
            __builtin_prefetch((const unsigned char *)(in + i) + read_ahead + line);
        }
#pragma GCC unroll 8
        for (size_t each = 0; each < streams * flight; ++each) {
            sums[each] += in[each / flight * span + i + each % flight];
        }
    }
    for (size_t i = streams * span; i < all; ++i) {
        sums[0] += in[i];
    }
    uint64_t result = 0;
    for (size_t each = 0; each < 8 * VECTOR_BYTES / sizeof result; ++each) {
        result |= sums[each * sizeof result / VECTOR_BYTES][each % (VECTOR_BYTES / sizeof result)];
    }
    return result;
}

TARGET static uint64_t NAME(sum_x8)(const unsigned char *begin, size_t steps) {
    return NAME(add_up)(begin, steps, 1, 8, false);
}

TARGET static uint64_t NAME(sum_x4_ahead)(const unsigned char *begin, size_t steps) {
    return NAME(add_up)(begin, steps, 1, 4, true);
}

TARGET static uint64_t NAME(sum_streams)(const unsigned char *begin, size_t steps) {
    return NAME(add_up)(begin, steps, 4, 2, false);
}

#undef VECTOR_BYTES
#undef TARGET
#undef NAME
