/* SPDX-License-Identifier: Apache-2.0
 *
 * The k best of a row that arrives in chunks. What it takes on the host grows with what arrives, up to k
 * elements: the first k elements are kept as they come, and an accumulator begins with one more. On a GPU it
 * begins at once, and the host has room for all results; so where k may be far more than what arrives, the
 * stream stays on the host. */
#ifndef TOPK_CLI_STREAM_H
#define TOPK_CLI_STREAM_H

#include "accumulator.h"

/* Elements, and their positions. */
struct elements {
    void *values;
    int64_t *indices;
    int64_t room;
};

struct stream {
    struct session *session;
    struct accumulator accumulator;
    const topk_predicate *predicate;
    int64_t found; /* results so far: k at most. With an accumulator and a predicate, no more than that */

    struct elements first; /* all elements that were found, until there are more than k */
    bool accumulates;      /* the accumulator has begun */
};

#define STREAM_ENDLESS INT64_MAX

/* Begins a stream of up to `row` elements, or STREAM_ENDLESS, in chunks of up to problem->length_max. With a
 * predicate, which must outlive the stream, only elements that meet it count; else it is NULL. */
void stream_begin(struct stream *stream, struct session *session, const topk_problem *problem,
                  const topk_predicate *predicate, int64_t row);

/* Begins again with no elements. */
void stream_reset(struct stream *stream);

/* Adds the elements from position `base` on, 0 for the first; chunks come in order, and may leave gaps. */
void stream_push(struct stream *stream, const void *elements, int64_t length, int64_t base);

/* How many slots the next two write: the results, and what padding there is behind them; k at most. */
int64_t stream_slots(const struct stream *stream);

/* Writes the best so far. Values or indices may be NULL. */
void stream_peek(struct stream *stream, void *values, int64_t *indices);

/* The same. Only stream_reset() may follow. */
void stream_finish(struct stream *stream, void *values, int64_t *indices);

void stream_end(struct stream *stream);

#endif /* TOPK_CLI_STREAM_H */
