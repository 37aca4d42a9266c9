/* SPDX-License-Identifier: Apache-2.0
 *
 * The library as the tool uses it: a context, a workspace that grows as needed, positions in int64, and
 * the end of the tool at any error. */
#ifndef TOPK_CLI_SESSION_H
#define TOPK_CLI_SESSION_H

#include "../options/options.h"
#include "topk.h"

struct session {
    topk_context *context;
    void *workspace;
    size_t workspace_bytes;
};

void session_begin(struct session *session, const struct options *options);
void session_end(struct session *session);

/* A problem of the options' ranking with the given size. */
topk_problem session_problem(const struct options *options, topk_type type, int64_t rows, int64_t length,
                             int64_t k);

void session_select(struct session *session, const topk_problem *problem, const void *elements, void *values,
                    int64_t *indices);

void session_kth(struct session *session, const topk_problem *problem, const void *elements, void *kth,
                 int64_t *better, int64_t *equal);

void session_where(struct session *session, const topk_problem *problem, const void *elements,
                   const topk_predicate *predicate, void *values, int64_t *indices, int64_t capacity,
                   int64_t *offsets);

/* The k best of a row that arrives in chunks. */
struct stream {
    struct session *session;
    topk_problem problem;
    void *state;
    size_t state_bytes;
};

/* Allocates a stream for chunks of up to problem->length_max elements, and begins it. */
void stream_begin(struct stream *stream, struct session *session, const topk_problem *problem);

/* Begins again with no elements. */
void stream_reset(struct stream *stream);

void stream_push(struct stream *stream, const void *elements, int64_t length, int64_t base);
void stream_peek(struct stream *stream, void *values, int64_t *indices);
void stream_end(struct stream *stream);

#endif /* TOPK_CLI_SESSION_H */
