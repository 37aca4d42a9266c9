/* SPDX-License-Identifier: Apache-2.0 */
#include "read/read.h"

#include <stdint.h>

/* How far ahead the kernels with a prefetch look. */
enum { read_ahead = 4096 };

static bool always(void) {
    return true;
}

#define VECTOR_BYTES 16
#define TARGET
#define NAME(x) plain_##x
#include "read/loops.h"

#if defined(__x86_64__)
static bool have_avx2(void) {
    return __builtin_cpu_supports("avx2");
}

static bool have_avx512(void) {
    return __builtin_cpu_supports("avx512f");
}

#define VECTOR_BYTES 32
#define TARGET __attribute__((target("avx2")))
#define NAME(x) avx2_##x
#include "read/loops.h"

#define VECTOR_BYTES 64
#define TARGET __attribute__((target("avx512f")))
#define NAME(x) avx512_##x
#include "read/loops.h"
#endif

static uint64_t scalar_x8(const unsigned char *begin, size_t steps) {
    const uint64_t *in = (const uint64_t *)(const void *)begin;
    uint64_t sums[8] = {0};
    for (size_t i = 0; i < steps * (bench_read_step / sizeof *in); i += 8) {
        for (size_t each = 0; each < 8; ++each) {
            sums[each] ^= in[i + each];
        }
    }
    return (sums[0] ^ sums[1]) ^ (sums[2] ^ sums[3]) ^ (sums[4] ^ sums[5]) ^ (sums[6] ^ sums[7]);
}

const bench_read_kernel bench_read_kernels[] = {
    {"x8", always, plain_sum_x8},
    {"x4-ahead", always, plain_sum_x4_ahead},
    {"4-streams", always, plain_sum_streams},
    {"scalar-x8", always, scalar_x8},
#if defined(__x86_64__)
    {"avx2-x8", have_avx2, avx2_sum_x8},
    {"avx2-x4-ahead", have_avx2, avx2_sum_x4_ahead},
    {"avx2-4-streams", have_avx2, avx2_sum_streams},
    {"avx512-x8", have_avx512, avx512_sum_x8},
    {"avx512-x4-ahead", have_avx512, avx512_sum_x4_ahead},
    {"avx512-4-streams", have_avx512, avx512_sum_streams},
#endif
    {NULL, NULL, NULL},
};
