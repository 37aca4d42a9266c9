/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels that read memory and do no more than to use every byte, so that no load can be left out.
 * They differ in vector width, in how many loads are in flight, in prefetching, and in how many places
 * they read at once: which is best depends on the machine and on the level of memory. */
#ifndef BENCH_READ_KERNELS_H
#define BENCH_READ_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of one step; a kernel leaves what is less than a step to the caller. */
enum { bench_read_step = 512 };

/* How far ahead the kernels with a prefetch look. */
enum { bench_read_ahead = 4096 };

typedef struct bench_read_kernel {
    const char *name;
    bool (*can)(void);
    uint64_t (*read)(const unsigned char *begin, size_t steps);
} bench_read_kernel;

extern const bench_read_kernel bench_read_portable[];
extern const int bench_read_portable_count;
#if defined(__x86_64__)
extern const bench_read_kernel bench_read_avx2[];
extern const int bench_read_avx2_count;
extern const bench_read_kernel bench_read_avx512[];
extern const int bench_read_avx512_count;
#endif

#endif /* BENCH_READ_KERNELS_H */
