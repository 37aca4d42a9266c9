/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's accumulator of one row, with its state in the memory of the session's device. Elements and
 * results are the host's. On a GPU nothing waits between the first push and the results, but for a slot to
 * become free. */
#ifndef TOPK_CLI_ACCUMULATOR_H
#define TOPK_CLI_ACCUMULATOR_H

#include "session.h"
#include "slots.h"

struct accumulator {
    struct session *session;
    topk_problem problem; /* length_max: of one push of the library */
    void *state;          /* NULL: it never began */
    size_t state_bytes;
    struct slots slots; /* on a GPU */
};

/* Chooses the session that has the state: the given one, or the host's if `on_host`, or where the GPU has no
 * accumulators or no memory for this one. Ends the tool if the method of the problem serves no chunk:
 * `operation` says what is done with one. Takes no memory yet. */
void accumulator_make(struct accumulator *accumulator, struct session *session, topk_operation operation,
                      const topk_problem *problem, bool on_host);

/* Whether the state is on a GPU. */
bool accumulator_on_device(const struct accumulator *accumulator);

/* Begins, or begins again, with no elements. */
void accumulator_begin(struct accumulator *accumulator);

/* Adds the elements from position `base` on that meet the predicate, all if it is NULL. They may be reused at
 * once. */
void accumulator_push(struct accumulator *accumulator, const topk_predicate *predicate, const void *elements,
                      int64_t length, int64_t base);

/* Writes problem.k_max slots: the best, and padding. Either output may be NULL. If this `ends`, only
 * accumulator_begin() may follow. */
void accumulator_write(struct accumulator *accumulator, bool ends, void *values, int64_t *indices);

void accumulator_end(struct accumulator *accumulator);

#endif /* TOPK_CLI_ACCUMULATOR_H */
