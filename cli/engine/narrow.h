/* SPDX-License-Identifier: Apache-2.0
 *
 * The k-th best of a row that is longer than a piece, by counting. A sample tells two classes between which
 * the k-th most likely lies. A pass over the row counts what is better, and lists what lies between. If there
 * was room for all of that, the k-th is found in the list; else the list is the sample for another pass. So
 * chance decides how many passes there are, but never what is found: most likely one for a row of up to some
 * GB, and two for a longer one. Several places are looked for side by side, in the same passes. */
#ifndef TOPK_CLI_NARROW_H
#define TOPK_CLI_NARROW_H

#include "classes.h"
#include "reader.h"

/* The class of the k-th best, how many elements are better, and how many are in it. */
struct place {
    uint64_t class;
    int64_t better, equal; /* equal = 0: there are fewer than k elements, and `better` says how many */
    char kth[8];           /* as topk_kth() writes it, unless equal is 0 */
};

/* places[i] of ks[i], for each k from 1 up, in the row that the reader is at. All share their passes. The
 * caller first tells the reader to expect one pass for this call, and its own later passes. */
void narrow_row(struct reader *reader, const struct options *options, const int64_t *ks, int count,
                struct place *places);

/* By a sample alone: a class that the k-th is most likely in, or not far above. False if many elements are in
 * it, or if more than `room` are most likely in it and above. */
bool narrow_guess(struct reader *reader, const struct options *options, int64_t k, int64_t room,
                  uint64_t *class);

#endif /* TOPK_CLI_NARROW_H */
