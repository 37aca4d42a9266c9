/* SPDX-License-Identifier: Apache-2.0
 *
 * The k best of a row that arrives in chunks. What it takes grows with what arrives, up to k elements and the
 * largest chunk: the first k elements are kept as they come, and an accumulator begins with one more. */
#ifndef TOPK_CLI_STREAM_H
#define TOPK_CLI_STREAM_H

#include "session.h"

/* Elements, and their positions where these are not their places. */
struct elements {
    void *values;
    int64_t *indices;
    int64_t room;
};

struct stream {
    struct session *session;
    topk_problem problem; /* of the accumulator, which is on the host */
    int64_t found;        /* elements that the stream holds: k at most */

    struct elements first; /* all elements that were found, until there are more than k */
    bool accumulates;      /* there are */
    void *state;
    size_t state_bytes;

    /* With a GPU or a predicate the stream gets the best of each chunk, with their positions as payload. */
    const topk_predicate *predicate;
    topk_problem chunk;
    struct elements best;
};

/* Begins a stream for chunks of up to problem->length_max elements. With a predicate, which must outlive the
 * stream, only elements that meet it count; else it is NULL. */
void stream_begin(struct stream *stream, struct session *session, const topk_problem *problem,
                  const topk_predicate *predicate);

/* Begins again with no elements. */
void stream_reset(struct stream *stream);

/* Adds the elements from position `base` on, 0 for the first; chunks come in order. */
void stream_push(struct stream *stream, const void *elements, int64_t length, int64_t base);

/* Writes the stream->found best, without padding. Values or indices may be NULL. */
void stream_peek(struct stream *stream, void *values, int64_t *indices);

void stream_end(struct stream *stream);

#endif /* TOPK_CLI_STREAM_H */
