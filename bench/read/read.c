/* SPDX-License-Identifier: Apache-2.0 */
#include "read/read.h"

#include "measure/statistics.h"

#include <stdint.h>

/* Where the results of reads go: written, so that they are computed. */
static volatile uint64_t sink;

/* Inputs below this are tried with one thread too. */
enum { team_bytes = 1 << 22 };

/* A kernel's time is the least of this many runs, and of more while they take no longer than this. */
enum { calibration_runs = 5 };
static const double calibration_seconds = 2e-4;

static uint64_t read_span(const bench_read_kernel *kernel, const unsigned char *begin, size_t bytes) {
    const size_t steps = bytes / bench_read_step;
    uint64_t result = kernel->read(begin, steps);
    for (size_t i = steps * bench_read_step; i < bytes; ++i) {
        result += begin[i];
    }
    return result;
}

void bench_read(const bench_reader *reader, const void *input, size_t bytes) {
    const unsigned char *begin = input;
    if (reader->threads == 1) {
        sink = read_span(reader->kernel, begin, bytes);
        return;
    }
    const size_t share = (bytes / (size_t)reader->threads / bench_read_step + 1) * bench_read_step;
    uint64_t sum = 0;
#pragma omp parallel for schedule(static, 1) num_threads(reader->threads) reduction(+ : sum)
    for (int part = 0; part < reader->threads; ++part) {
        const size_t first = share * (size_t)part;
        if (first < bytes) {
            sum += read_span(reader->kernel, begin + first, bytes - first < share ? bytes - first : share);
        }
    }
    sink = sum;
}

static double least_seconds(const bench_reader *reader, const void *input, size_t bytes) {
    double least = 1e9;
    double total = 0;
    for (int run = 0; run < calibration_runs || total < calibration_seconds; ++run) {
        const double begin = bench_seconds();
        bench_read(reader, input, bytes);
        const double taken = bench_seconds() - begin;
        least = taken < least ? taken : least;
        total += taken;
    }
    return least;
}

bench_reader bench_reader_calibrate(const void *input, size_t bytes, int threads) {
    bench_reader best = {0};
    double best_seconds = 1e9;
    const int team_sizes[2] = {threads, 1};
    const int sizes = threads > 1 && bytes < team_bytes ? 2 : 1;
    for (const bench_read_kernel *kernel = bench_read_kernels; kernel->name != NULL; ++kernel) {
        for (int size = 0; size < sizes && kernel->can(); ++size) {
            const bench_reader reader = {kernel->name, team_sizes[size], kernel};
            const double seconds = least_seconds(&reader, input, bytes);
            if (seconds < best_seconds) {
                best_seconds = seconds;
                best = reader;
            }
        }
    }
    return best;
}

/* Among zeros a single byte that is not must show in sums and maxima alike. */
static bool notices_every_byte(const bench_read_kernel *kernel, unsigned char *zeros, size_t bytes) {
    bool all = true;
    for (size_t i = 0; i < bytes; ++i) {
        zeros[i] = 1;
        all = read_span(kernel, zeros, bytes) != 0 && all;
        zeros[i] = 0;
    }
    return all;
}

const char *bench_read_self_test(void) {
    _Alignas(64) unsigned char zeros[9 * bench_read_step + 7] = {0};
    for (const bench_read_kernel *kernel = bench_read_kernels; kernel->name != NULL; ++kernel) {
        for (size_t bytes = 7; bytes <= sizeof zeros && kernel->can(); bytes += bench_read_step) {
            if (!notices_every_byte(kernel, zeros, bytes)) {
                return kernel->name;
            }
        }
    }
    return NULL;
}
