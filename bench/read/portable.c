/* SPDX-License-Identifier: Apache-2.0 */
#include "read/kernels.h"

/* Sixteen bytes: the vectors that every 64-bit machine has. */
typedef uint64_t vector __attribute__((vector_size(16)));

enum { vectors = bench_read_step / sizeof(vector) };

static bool always(void) {
    return true;
}

static uint64_t reduce(vector sum) {
    return sum[0] ^ sum[1];
}

static uint64_t sum_x4(const unsigned char *begin, size_t steps) {
    const vector *in = (const vector *)(const void *)begin;
    vector a = {0}, b = {0}, c = {0}, d = {0};
    for (size_t i = 0; i < steps * vectors; i += 4) {
        a += in[i];
        b += in[i + 1];
        c += in[i + 2];
        d += in[i + 3];
    }
    return reduce((a + b) + (c + d));
}

static uint64_t sum_x4_ahead(const unsigned char *begin, size_t steps) {
    const vector *in = (const vector *)(const void *)begin;
    vector a = {0}, b = {0}, c = {0}, d = {0};
    for (size_t i = 0; i < steps * vectors; i += 4) {
        __builtin_prefetch((const unsigned char *)(in + i) + bench_read_ahead);
        a += in[i];
        b += in[i + 1];
        c += in[i + 2];
        d += in[i + 3];
    }
    return reduce((a + b) + (c + d));
}

static uint64_t sum_streams(const unsigned char *begin, size_t steps) {
    const size_t quarter = steps / 4 * vectors;
    const vector *in = (const vector *)(const void *)begin;
    vector a = {0}, b = {0}, c = {0}, d = {0};
    for (size_t i = 0; i < quarter; i += 2) {
        a += in[i] + in[i + 1];
        b += in[i + quarter] + in[i + quarter + 1];
        c += in[i + 2 * quarter] + in[i + 2 * quarter + 1];
        d += in[i + 3 * quarter] + in[i + 3 * quarter + 1];
    }
    for (size_t i = 4 * quarter; i < steps * vectors; ++i) {
        a += in[i];
    }
    return reduce((a + b) + (c + d));
}

static uint64_t scalar_x8(const unsigned char *begin, size_t steps) {
    const uint64_t *in = (const uint64_t *)(const void *)begin;
    uint64_t sums[8] = {0};
    for (size_t i = 0; i < steps * (bench_read_step / sizeof *in); i += 8) {
        for (int lane = 0; lane < 8; ++lane) {
            sums[lane] ^= in[i + (size_t)lane];
        }
    }
    return (sums[0] ^ sums[1]) ^ (sums[2] ^ sums[3]) ^ (sums[4] ^ sums[5]) ^ (sums[6] ^ sums[7]);
}

const bench_read_kernel bench_read_portable[] = {
    {"x4", always, sum_x4},
    {"x4-ahead", always, sum_x4_ahead},
    {"4-streams", always, sum_streams},
    {"scalar-x8", always, scalar_x8},
};
const int bench_read_portable_count = (int)(sizeof bench_read_portable / sizeof *bench_read_portable);
