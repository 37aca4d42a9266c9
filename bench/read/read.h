/* SPDX-License-Identifier: Apache-2.0
 *
 * One read: the least time in which this machine's memory hands over an input. It is the unit of the
 * benchmark. */
#ifndef BENCH_READ_H
#define BENCH_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A plain read of an input with all that is chosen about it. */
typedef struct bench_reader {
    const char *name; /* of the kernel */
    int threads;
    const struct bench_read_kernel *kernel;
} bench_reader;

/* The fastest reader of this input: every kernel that this CPU can run, with all the threads and, for
 * an input so small that a team costs more than it brings, with one. */
bench_reader bench_reader_calibrate(const void *input, size_t bytes, int threads);

void bench_read(const bench_reader *reader, const void *input, size_t bytes);

/* The name of a kernel that fails to look at every byte, whatever the length; NULL if there is none. */
const char *bench_read_self_test(void);

/* Bytes of one step; the caller reads what is less than a step. */
enum { bench_read_step = 512 };

typedef struct bench_read_kernel {
    const char *name; /* NULL: past the last */
    bool (*can)(void);
    uint64_t (*read)(const unsigned char *begin, size_t steps);
} bench_read_kernel;

extern const bench_read_kernel bench_read_kernels[];

#endif /* BENCH_READ_H */
