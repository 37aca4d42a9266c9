/* SPDX-License-Identifier: Apache-2.0
 *
 * What `topk kth` answers: for each place that the command line asks for, a line of each row. A place needs
 * one element or, where a quantile lies between two, both. Each of these is a rank, which has a slot in each
 * row. */
#ifndef TOPK_CLI_ANSWERS_H
#define TOPK_CLI_ANSWERS_H

#include "../engine/outliers.h"
#include "../options/options.h"
#include "../output/report.h"

struct answers {
    const struct options *options;
    topk_type type;
    struct place_pair *pairs; /* of the places asked for, among the elements at hand */
    int *firsts;              /* the rank of a pair's first element; its second one's is the next */
    int64_t *ranks;           /* k of each */
    int count;                /* of ranks */
    char *kth;                /* a row's ranks lie side by side, as topk_kth() writes them */
    int64_t *better;
    int64_t *equal;
};

/* Where topk_kth() writes. */
struct answer {
    void *kth;
    int64_t *better;
    int64_t *equal;
};

/* For places of elements of `type`, in up to `rows` rows at a time. */
void answers_begin(struct answers *answers, const struct options *options, topk_type type, int64_t rows);

/* How many ranks a row has at most. */
int answers_ranks_max(const struct options *options);

/* Finds the places among `length` elements of row `row`, or of a vector if that is -1. Ends the tool if there
 * is no such place, and no padding is wanted. */
void answers_place(struct answers *answers, int64_t length, int64_t row);

/* The slot of a rank in a row, from 0. */
struct answer answers_at(const struct answers *answers, int rank, int64_t row);

/* Prints the answers for row `at` of the slots, which is row `row` of the input. Of text, outliers are
 * considered. */
void answers_print(struct answers *answers, struct report *report, int64_t at, int64_t row,
                   struct outliers *outliers);

void answers_end(struct answers *answers);

#endif /* TOPK_CLI_ANSWERS_H */
