/* SPDX-License-Identifier: Apache-2.0
 *
 * Laws of random data: element i follows from a recipe and i alone, so any thread of a host or a GPU can make
 * it. */
#ifndef TESTS_LAWS_H
#define TESTS_LAWS_H

#include "encode.h"
#include "random.h"

typedef enum law {
    LAW_NONE,
    /* Numbers. */
    LAW_ONE,         /* 1 */
    LAW_UNIFORM,     /* in (0, 1] */
    LAW_NORMAL,      /* of mean 0 and deviation 1 */
    LAW_NORMAL_1E8,  /* whole numbers of mean 1e8 and deviation 10 */
    LAW_CLUSTER,     /* uniform in [0.6, 0.7] */
    LAW_CLUSTER_128, /* uniform in [128.6, 128.7] */
    LAW_OUTLIER,     /* normal, but for 1e30 somewhere in each row */
    LAW_SORTED,      /* the positions in each row, as parts of its length: ascending up to 1 */
    LAW_NARROW,      /* uniform in [1, 1.0001] */
    LAW_ZIPF,        /* whole numbers from 1 to 2^20 with exponent 1.1: many small, few large */
    LAW_ZIPF_N,      /* the same from 1 to the length of a row */
    LAW_SOFTMAX,   /* one or two entries of a row hold 0.8 to 0.9, the others share the rest nearly equally */
    LAW_QUANTISED, /* normal in steps of 1/16, moved up so that unsigned types do not cut them off at 0 */
    LAW_RELU,      /* normal in steps of 1/16, negative ones at 0 */
    LAW_SIXTEEN,   /* sixteen numbers from 0 to 15/16 */
    LAW_PIVOT_TIE, /* about k/2 winners, and the k-th in a plateau of half the elements */
    LAW_RUNS,      /* uniform, each number LAW_RUN times */
    LAW_DEGREES,   /* whole numbers, at least d with probability d^-1.4: of mean 3.1 */
    LAW_SCORES,    /* normal of mean 0.45 and deviation 0.12, in thousandths from 0 to 1 */
    /* Bit patterns. */
    LAW_BITS,       /* all of them */
    LAW_FIRST_BITS, /* the first are equal */
    LAW_DIGITS      /* at each digit of 8 bits most share the bucket of the k-th */
} law;

enum { LAW_RUN = 4096 };

typedef struct recipe {
    enum law law;
    topk_type type;
    uint64_t seed;
    int64_t n, k;   /* elements and results of a row */
    double scale;   /* of numbers */
    int first_bits; /* how many are equal */
} recipe;

/* Box and Muller: two numbers out of two. */
static inline EVERYWHERE double law_normal(const recipe *r, int64_t i) {
    const double radius = sqrt(-2.0 * log(random_unit_at(r->seed, i & ~INT64_C(1))));
    const float angle = (float)(6.283185307179586 * random_unit_at(r->seed, i | 1));
    return radius * (double)(i & 1 ? sinf(angle) : cosf(angle));
}

static inline EVERYWHERE double law_softmax(const recipe *r, int64_t i) {
    const int64_t row = i / r->n, position = i % r->n;
    const uint64_t of_row = random_at(~r->seed, row);
    const double peaks = 0.8 + 0.1 * ((double)((of_row >> 11) + 1) * 0x1p-53);
    const int64_t first = (int64_t)(of_row % (uint64_t)r->n);
    const bool two = row % 2 != 0;
    if (position == first || (two && position == (first + r->n / 2) % r->n)) {
        return two ? peaks / 2 : peaks;
    }
    return (1.0 - peaks) / (double)r->n * (1.0 + 1e-3 * (random_unit_at(r->seed, i) - 0.5));
}

static inline EVERYWHERE double law_pivot_tie(const recipe *r, int64_t i) {
    const double winners = 0.5 * (double)r->k / (double)r->n;
    const double u = random_unit_at(r->seed, i), v = random_unit_at(~r->seed, i);
    return u < winners ? 0.5 + 0.5 * v : u < 0.5 ? 0.5 : 0.5 * v;
}

/* The integral of x^-1.1 from 1 on. */
static inline EVERYWHERE double law_zipf_area(double x) {
    return 10.0 * (1.0 - pow(x, -0.1));
}

/* Rejection-inversion of Hoermann and Derflinger: the area below x^-1.1 is inverted, and the nearest whole
 * number is taken if its bar, of width 1, covers the draw. Up to `sure` above x it always does: 2 less the x
 * at the edge of the bar of 2. The area begins where the bar of 1 does: at that up to 1.5, less 1. */
