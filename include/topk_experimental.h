/* SPDX-License-Identifier: Apache-2.0
 *
 * Knobs of single methods, for benchmarks that reproduce the papers' ablations and for tuning.
 *
 * No promise of a stable ABI: this header must be that of the loaded library. A field that is left
 * undefined means "the library chooses". Only methods that have all the given fields, with these values,
 * are considered; if there is none, or a forced method is not one of them, that is
 * TOPK_ERROR_METHOD_CANNOT. CONTRACT.md, 10.2, lists the fields that methods have in this version. No
 * method has the others as yet, and none of the CPU has any. topk_workspace_size() honours the tuning.
 * But for epsilon and max_iterations, tuning never changes a result that the contract fixes. */
#ifndef TOPK_EXPERIMENTAL_H
#define TOPK_EXPERIMENTAL_H

#include "topk.h"

#define TOPK_TUNING_UNDEFINED (-1)

/* Which queue a queue-based method keeps its candidates in. */
typedef enum topk_queue {
    TOPK_QUEUE_UNDEFINED = -1,
    TOPK_QUEUE_REGISTERS = 0,
    TOPK_QUEUE_SHARED = 1
} topk_queue;

typedef struct topk_tuning {
    size_t size;            /* sizeof(topk_tuning) */
    int digit_bits;         /* bits of a radix digit */
    int64_t alpha;          /* candidates are buffered when fewer than n / alpha remain; 4 or more */
    int adaptive_buffering; /* 0: always buffer candidates; 1: as alpha says */
    int early_stop;         /* 0: run all passes; 1: stop when the remaining k are all candidates */
    int scaling;            /* 1: subtract a drawn element to spread clustered floats over the digits */
    int write_buffer;       /* 1: gather results in shared memory and write them together */
    int rescheduling;       /* 1: stack the later iterations of all rows of a batch */
    int padding;            /* 1: read rows from the aligned address to their left */
    int beta;               /* delegates of a subrange */
    int subrange_exponent;  /* a: subranges have 2^a elements */
    int delegate_filter;    /* 1: drop elements below the k-th delegate from taken subranges */
    topk_queue queue;       /* kind of queue */
    double epsilon;         /* rtopk: relative precision of the threshold; approximate. < 0: undefined */
    int max_iterations;     /* rtopk: search steps at most; approximate */
    int fused_filter;       /* 1: the last block of the last digit's pass filters the rest by itself */
    int one_pass;           /* compact: 1: one pass; 0: three phases, as published (rows without gaps) */
} topk_tuning;

#define TOPK_TUNING_INIT                                                                                     \
    {                                                                                                        \
        sizeof(topk_tuning), TOPK_TUNING_UNDEFINED, TOPK_TUNING_UNDEFINED, TOPK_TUNING_UNDEFINED,            \
            TOPK_TUNING_UNDEFINED, TOPK_TUNING_UNDEFINED, TOPK_TUNING_UNDEFINED, TOPK_TUNING_UNDEFINED,      \
            TOPK_TUNING_UNDEFINED, TOPK_TUNING_UNDEFINED, TOPK_TUNING_UNDEFINED, TOPK_TUNING_UNDEFINED,      \
            TOPK_QUEUE_UNDEFINED, -1.0, TOPK_TUNING_UNDEFINED, TOPK_TUNING_UNDEFINED, TOPK_TUNING_UNDEFINED  \
    }

#endif /* TOPK_EXPERIMENTAL_H */
