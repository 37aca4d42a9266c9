/* SPDX-License-Identifier: Apache-2.0
 *
 * Paired timing. Machines are shared and their memory's speed wanders, so that times taken minutes
 * apart cannot be compared. Rounds are timed instead: in each, one read, the subject, and what it is to
 * be compared with, one right after the other; and the figures are medians of the rounds' ratios. */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include "data/data.h"
#include "measure/statistics.h"
#include "read/read.h"

/* Something to be timed. False: it failed. */
typedef struct bench_timed {
    bool (*run)(void *state, const void *input);
    void *state;
} bench_timed;

typedef struct bench_pairing {
    const bench_data *data;
    const bench_reader *reader;
    bench_timed subject;
    bench_timed reference; /* run NULL: none */
    size_t written_bytes;  /* what the limit allows for on top of the read: these bytes, at the speed
                              of a copy by all threads; 0: nothing */
    int threads;
    int rounds;
} bench_pairing;

typedef struct bench_times {
    double read_s, limit_s, subject_s; /* medians */
    bench_quartiles to_limit;          /* of subject / limit, paired */
    double to_reference;               /* median of subject / reference, paired; 0 without one */
} bench_times;

/* False: a run failed, or memory ran out. */
bool bench_pairs(const bench_pairing *pairing, bench_times *times);

#endif /* BENCH_PAIRS_H */
