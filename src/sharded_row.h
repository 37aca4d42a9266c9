/* SPDX-License-Identifier: Apache-2.0
 * What a state of shards knows of a row, for host code and for kernels. */
#ifndef TOPK_SRC_SHARDED_ROW_H
#define TOPK_SRC_SHARDED_ROW_H

#include <stdbool.h>
#include <stdint.h>

/* Kernels have a word of their own for functions. */
#ifndef SHARDED_INLINE
#define SHARDED_INLINE static inline
#endif

enum {
#ifdef TOPK_SHRINK
    SHARDED_DIGIT_NARROW = 5,
    SHARDED_DIGIT_WIDE = 5,
#else
    /* Bits of a digit of keys of up to 16 bits, and of wider ones; a backend may have wider digits for some
     * problems. The first digit of a float32 is then sign, exponent and two bits of the fraction: of numbers
     * that are uniform in [0, 1) the best bin has an eighth. */
    SHARDED_DIGIT_NARROW = 8,
    SHARDED_DIGIT_WIDE = 11,
#endif
};

struct sharded_row {
    uint64_t low;             /* of the interval; its lower digits are 0 */
    int64_t k;                /* counted from 1 in all shards; 0: nothing is asked for */
    int64_t open;             /* 1: the row has a k-th element, as far as is known; else 0 */
    int64_t better, equal;    /* elements of all shards above the interval, and in it */
    int64_t own_better, own;  /* elements of this shard, likewise. Before the first round `own` is 1 if the
                                 row must be counted */
    int64_t length;           /* elements of this shard, whether they count or not; from the first count on */
    int64_t kept_begin, kept; /* slots of the row's list that hold the keys of the interval; 0: the data
                                 must be read */
    int64_t target;           /* where in the list the next count puts the keys that it finds; -1: it must
                                 not. The round after it then has them as `kept` */
    int64_t filled;           /* keys that the count has put there */
    int64_t bits_left;        /* of the k-th key that no round has found yet */
    uint64_t ones, zeros; /* bits that are 1, and that are 0, in one of the codes that a count has found in
                             the interval, counted from `low`; both 0: it has not looked */
    int64_t is_alone;     /* 1: `alone` is the code of all that is left of this shard */
    uint64_t alone;
};

/* Begins a row of keys of `bits` bits. */
SHARDED_INLINE struct sharded_row sharded_row_begin(int64_t k, unsigned bits) {
    struct sharded_row row = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    row.bits_left = bits;
    row.k = k;
    row.open = row.own = k > 0;
    row.target = -1;
    return row;
}

/* A row with a negative sum has no results, and nothing of it is read any more. */
SHARDED_INLINE void sharded_row_break(struct sharded_row *row) {
    row->k = -1;
    row->open = row->own = 0;
}

SHARDED_INLINE bool sharded_row_is_broken(const struct sharded_row *row) {
    return row->k < 0;
}

/* Decides what the next count does with the keys that it finds: it keeps them where there is room, if another
 * count follows, and if that will read no more than half as much. */
SHARDED_INLINE void sharded_row_plan(struct sharded_row *row, int64_t capacity, bool is_last) {
    if (row->target >= 0) {
        row->kept_begin = row->target;
        row->kept = row->filled < capacity - row->target ? row->filled : capacity - row->target;
    }
    const int64_t end = row->kept_begin + row->kept, source = row->kept > 0 ? row->kept : row->length;
    const bool keeps = !is_last && row->own > 0 && row->own <= source / 2 && row->own <= capacity - end;
    row->target = keeps ? end : -1;
    row->filled = 0;
}

/* How many of this shard's elements in the interval are results, if `before` of shards before it tie with the
 * k-th. */
SHARDED_INLINE int64_t sharded_row_ties(const struct sharded_row *row, int64_t before) {
    const int64_t rest = row->k - row->better, ties = before <= 0 ? rest : before < rest ? rest - before : 0;
    return ties < row->own ? ties : row->own;
}

/* The row's results in this shard. */
SHARDED_INLINE int64_t sharded_row_own_k(const struct sharded_row *row, int64_t before) {
    return row->own_better + sharded_row_ties(row, before);
}

/* topk_sharded_output.known: where all of the interval is among the k best, own_k does not depend on the
 * k-th element. */
SHARDED_INLINE int64_t sharded_row_known(const struct sharded_row *row) {
    return !row->open || row->bits_left == 0 ? 2 : row->k - row->better == row->equal;
}

/* Whether the row's results can be told apart from its other elements. */
SHARDED_INLINE bool sharded_row_selects(const struct sharded_row *row, int64_t before) {
    const int64_t known = sharded_row_is_broken(row) ? 0 : sharded_row_known(row);
    return known == 1 || (known == 2 && before >= 0);
}

/* What the parts of a shard before this one have written of a row: results, and how many ties they had. */
struct sharded_written {
    int64_t results, ties;
};

#endif
