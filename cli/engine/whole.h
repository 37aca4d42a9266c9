/* SPDX-License-Identifier: Apache-2.0
 *
 * Long rows of a file that a GPU's memory holds as a whole: each goes there through slots, and one call
 * serves it. */
#ifndef TOPK_CLI_WHOLE_H
#define TOPK_CLI_WHOLE_H

#include "../output/progress.h"
#include "session.h"
#include "slots.h"

struct whole {
    struct session *session;
    topk_problem problem; /* of one row */
    struct slots slots;
    char *elements; /* on the GPU */
};

/* Whether the session is a GPU's which has room for the row, its results and what the call needs. */
bool whole_serves(const struct session *session, topk_operation operation, const topk_problem *problem);

void whole_begin(struct whole *whole, struct session *session, const topk_problem *problem);

/* As topk_kth() for the row whose elements are given, in the input's mapping. */
void whole_kth(struct whole *whole, const void *elements, struct progress *progress, void *kth,
               int64_t *better, int64_t *equal);

/* As topk_select(), or topk_select_where() if there is a predicate. Either output may be NULL. */
void whole_select(struct whole *whole, const void *elements, struct progress *progress,
                  const topk_predicate *predicate, void *values, int64_t *indices);

void whole_end(struct whole *whole);

#endif /* TOPK_CLI_WHOLE_H */
