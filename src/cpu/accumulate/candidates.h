/* SPDX-License-Identifier: Apache-2.0
 * What an accumulator keeps of its streams: candidates, which may be among the k best of their row. A row has
 * room for twice k_max of them, in whatever order they come. When it is full, its k best stay, and from then
 * on it takes only what ranks before the last one of these. So the cost of a candidate does not grow with k:
 * at least k_max of them come between two selections from a full row. */
#ifndef TOPK_SRC_CPU_ACCUMULATE_CANDIDATES_H
#define TOPK_SRC_CPU_ACCUMULATE_CANDIDATES_H

#include "../../accumulator.h"

struct candidate_row {
    int64_t count;
    int64_t k;            /* results: k_max, or the least k that was asked for */
    uint64_t bar_key;     /* with has_bar: a candidate has a higher key, or this one and no higher */
    int64_t bar_position; /*   position; unless it came before the bar was raised */
    bool has_bar;
    bool ascends; /* positions, from candidate to candidate */
};

struct candidates {
    const topk_context *context;
    const struct plan *plan; /* of the streams */
    size_t room;             /* of a row */
    struct candidate_row *rows;
    char *values;
    int64_t *positions; /* in the stream, without index_base */
    char *payload;
    int64_t *lengths, *ks; /* of the rows of a selection */
    void *scratch;         /* for one selection at a time */
    /* Selections from rows of candidates: the k-th, the k best, and all of them by position. */
    const struct subcall *kth, *best, *sorted;
};

/* Candidates that arrive in a row: their positions are base + places[i], or base + i. */
struct arrivals {
    const char *values;
    const int64_t *places;
    int64_t base;
    const char *payload;       /* or NULL */
    const int64_t *payload_at; /* arrival i has this one; NULL: the i-th */
};

/* Chooses the selections of the accumulator. */
topk_status topk_candidates_choose(struct accumulator *a);

/* Once they are chosen. The accumulator must outlive what is returned. */
struct candidates topk_candidates_of(const struct accumulator *a);

/* Takes all arrays but the scratch. */
void topk_candidates_take(struct candidates *c, struct arena *arena);

/* Bytes of scratch that the functions below need. */
size_t topk_candidates_scratch_bytes(const struct candidates *c);

void topk_candidates_clear(const struct candidates *c);

/* Makes room for `count` more candidates in each row, k_max at most. */
void topk_candidates_make_room(const struct candidates *c, int64_t count);

/* For which there is room. */
void topk_candidates_append(const struct candidates *c, int64_t row, const struct arrivals *arrivals,
                            int64_t count);

/* The bar of each row: either output may be NULL. */
void topk_candidates_bar(const struct candidates *c, void *values, int64_t *positions);

/* Raises the bars that are behind these; a negative position raises nothing. */
void topk_candidates_raise(const struct candidates *c, const void *values, const int64_t *positions);

/* Leaves the k best of each row, by position. */
void topk_candidates_settle(const struct candidates *c);

/* The candidates as bytes, once they are settled. */
void topk_candidates_export(const struct candidates *c, uint64_t payload, void *bytes);

/* Checks bytes that may say anything. */
topk_status topk_candidates_check(const struct plan *plan, const void *bytes, size_t size);

/* The candidates of bytes that were found right. Returns their payload. */
uint64_t topk_candidates_import(const struct candidates *c, const void *bytes);

/* Writes the k best of each row, and padding; either output may be NULL. Candidates may come to lie in
 * another order, and stay the same. */
void topk_candidates_write(const struct candidates *c, bool has_payload, void *values, void *indices);

#endif
