/* SPDX-License-Identifier: Apache-2.0
 *
 * For debugging C programs: included behind the headers of libtopk, this has each call assert() that the
 * arrays for its results have elements as wide as the problem says. The library cannot see that, as it takes
 * void pointers: 32-bit positions in an array of int64_t are no error to it. NDEBUG switches the checks off,
 * as it does all assertions.
 *
 * Looked at are arguments that are pointers to numbers, but for bytes and characters, which may stand for
 * anything. In C++, topk.hpp takes the types from the arrays, and this header does nothing. */
#ifndef TOPK_DEBUG_H
#define TOPK_DEBUG_H

#include "topk_accumulator.h"
#include "topk_groups.h"
#include "topk_merge.h"
#include "topk_route.h"
#include "topk_simple.h"

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

#include <assert.h>

/* Bytes of an element; 0 if that is unknown. */
/* clang-format off */
#define TOPK_DEBUG_BYTES(array)                                                                              \
    _Generic((array), short *: sizeof(short), unsigned short *: sizeof(short),                               \
             int *: sizeof(int), unsigned *: sizeof(int), long *: sizeof(long),                              \
             unsigned long *: sizeof(long), long long *: sizeof(long long),                                  \
             unsigned long long *: sizeof(long long), float *: sizeof(float), double *: sizeof(double),      \
             default: (size_t)0)
/* clang-format on */

static inline const topk_problem *topk_debug_problem(const topk_problem *problem, size_t value_bytes,
                                                     size_t index_bytes) {
    if (problem != NULL) {
        const size_t wanted_bytes = problem->index_type == TOPK_INDEX_I32 ? 4 : 8;
        assert(value_bytes == 0 || value_bytes == topk_type_size(problem->type));
        assert(index_bytes == 0 || index_bytes == wanted_bytes);
        (void)wanted_bytes;
        (void)value_bytes;
        (void)index_bytes;
    }
    return problem;
}

#define TOPK_DEBUG_PROBLEM(problem, values, indices)                                                         \
    topk_debug_problem(problem, TOPK_DEBUG_BYTES(values), TOPK_DEBUG_BYTES(indices))

#define topk_select(context, problem, input, values, indices, ...)                                           \
    topk_select(context, TOPK_DEBUG_PROBLEM(problem, values, indices), input, values, indices, __VA_ARGS__)

#define topk_kth(context, problem, input, kth, ...)                                                          \
    topk_kth(context, TOPK_DEBUG_PROBLEM(problem, kth, NULL), input, kth, __VA_ARGS__)

#define topk_where(context, problem, input, predicate, values, indices, ...)                                 \
    topk_where(context, TOPK_DEBUG_PROBLEM(problem, values, indices), input, predicate, values, indices,     \
               __VA_ARGS__)

#define topk_select_where(context, problem, input, predicate, values, indices, ...)                          \
    topk_select_where(context, TOPK_DEBUG_PROBLEM(problem, values, indices), input, predicate, values,       \
                      indices, __VA_ARGS__)

#define topk_kth_where(context, problem, input, predicate, kth, ...)                                         \
    topk_kth_where(context, TOPK_DEBUG_PROBLEM(problem, kth, NULL), input, predicate, kth, __VA_ARGS__)

#define topk_route(context, problem, routing, logits, indices, ...)                                          \
    topk_route(context, TOPK_DEBUG_PROBLEM(problem, NULL, indices), routing, logits, indices, __VA_ARGS__)

#define topk_merge(context, problem, input, lists, values, indices, ...)                                     \
    topk_merge(context, TOPK_DEBUG_PROBLEM(problem, values, indices), input, lists, values, indices,         \
               __VA_ARGS__)

#define topk_select_by(context, problem, input, values, indices, ...)                                        \
    topk_select_by(context, TOPK_DEBUG_PROBLEM(problem, values, indices), input, values, indices, __VA_ARGS__)

#define topk_accumulator_peek(context, problem, state, bytes, values, indices, stream)                       \
    topk_accumulator_peek(context, TOPK_DEBUG_PROBLEM(problem, values, indices), state, bytes, values,       \
                          indices, stream)

#define topk_accumulator_bar(context, problem, state, bytes, values, ...)                                    \
    topk_accumulator_bar(context, TOPK_DEBUG_PROBLEM(problem, values, NULL), state, bytes, values,           \
                         __VA_ARGS__)

#define topk_accumulator_finish(context, problem, state, bytes, values, indices, stream)                     \
    topk_accumulator_finish(context, TOPK_DEBUG_PROBLEM(problem, values, indices), state, bytes, values,     \
                            indices, stream)

#define topk_simple_run_select(simple, problem, input, values, indices, stream)                              \
    topk_simple_run_select(simple, TOPK_DEBUG_PROBLEM(problem, values, indices), input, values, indices,     \
                           stream)

#define topk_simple_run_kth(simple, problem, input, kth, ...)                                                \
    topk_simple_run_kth(simple, TOPK_DEBUG_PROBLEM(problem, kth, NULL), input, kth, __VA_ARGS__)

#define topk_simple_run_where(simple, problem, input, predicate, values, indices, ...)                       \
    topk_simple_run_where(simple, TOPK_DEBUG_PROBLEM(problem, values, indices), input, predicate, values,    \
                          indices, __VA_ARGS__)

#define topk_simple_run_select_where(simple, problem, input, predicate, values, indices, stream)             \
    topk_simple_run_select_where(simple, TOPK_DEBUG_PROBLEM(problem, values, indices), input, predicate,     \
                                 values, indices, stream)

#define topk_simple_run_kth_where(simple, problem, input, predicate, kth, ...)                               \
    topk_simple_run_kth_where(simple, TOPK_DEBUG_PROBLEM(problem, kth, NULL), input, predicate, kth,         \
                              __VA_ARGS__)

#define topk_simple_run_route(simple, problem, routing, logits, indices, ...)                                \
    topk_simple_run_route(simple, TOPK_DEBUG_PROBLEM(problem, NULL, indices), routing, logits, indices,      \
                          __VA_ARGS__)

#define topk_simple_run_merge(simple, problem, input, lists, values, indices, ...)                           \
    topk_simple_run_merge(simple, TOPK_DEBUG_PROBLEM(problem, values, indices), input, lists, values,        \
                          indices, __VA_ARGS__)

#define topk_simple_run_select_by(simple, problem, input, values, indices, ...)                              \
    topk_simple_run_select_by(simple, TOPK_DEBUG_PROBLEM(problem, values, indices), input, values, indices,  \
                              __VA_ARGS__)

#endif /* C11 */

#endif /* TOPK_DEBUG_H */
