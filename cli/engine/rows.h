/* SPDX-License-Identifier: Apache-2.0
 *
 * Selections from whole rows, piece by piece. On a GPU pieces are copied there while it selects from
 * earlier ones, so results come DEVICE_SLOTS - 1 pieces later. */
#ifndef TOPK_CLI_ROWS_H
#define TOPK_CLI_ROWS_H

#include "session.h"
#include "slots.h"

struct rows {
    struct session *session;
    const topk_predicate *predicate;
    int64_t k; /* slots of a row */
    bool wants_values, wants_indices;

    /* Pieces that were pushed, and how many of these were taken. */
    int64_t pushed, taken;
    struct rows_piece {
        topk_problem problem;
        const void *elements; /* on the host */
        int64_t row;
    } pieces[DEVICE_SLOTS];

    /* On a GPU. Results of a piece are its indices, then its values. */
    struct slots slots;
    void *device_results[DEVICE_SLOTS];
    void *pinned_results[DEVICE_SLOTS];
};

/* Bytes that a piece may have, of at most `bytes`. */
int64_t rows_piece_bytes(const struct session *session, int64_t bytes);

/* Whether the results of a row are not too large to be kept for each slot. */
bool rows_serve(const struct session *session, topk_type type, int64_t k);

/* For pieces of up to `problem`, whose k is no more than their rows have elements, and whose elements span
 * `elements_max` elements. A predicate must outlive the selections; else it is NULL. */
void rows_begin(struct rows *rows, struct session *session, const topk_problem *problem, int64_t elements_max,
                const topk_predicate *predicate, bool wants_values, bool wants_indices);

/* Adds a piece, from row `row` on. rows_take() must follow, until it returns false. */
void rows_push(struct rows *rows, const topk_problem *problem, const void *elements, int64_t row);

/* Takes the results of the earliest piece that is left, of rows [*row, *row + *count), k slots each. NULL for
 * what is not wanted. False: no piece is left, or, unless the `last` piece was pushed, the GPU may still be
 * at work on it. */
bool rows_take(struct rows *rows, bool last, void *values, int64_t *indices, int64_t *row, int64_t *count);

void rows_end(struct rows *rows);

#endif /* TOPK_CLI_ROWS_H */
