/* SPDX-License-Identifier: Apache-2.0
 * What a radix selection knows of a row, and how it goes on. */
#ifndef TOPK_SRC_CUDA_SELECT_RANGE_H
#define TOPK_SRC_CUDA_SELECT_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* The k-th code lies in [low, high]. Elements above are winners; of the candidates, those in between, the
 * best `need` are results. */
struct kth_range {
    uint64_t low, high;
    uint64_t need, candidates;
};

/* A digit of codes. */
struct digit {
    uint32_t shift, mask;
};

/* Digits have `bits` bits, the last one perhaps fewer. They are looked at from the highest on, until all are
 * known; with early_stop, until all candidates are results. */
struct digit_plan {
    uint32_t bits;
    bool early_stop;
};

#endif
