/* SPDX-License-Identifier: Apache-2.0
 *
 * A case made flesh: the problem, its inputs between guard pages and on the device, and, row by row, the
 * right answer. */
#ifndef TESTS_INSTANCE_H
#define TESTS_INSTANCE_H

#include "device.h"
#include "dimensions.h"
#include "guarded.h"
#include "oracle.h"
#include "topk_merge.h"
#include "topk_route.h"

typedef struct instance_row {
    oracle_row extent;
    oracle_entry *ranking;  /* all elements of the row, best first */
    oracle_entry *matching; /* those that meet the predicate, likewise */
    int64_t matches;        /* how many */
    bool *is_match;         /* for each position of the row */
} instance_row;

enum instance_buffer {
    BUFFER_VALUES,
    BUFFER_INDICES,
    BUFFER_EXTENTS, /* lengths, begins or offsets */
    BUFFER_ENDS,
    BUFFER_K,
    BUFFER_RANKS,
    BUFFER_MASK,
    BUFFER_THRESHOLD,
    BUFFER_LOGITS,
    BUFFER_BIAS,
    BUFFER_LIST_VALUES,
    BUFFER_LIST_INDICES,
    BUFFER_LIST_LENGTHS,
    BUFFER_LIST_K,
    BUFFER_LIST_PAYLOAD,
    BUFFER_BY_VALUES,
    BUFFER_BY_GROUPS,
    BUFFER_BY_INDICES,
    BUFFER_BY_K,
    INSTANCE_BUFFERS,
    COPIED_BOUNDS = INSTANCE_BUFFERS,
    COPIED_BUFFERS
};

typedef struct instance {
    const test_case *source;
    topk_problem problem;
    topk_problem approximate; /* the same with an approximation */
    topk_problem ranks;       /* the same with ranks, perhaps with another k_max */
    topk_problem route;       /* much the same as one of routing */
    topk_problem merge;       /* much the same as one of merging */
    topk_problem by;          /* much the same as one of groups */
    topk_input input;         /* for the oracle */
    topk_input merge_input;   /* likewise */
    topk_input by_input;      /* likewise */
    const void *ranks_k;      /* in place of input.k */
    topk_predicate predicate;
    topk_routing routing;
    topk_lists lists;
    const void *logits;
    topk_bound bounds[2]; /* what predicate.bounds may point to */
    int64_t elements;     /* in input.values */
    bool *matches;        /* of all rows, for each position */
    instance_row *rows;
    oracle_entry *entries; /* of all rankings, and behind them of those that match */
    int64_t entry_count;   /* of all rankings */
    guarded buffers[INSTANCE_BUFFERS];
    device_buffer copies[COPIED_BUFFERS]; /* of buffers and bounds, on the device */
} instance;

/* Rows are dropped until a case has about this many elements and result slots at most; 2^18 unless set. */
void instance_set_budget(int64_t elements);

/* The instance must stay where it is. */
void instance_build(const test_case *c, instance *out);
void instance_free(instance *i);

/* After the predicate was changed and the device reset: finds the matches anew, and sends all inputs to the
 * device again. */
void instance_match(instance *i);

/* What the library is given: pointers to the instance's own buffers lead to the device. */
topk_input instance_input(const instance *i);
topk_predicate instance_predicate(const instance *i);
const void *instance_ranks_k(const instance *i);
topk_routing instance_routing(const instance *i);
const void *instance_logits(const instance *i);
topk_lists instance_lists(const instance *i);
topk_input instance_merge_input(const instance *i);
topk_input instance_by_input(const instance *i);

/* After device_fetch(): whether all inputs and the red zones around them are as they were. */
bool instance_intact(const instance *i);

/* The payload of element e of input->values: no two elements of one input have the same. */
int64_t instance_payload(const topk_problem *problem, int64_t element);

/* Where by_input has indices element e has this minus e. */
enum { INSTANCE_BY_PAYLOAD = 77 };

/* A row's rank number `rank`, clamped. */
int64_t instance_rank(const instance *i, int64_t row, int64_t rank);

/* What is written as the index of a position in a row: payload, or position plus base. */
int64_t instance_index(const instance *i, const instance_row *row, int64_t position);

/* The inverse of instance_index(), or -1 if no position of the row has that index. */
int64_t instance_position(const instance *i, const instance_row *row, int64_t index);

/* Bytes of an index, and one read from an array of them. */
size_t instance_index_bytes(const topk_problem *problem);
int64_t instance_read_index(const topk_problem *problem, const void *indices, int64_t i);

#endif
