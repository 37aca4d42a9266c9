/* SPDX-License-Identifier: Apache-2.0
 *
 * The k best of a row that arrives in chunks. */
#ifndef TOPK_CLI_STREAM_H
#define TOPK_CLI_STREAM_H

#include "session.h"

struct stream {
    struct session *session;
    topk_problem problem; /* of the accumulator, which is on the host */
    void *state;
    size_t state_bytes;

    /* With a GPU or a predicate the accumulator gets the best of each chunk, with their positions as payload.
     */
    const topk_predicate *predicate;
    topk_problem chunk;
    void *values;
    int64_t *indices;
};

/* Allocates a stream for chunks of up to problem->length_max elements, and begins it. With a predicate, which
 * must outlive the stream, only elements that meet it count; else it is NULL. */
void stream_begin(struct stream *stream, struct session *session, const topk_problem *problem,
                  const topk_predicate *predicate);

/* Begins again with no elements. */
void stream_reset(struct stream *stream);

/* Adds the elements from position `base` on; chunks come in order. */
void stream_push(struct stream *stream, const void *elements, int64_t length, int64_t base);

void stream_peek(struct stream *stream, void *values, int64_t *indices);
void stream_end(struct stream *stream);

#endif /* TOPK_CLI_STREAM_H */
