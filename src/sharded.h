/* SPDX-License-Identifier: Apache-2.0
 * The k-th element of rows in shards: what is the same on every backend, and what each backend does in its
 * own way.
 *
 * A round looks at one digit of the keys, the upper digits first. The interval of a row is all keys whose
 * upper digits are those of the k-th; it begins with all keys, and ends with one. */
#ifndef TOPK_SRC_SHARDED_H
#define TOPK_SRC_SHARDED_H

#include "context.h"
#include "topk_sharded.h"

enum {
#ifdef TOPK_SHRINK
    SHARDED_DIGIT_NARROW = 5,
    SHARDED_DIGIT_WIDE = 5,
    SHARDED_KEPT_LEAST = 24,
#else
    /* Bits of a digit of keys of up to 16 bits, and of wider ones. The first digit of a float32 is then sign,
     * exponent and two bits of the fraction: of numbers that are uniform in [0, 1) the best bin has an
     * eighth. */
    SHARDED_DIGIT_NARROW = 8,
    SHARDED_DIGIT_WIDE = 11,
    SHARDED_KEPT_LEAST = 1024,
#endif
    /* A state keeps up to a seventh of its shard: that eighth, and some more. */
    SHARDED_KEPT_SHARE = 7,
};

/* What a state knows of a row. */
struct sharded_row {
    uint64_t low;             /* of the interval; its lower digits are 0 */
    int64_t k;                /* counted from 1 in all shards; 0: nothing is asked for */
    int64_t open;             /* 1: the row has a k-th element, as far as is known; else 0 */
    int64_t better, equal;    /* elements of all shards above the interval, and in it */
    int64_t own_better, own;  /* elements of this shard, likewise. Before the first round `own` is 1 if the
                                 row must be counted */
    int64_t length;           /* elements of this shard, from the first round on */
    int64_t kept_begin, kept; /* slots of the row's list that hold the keys of the interval; 0: the data
                                 must be read */
    int64_t target;           /* where in the list the next count puts the keys that it finds; -1: it must
                                 not. The round after it then has them as `kept` */
    int64_t filled;           /* keys that the count has put there */
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
};

/* The digit that a round looks at: (key - low) >> shift, below 2^bits. */
struct sharded_digit {
    unsigned shift, bits;
};

static inline struct sharded_digit sharded_digit_of(const struct sharded *s, int round) {
    const unsigned known = (unsigned)round * s->digit_bits, left = s->plan.element_bits - known;
    const unsigned bits = left < s->digit_bits ? left : s->digit_bits;
    return (struct sharded_digit){left - bits, bits};
}

/* Begins a row. */
static inline struct sharded_row sharded_row_begin(int64_t k) {
    return (struct sharded_row){.k = k, .open = k > 0, .own = k > 0, .target = -1};
}

/* Decides what the next count does with the keys that it finds: it keeps them where there is room, if another
 * count follows, and if that will read no more than half as much. */
static inline void sharded_row_plan(struct sharded_row *row, int64_t capacity, bool is_last) {
    if (row->target >= 0) {
        row->kept_begin = row->target;
        row->kept = row->filled < capacity - row->target ? row->filled : capacity - row->target;
    }
    const int64_t end = row->kept_begin + row->kept, source = row->kept > 0 ? row->kept : row->length;
    const bool keeps = !is_last && row->own > 0 && row->own <= source / 2 && row->own <= capacity - end;
    row->target = keeps ? end : -1;
    row->filled = 0;
}

/* The row's results in this shard, if `before` of shards before it tie with the k-th. */
static inline int64_t sharded_row_own_k(const struct sharded_row *row, int64_t before) {
    const int64_t rest = row->k - row->better, ties = before <= 0 ? rest : before < rest ? rest - before : 0;
    return row->own_better + (ties < row->own ? ties : row->own);
}

/* What a backend does, all of it on s->memory. */
struct sharding {
    /* Sets s->bytes. */
    void (*measure)(struct sharded *s);
    /* `k` may be NULL. */
    topk_status (*begin)(const struct sharded *s, const void *k, int64_t *counters);
    topk_status (*count)(const struct sharded *s, int round, const topk_input *input, int64_t *counters);
    topk_status (*advance)(const struct sharded *s, int round, const int64_t *sums, int64_t *counters);
    /* `before` may be NULL. */
    topk_status (*result)(const struct sharded *s, const int64_t *before, const topk_sharded_output *output);
};

#endif
