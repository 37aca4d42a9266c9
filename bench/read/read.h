/* SPDX-License-Identifier: Apache-2.0
 *
 * One read: the least time in which this machine's memory hands over an input. It is the unit of the
 * benchmark. */
#ifndef BENCH_READ_H
#define BENCH_READ_H

#include <stddef.h>

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

#endif /* BENCH_READ_H */
