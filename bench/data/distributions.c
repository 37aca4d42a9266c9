/* SPDX-License-Identifier: Apache-2.0 */
#include "data/distributions.h"

#include "data/elements.h"
#include "data/random.h"

#include <math.h>

static const double tau = 6.283185307179586;

static void fill_uniform(const bench_block *block, double *numbers) {
    for (int64_t i = 0; i < block->count; ++i) {
        numbers[i] = bench_unit(bench_random(block->seed, block->first + i));
    }
}

/* Box and Muller: two numbers out of two. */
static void fill_normal(const bench_block *block, double *numbers) {
    for (int64_t i = 0; i < block->count; i += 2) {
        const uint64_t a = bench_random(block->seed, block->first + i);
        const uint64_t b = bench_random(block->seed, block->first + i + 1);
        const double radius = sqrt(-2.0 * log(bench_unit(a)));
        const float angle = (float)(tau * bench_unit(b));
        numbers[i] = radius * (double)cosf(angle);
        if (i + 1 < block->count) {
            numbers[i + 1] = radius * (double)sinf(angle);
        }
    }
}

static void fill_normal_1e8(const bench_block *block, double *numbers) {
    fill_normal(block, numbers);
    for (int64_t i = 0; i < block->count; ++i) {
        numbers[i] = 1e8 + rint(10.0 * numbers[i]);
    }
}

static void fill_cluster(const bench_block *block, double *numbers) {
    fill_uniform(block, numbers);
    for (int64_t i = 0; i < block->count; ++i) {
        numbers[i] = 0.6 + 0.1 * numbers[i];
    }
}

static void fill_narrow(const bench_block *block, double *numbers) {
    fill_uniform(block, numbers);
    for (int64_t i = 0; i < block->count; ++i) {
        numbers[i] = 1.0 + 1e-4 * numbers[i];
    }
}

/* By inversion of the continuous law on [1, 2^20], rounded down. */
static void fill_zipf(const bench_block *block, double *numbers) {
    const float tail = 0.75F; /* 1 - (2^20)^(1 - 1.1) */
    for (int64_t i = 0; i < block->count; ++i) {
        const float u = (float)bench_unit(bench_random(block->seed, block->first + i));
        numbers[i] = (double)floorf(powf(1.0F - tail * u, -10.0F));
    }
}

/* One or two entries of a row hold most of the mass; the others share the rest nearly equally. */
static void fill_softmax(const bench_block *block, double *numbers) {
    const int64_t n = block->point->n;
    for (int64_t i = 0; i < block->count; ++i) {
        const int64_t row = (block->first + i) / n;
        const int64_t column = (block->first + i) % n;
        const uint64_t of_row = bench_random(~block->seed, row);
        const double peaks = 0.8 + 0.1 * bench_unit(of_row);
        const int64_t first = (int64_t)(of_row % (uint64_t)n);
        const bool two = row % 2 != 0;
        if (column == first || (two && column == (first + n / 2) % n)) {
            numbers[i] = two ? peaks / 2 : peaks;
        } else {
            const double jitter = bench_unit(bench_random(block->seed, block->first + i)) - 0.5;
            numbers[i] = (1.0 - peaks) / (double)n * (1.0 + 1e-3 * jitter);
        }
    }
}

/* Steps of 1/16, moved up so that they are not cut off at 0 by unsigned types. */
static void fill_quantised(const bench_block *block, double *numbers) {
    fill_normal(block, numbers);
    for (int64_t i = 0; i < block->count; ++i) {
        numbers[i] = rint(16.0 * numbers[i]) / 16.0 + 8.0;
    }
}

static void fill_relu_quantised(const bench_block *block, double *numbers) {
    fill_normal(block, numbers);
    for (int64_t i = 0; i < block->count; ++i) {
        numbers[i] = numbers[i] > 0.0 ? rint(16.0 * numbers[i]) / 16.0 : 0.0;
    }
}

static void fill_tie_heavy(const bench_block *block, double *numbers) {
    for (int64_t i = 0; i < block->count; ++i) {
        numbers[i] = (double)(bench_random(block->seed, block->first + i) >> 60) / 16.0;
    }
}

/* About k/2 winners, and the k-th in a plateau that holds half of the elements. */
static void fill_pivot_tie(const bench_block *block, double *numbers) {
    const double winners = 0.5 * (double)block->point->k / (double)block->point->n;
    for (int64_t i = 0; i < block->count; ++i) {
        const double u = bench_unit(bench_random(block->seed, block->first + i));
        const double v = bench_unit(bench_random(~block->seed, block->first + i));
        numbers[i] = u < winners ? 0.5 + 0.5 * v : u < 0.5 ? 0.5 : 0.5 * v;
    }
}

static void fill_all_equal(const bench_block *block, double *numbers) {
    for (int64_t i = 0; i < block->count; ++i) {
        numbers[i] = 1.0;
    }
}

