/* SPDX-License-Identifier: Apache-2.0
 *
 * Paired timing. Machines are shared and their memory's speed wanders, so that times taken minutes
 * apart cannot be compared. Rounds are timed instead: in each, one read, the subject, and what it is to
 * be compared with, one right after the other; and the figures are medians of the rounds' ratios. */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include "data/data.h"
#include "measure/device.h"
#include "read/read.h"

typedef struct bench_pairing {
    const bench_data *data;
    const bench_reader *reader;
    bench_work subject;
    const bench_reference *reference; /* NULL: none */
    size_t written_bytes; /* what the limit allows for on top of the read: these bytes, at the speed
                             of a copy by all threads; 0: nothing */
    int threads;
} bench_pairing;

/* Fills in the times of the result, from as many rounds as it has runs. False: a run failed, or memory ran
 * out. */
bool bench_pairs(const bench_pairing *pairing, bench_result *result);

#endif /* BENCH_PAIRS_H */
