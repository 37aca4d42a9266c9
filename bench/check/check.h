/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a result is right, found out by code that shares nothing with the library, on the host and on a GPU
 * alike (passes.hpp). The results name a threshold, the worst key among them; the input is then counted. The
 * results of a row are right if and only if there are k of them, no element comes twice, each is what its
 * index says, they hold as many elements above the threshold as the row does, and the row has at least k at
 * or above it. With ties by lowest index, also: the row has no more elements equal to the threshold up to the
 * last tie taken than were taken. Values without indices must have the hashes of the row's elements above the
 * threshold. With a predicate all this is about the elements that match, and no result may be another. So it
 * is with an approximation, where the elements that the model of the tests chooses match.
 *
 * where: all matches are counted once more, and each result is looked at. The i-th must be the i-th match;
 * where no order is promised, there must be as many distinct matches as there are. Likewise each count, and
 * each bit of a mask. */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "points/outputs.h"
#include "points/point.h"

BENCH_C_BEGIN

/* How to tell whether an element matches. By its position: the values then say nothing about it, and the best
 * of all elements are not the best of the matches. */
typedef enum bench_rule { BENCH_ABOVE_BOUND, BENCH_UP_TO_BOUND, BENCH_BY_POSITION } bench_rule;

/* What is known of a point with a predicate, of an approximate one, or of one whose rows differ in length,
 * before it is run. */
typedef struct bench_truth {
    bench_rule rule;
    topk_bound bound; /* of the type that suits the elements */
    uint64_t key;     /* of the bound as an element */
    bool all_above;   /* integers above -infinity: no key stands for the bound */
    int keep_percent; /* by position: of all positions, picked at random */
    int64_t matches;
    const unsigned char *chosen; /* a bit for each element: the results of an approximate point; else NULL */
    const int64_t *offsets;      /* where each row begins and the last one ends; NULL: each has n elements */
} bench_truth;

/* Chooses the bound of a point from a sample of its input, and counts the matches. False: out of memory. */
bool bench_truth_find(bench_truth *truth, const bench_point *point, const void *input);

/* True if the outputs are right; else `reason` gets a sentence. An output that is NULL is not looked at.
 * `mask` is NULL, or the mask that the call read. */
bool bench_check(const bench_truth *truth, const bench_point *point, const void *input, const void *mask,
                 const bench_outputs *outputs, char *reason, size_t reason_bytes);

/* What came of a point. */
typedef struct bench_verdict {
    bool correct, timed;
    char reason[192];
} bench_verdict;

/* Runs a point, with a result that is spoilt before it is checked unless `spoil` is NULL. */
typedef void bench_trial_run(void *state, const bench_point *point, bench_spoil *spoil, bench_verdict *seen);

/* A test of the checks: results are spoilt, one way after another, before they are checked. `device` is "cpu"
 * or "cuda". True if every right result passed, and every wrong one was rejected without a time; tells on
 * stdout. */
bool bench_self_test(const char *device, bench_trial_run *run, void *state);

BENCH_C_END

#endif /* BENCH_CHECK_H */
