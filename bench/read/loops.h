/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops that read memory and do no more than use every byte, for vectors of VECTOR_BYTES and an
 * instruction set that TARGET turns on. They differ in how many loads are in flight, in prefetching, and in
 * how many streams they read at once: which is best depends on the machine and on the level of memory.
 * NAME(x) makes a name of its own, and no include guard: kernels.c includes this once for each width. */
typedef uint64_t NAME(vector) __attribute__((vector_size(VECTOR_BYTES), aligned(16), may_alias));

TARGET static inline void NAME(prefetch)(const NAME(vector) * at) {
    for (size_t line = 0; line < 4 * VECTOR_BYTES; line += 64) {
        __builtin_prefetch((const unsigned char *)at + read_ahead + line);
    }
}

TARGET static inline uint64_t NAME(reduce)(const NAME(vector) * sums, size_t count) {
    uint64_t all = 0;
    for (size_t i = 0; i < count; ++i) {
        for (size_t lane = 0; lane < VECTOR_BYTES / sizeof(uint64_t); ++lane) {
            all |= sums[i][lane];
        }
    }
    return all;
}

TARGET static uint64_t NAME(sum_x8)(const unsigned char *begin, size_t steps) {
    const NAME(vector) *in = (const NAME(vector) *)(const void *)begin;
    NAME(vector) sums[8] = {0};
    for (size_t i = 0; i < steps * (bench_read_step / VECTOR_BYTES); i += 8) {
#pragma GCC unroll 8
        for (size_t each = 0; each < 8; ++each) {
            sums[each] += in[i + each];
        }
    }
    return NAME(reduce)(sums, 8);
}

TARGET static uint64_t NAME(sum_x4_ahead)(const unsigned char *begin, size_t steps) {
    const NAME(vector) *in = (const NAME(vector) *)(const void *)begin;
    NAME(vector) sums[4] = {0};
    for (size_t i = 0; i < steps * (bench_read_step / VECTOR_BYTES); i += 4) {
        NAME(prefetch)(in + i);
#pragma GCC unroll 4
        for (size_t each = 0; each < 4; ++each) {
            sums[each] += in[i + each];
        }
    }
    return NAME(reduce)(sums, 4);
}

TARGET static uint64_t NAME(sum_streams)(const unsigned char *begin, size_t steps) {
    const NAME(vector) *in = (const NAME(vector) *)(const void *)begin;
    const size_t quarter = steps / 4 * (bench_read_step / VECTOR_BYTES);
    NAME(vector) sums[4] = {0};
    for (size_t i = 0; i < quarter; i += 2) {
#pragma GCC unroll 4
        for (size_t each = 0; each < 4; ++each) {
            sums[each] += in[i + each * quarter] + in[i + each * quarter + 1];
        }
    }
    for (size_t i = 4 * quarter; i < steps * (bench_read_step / VECTOR_BYTES); ++i) {
        sums[0] += in[i];
    }
    return NAME(reduce)(sums, 4);
}