static inline EVERYWHERE double law_zipf_n(const recipe *r, int64_t i) {
    const double least = -0.6026450079221803, sure = 0.48161156220106704, n = (double)r->n;
    const double most = law_zipf_area(n + 0.5);
    for (uint64_t draw = 0;; ++draw) {
        const double u = random_unit_at(r->seed + draw * UINT64_C(0xd1342543de82ef95), i);
        const double area = most + u * (least - most), root = 1.0 / (1.0 - 0.1 * area);
        const double fifth = root * root * root * root * root, x = fifth * fifth;
        const double nearest = fmin(fmax(floor(x + 0.5), 1.0), n);
        if (nearest - x <= sure || area >= law_zipf_area(nearest + 0.5) - pow(nearest, -1.1)) {
            return nearest;
        }
    }
}

static inline EVERYWHERE double law_number(const recipe *r, int64_t i) {
    switch (r->law) {
    case LAW_UNIFORM:
        return random_unit_at(r->seed, i);
    case LAW_NORMAL:
        return law_normal(r, i);
    case LAW_NORMAL_1E8:
        return 1e8 + rint(10.0 * law_normal(r, i));
    case LAW_CLUSTER:
        return 0.6 + 0.1 * random_unit_at(r->seed, i);
    case LAW_CLUSTER_128:
        return 128.6 + 0.1 * random_unit_at(r->seed, i);
    case LAW_OUTLIER:
        return i % r->n == (int64_t)(random_at(~r->seed, i / r->n) % (uint64_t)r->n) ? 1e30
                                                                                     : law_normal(r, i);
    case LAW_SORTED:
        return (double)(i % r->n + 1) / (double)r->n;
    case LAW_NARROW:
        return 1.0 + 1e-4 * random_unit_at(r->seed, i);
    case LAW_ZIPF: /* by inversion of the continuous law, rounded down; 0.75 is 1 - (2^20)^(1 - 1.1) */
        return (double)floorf(powf(1.0F - 0.75F * (float)random_unit_at(r->seed, i), -10.0F));
    case LAW_ZIPF_N:
        return law_zipf_n(r, i);
    case LAW_SOFTMAX:
        return law_softmax(r, i);
    case LAW_QUANTISED:
        return rint(16.0 * law_normal(r, i)) / 16.0 + 8.0;
    case LAW_RELU:
        return law_normal(r, i) > 0.0 ? rint(16.0 * law_normal(r, i)) / 16.0 : 0.0;
    case LAW_SIXTEEN:
        return (double)(random_at(r->seed, i) >> 60) / 16.0;
    case LAW_PIVOT_TIE:
        return law_pivot_tie(r, i);
    case LAW_RUNS:
        return random_unit_at(~r->seed, i / LAW_RUN);
    case LAW_DEGREES:
        return floor(pow(random_unit_at(r->seed, i), -1 / 1.4));
    case LAW_SCORES:
        return rint(1000 * fmin(fmax(0.45 + 0.12 * law_normal(r, i), 0.0), 1.0)) / 1000;
    default:
        return 1.0;
    }
}

/* The first bits make a finite number; of floats one just above 1. */
static inline EVERYWHERE uint64_t law_first_bits(const recipe *r, int64_t i) {
    const int bits = element_format_of(r->type).bits;
    const uint64_t free_bits = (UINT64_C(1) << (bits - r->first_bits)) - 1;
    const uint64_t first = bits < 12 ? UINT64_C(0x3f8) >> (12 - bits) : UINT64_C(0x3f8) << (bits - 12);
    return (random_at(r->seed, i) & free_bits) | (first & ~free_bits);
}

/* The adversary of selection by 8-bit digits: at each of the first three digits nearly all elements share the
 * bucket of the k-th largest, and every bucket below still has some. Of floats the largest are finite. */
static inline EVERYWHERE uint64_t law_digits(const recipe *r, int64_t i) {
    const uint64_t highest = r->type == TOPK_F32 ? 0xbf : 0xff;
    const uint64_t draw = random_at(r->seed, i);
    uint64_t key = highest << 24 | 0xffff00 | (draw & 0xff);
    if ((draw >> 32 & 0xff) == 0) {
        const int level = (int)(draw >> 40) % 3;
        const int shift = 24 - 8 * level;
        const uint64_t digit = 1 + (draw >> 48) % ((level == 0 ? highest : 0xff) - 1);
        const uint64_t lower = (UINT64_C(1) << shift) - 1;
        key = (key & ~(lower | UINT64_C(0xff) << shift)) | digit << shift | (draw & lower);
    }
    const bool upper_half = key >> 31 != 0;
    return r->type == TOPK_U32 ? key : r->type == TOPK_F32 && !upper_half ? ~key : key ^ 0x80000000;
}

/* Element i, in the low bits. */
static inline EVERYWHERE uint64_t law_element(const recipe *r, int64_t i) {
    switch (r->law) {
    case LAW_BITS:
        return random_at(r->seed, i);
    case LAW_FIRST_BITS:
        return law_first_bits(r, i);
    case LAW_DIGITS:
        return law_digits(r, i);
    default:
        return element_encode(r->type, r->scale * law_number(r, i));
    }
}

#endif
