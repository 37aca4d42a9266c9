/* SPDX-License-Identifier: Apache-2.0
 * An accumulator: what is the same on every backend, and what each backend does in its own way. */
#ifndef TOPK_SRC_ACCUMULATOR_H
#define TOPK_SRC_ACCUMULATOR_H

#include "context.h"
#include "exported.h"
#include "subcall.h"

enum { ACCUMULATOR_SELECTIONS = 3 };

/* A problem's accumulator. `memory` is the caller's, and of the context's device. */
struct accumulator {
    const topk_context *context;
    struct plan plan;                    /* of the streams */
    uint64_t problem;                    /* fingerprint of what calls on one state must have in common */
    struct room room;                    /* of its subcalls */
    struct subcall select, select_where; /* the best of one chunk: positions of 64 bits, in any order */
    struct subcall of_candidates[ACCUMULATOR_SELECTIONS]; /* the backend's own */
    size_t kept_bytes; /* of the state, without what only one call needs. The same in every context */
    size_t bytes;
    void *memory;
    topk_stream stream;
};

/* A push, validated. */
struct chunk {
    topk_input input;
    const topk_predicate *predicate; /* NULL: all elements match */
    int64_t length, base;
};

/* What a backend does. All but choose() and measure() work on a->memory, which has a->bytes, with outputs
 * that hold something. What of BAD_STATE the backend finds, it reports or keeps for the results. */
struct accumulators {
    /* Chooses of_candidates[]. */
    topk_status (*choose)(struct accumulator *a);
    /* Sets kept_bytes and bytes. */
    void (*measure)(struct accumulator *a);
    topk_status (*init)(const struct accumulator *a);
    topk_status (*push)(const struct accumulator *a, const struct chunk *chunk);
    /* Of another state the first kept_bytes are read. */
    topk_status (*merge)(const struct accumulator *a, void *other);
    /* Either output may be NULL. `ends`: only init may follow. */
    topk_status (*write)(const struct accumulator *a, void *values, void *indices, bool ends);
    /* Reads and raises bars; the arrays have one for each row. NULL: it cannot. */
    topk_status (*bar)(const struct accumulator *a, void *values, int64_t *positions);
    topk_status (*raise)(const struct accumulator *a, const void *values, const int64_t *positions);
    /* The state as bytes, which have room; and a state from `size` bytes. */
    topk_status (*export_bytes)(const struct accumulator *a, void *bytes);
    topk_status (*import_bytes)(const struct accumulator *a, const void *bytes, size_t size);
};

/* Where things lie in a state as bytes. */
struct exported topk_exported_of(const struct plan *plan);

/* A selection from rows of up to `length` candidates each, `pitch` apart: of elements, or of their positions,
 * the least first. Sorted, and with 64-bit extents and indices. */
topk_status topk_accumulator_choose(struct accumulator *a, topk_operation operation,
                                    const topk_problem *problem, int64_t length, int64_t pitch,
                                    struct subcall *inner);

/* A problem about the positions of candidates: the `k` least of each row. */
topk_problem topk_accumulator_positions(const struct accumulator *a, int64_t k);

#endif
