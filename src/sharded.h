/* SPDX-License-Identifier: Apache-2.0
 * The k-th element of rows in shards: what is the same on every backend, and what each backend does in its
 * own way.
 *
 * A round looks at one digit of the keys, the upper digits first. The interval of a row is all keys whose
 * upper digits are the k-th key's; it begins with all keys, and ends with one. */
#ifndef TOPK_SRC_SHARDED_H
#define TOPK_SRC_SHARDED_H

#include "context.h"
#include "sharded_row.h"
#include "topk_sharded.h"

enum {
#ifdef TOPK_SHRINK
    SHARDED_KEPT_LEAST = 24,
#else
    SHARDED_KEPT_LEAST = 1024,
#endif
    /* A state keeps up to a seventh of its shard: that eighth, and some more. */
    SHARDED_KEPT_SHARE = 7,
};

/* A state of a problem. `memory` is the caller's, and of the context's device. */
struct sharded {
    const topk_context *context;
    struct plan plan;
    uint64_t problem; /* fingerprint of what calls on one state must have in common */
    unsigned digit_bits;
    int rounds;
    int64_t bins;     /* of a row */
    int64_t capacity; /* keys that the state keeps of each row */
    size_t bytes;     /* of the state: the backend measures them */
    void *memory;
    topk_stream stream;
    /* Of a count or a selection: what it reads, which of the shard's parts that is, and the longest row that
     * it may read. Of a selection part.problem.k_max is the pitch of the outputs. */
    struct plan part;
    int64_t part_number, longest;
};

/* The digits where a backend has no reason for others. */
static inline unsigned sharded_digit_bits(const struct plan *plan) {
    return plan->element_bits <= 16 ? SHARDED_DIGIT_NARROW : SHARDED_DIGIT_WIDE;
}

/* The digit that a round looks at: (key - low) >> shift, below 2^bits. */
struct sharded_digit {
    unsigned shift, bits;
};

static inline struct sharded_digit sharded_digit_of(const struct sharded *s, int round) {
    const unsigned known = (unsigned)round * s->digit_bits, left = s->plan.element_bits - known;
    const unsigned bits = left < s->digit_bits ? left : s->digit_bits;
    return (struct sharded_digit){left - bits, bits};
}

/* What a backend does, all of it on s->memory. */
struct sharding {
    /* Bits of a round's digit. All shards count the same bins, so they depend on nothing but what the
     * problems of all shards have in common. */
    unsigned (*digit_bits)(const struct plan *plan);
    /* Sets s->bytes. */
    void (*measure)(struct sharded *s);
    /* `k` may be NULL. */
    topk_status (*begin)(const struct sharded *s, const void *k, int64_t *counters);
    /* The predicate of the input may be NULL. */
    topk_status (*count)(const struct sharded *s, int round, const topk_input *input, int64_t *counters);
    topk_status (*advance)(const struct sharded *s, int round, const int64_t *sums, int64_t *counters);
    /* `before` may be NULL. */
    topk_status (*result)(const struct sharded *s, const int64_t *before, const topk_sharded_output *output);
    /* The predicate of the input, `before` and either output may be NULL. */
    topk_status (*select)(const struct sharded *s, const topk_input *input, const int64_t *before,
                          void *values, void *indices);
};

#endif