/* Neighbours that match, or do not, together. */
static void fill_runs(const bench_block *block, double *numbers) {
    for (int64_t i = 0; i < block->count; ++i) {
        numbers[i] = bench_unit(bench_random(~block->seed, (block->first + i) / BENCH_RUN));
    }
}

static void fill_random_bits(const bench_block *block, uint64_t *bits) {
    for (int64_t i = 0; i < block->count; ++i) {
        bits[i] = bench_random(block->seed, block->first + i);
    }
}

/* The upper `fixed` bits are those of a finite number (floats: just above 1), the others random. */
static void fill_prefix(const bench_block *block, uint64_t *bits, int fixed) {
    const int width = 8 * (int)topk_type_size(block->point->type);
    const uint64_t free_bits = (UINT64_C(1) << (width - fixed)) - 1;
    const uint64_t top = UINT64_C(0x3F8) << (width - 12);
    fill_random_bits(block, bits);
    for (int64_t i = 0; i < block->count; ++i) {
        bits[i] = (bits[i] & free_bits) | (top & ~free_bits);
    }
}

static void fill_prefix10(const bench_block *block, uint64_t *bits) {
    fill_prefix(block, bits, 10);
}

static void fill_prefix20(const bench_block *block, uint64_t *bits) {
    fill_prefix(block, bits, 20);
}

/* The adversary of selection by 8-bit digits: at each of the first three digits nearly all elements
 * share the bucket of the k-th largest, and every bucket below still has some. */
static void fill_cd(const bench_block *block, uint64_t *bits) {
    const topk_type type = block->point->type;
    /* The largest bucket of each digit; of a float, one of finite numbers. */
    const uint64_t target[3] = {type == TOPK_F32 ? 0xBF : 0xFF, 0xFF, 0xFF};
    for (int64_t i = 0; i < block->count; ++i) {
        const uint64_t r = bench_random(block->seed, block->first + i);
        uint64_t key = target[0] << 24 | target[1] << 16 | target[2] << 8 | (r & 0xFF);
        if ((r >> 32 & 0xFF) == 0) {
            const int level = (int)(r >> 40) % 3;
            const int shift = 24 - 8 * level;
            const uint64_t digit = 1 + (r >> 48) % (target[level] - 1);
            const uint64_t lower = (UINT64_C(1) << shift) - 1;
            key = (key & ~(lower | UINT64_C(0xFF) << shift)) | digit << shift | (r & lower);
        }
        const bool upper_half = key >> 31 != 0;
        bits[i] = type == TOPK_U32 ? key : type == TOPK_F32 && !upper_half ? ~key : key ^ 0x80000000;
    }
}

const struct bench_distribution bench_distributions[] = {
    {"uniform", "floats in (0, 1], integers over their whole range", fill_uniform, 0, 0, fill_random_bits, 8,
     64},
    {"normal", "mean 0, deviation 1", fill_normal, 0, 0, NULL, 0, 0},
    {"normal-1e8", "integers of mean 1e8, deviation 10", fill_normal_1e8, 1, 32, NULL, 0, 0},
    {"cd", "most elements share the bucket of the k-th at each digit", NULL, 0, 0, fill_cd, 32, 32},
    {"prefix10", "the first 10 bits are equal", NULL, 0, 0, fill_prefix10, 16, 64},
    {"prefix20", "the first 20 bits are equal", NULL, 0, 0, fill_prefix20, 32, 64},
    {"cluster", "uniform in [0.6, 0.7]", fill_cluster, 0, 0, NULL, 0, 0},
    {"narrow", "uniform in [1, 1.0001]", fill_narrow, 1e6, 32, NULL, 0, 0},
    {"zipf", "1 to 2^20 with exponent 1.1", fill_zipf, 1, 32, NULL, 0, 0},
    {"softmax", "one or two entries of a row hold 0.8 to 0.9", fill_softmax, 0, 0, NULL, 0, 0},
    {"quantised", "normal in steps of 1/16", fill_quantised, 16, 8, NULL, 0, 0},
    {"relu-quantised", "the same, negatives at 0", fill_relu_quantised, 16, 8, NULL, 0, 0},
    {"tie-heavy", "16 values", fill_tie_heavy, 16, 8, NULL, 0, 0},
    {"pivot-tie", "k/2 winners, then a plateau of half the elements", fill_pivot_tie, 100, 8, NULL, 0, 0},
    {"all-equal", "one value", fill_all_equal, 1, 8, NULL, 0, 0},
    {"runs", "runs of 4096 equal elements, uniform in (0, 1]", fill_runs, 0, 0, NULL, 0, 0},
};
const int bench_distribution_count = (int)(sizeof bench_distributions / sizeof *bench_distributions);

bool bench_distribution_in_bits(const struct bench_distribution *distribution, topk_type type) {
    return distribution->bits != NULL && !(distribution->numbers != NULL && bench_type_is_float(type));
}
