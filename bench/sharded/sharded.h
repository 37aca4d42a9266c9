/* SPDX-License-Identifier: Apache-2.0
 *
 * What topk-bench-sharded needs of a device. There are two: the CPU and a GPU. */
#ifndef BENCH_SHARDED_H
#define BENCH_SHARDED_H

#include "data/data.h"
#include "measure/device.h"
#include "topk_advanced.h"

BENCH_C_BEGIN

/* Marks that a run sets: before its first step, and after each one. */
enum { SHARDED_STEPS = 14 };

typedef struct sharded_device {
    topk_backend backend;
    const bench_memory *memory;

    /* Before all else. False: bench_sharded_stop() tells why. */
    bool (*open)(const topk_context *context);
    void (*close)(void);
    topk_stream (*stream)(void); /* of all calls */
    const char *(*error)(void);

    bool (*fill)(const bench_filling *filling, void *elements, int64_t count);

    /* Looks for the fastest read of these bytes; then times one. */
    bool (*find_reader)(const void *elements, size_t bytes);
    bool (*read_us)(double *us);

    /* Runs the work, which calls mark() SHARDED_STEPS times at most, and tells the microseconds between each
     * mark and the next one. On a GPU all of it is in the queue before the first step begins. */
    bool (*time)(bench_work work, double us[SHARDED_STEPS]);
    bool (*mark)(void);
} sharded_device;

extern const sharded_device sharded_cpu, sharded_cuda;

BENCH_C_END

#endif /* BENCH_SHARDED_H */
