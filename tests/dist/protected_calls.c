/* SPDX-License-Identifier: Apache-2.0
 * The calls of the core that get at protected memory: each opens it. */
#include "protected.h"
#include "topk_accumulator.h"
#include "topk_sharded.h"
#include "topk_transfer.h"

topk_status __real_topk_plan_run(const topk_plan *plan, const topk_input *input, const topk_output *output,
                                 void *workspace, size_t bytes, topk_stream stream);
topk_status __wrap_topk_plan_run(const topk_plan *plan, const topk_input *input, const topk_output *output,
                                 void *workspace, size_t bytes, topk_stream stream);
topk_status __wrap_topk_plan_run(const topk_plan *plan, const topk_input *input, const topk_output *output,
                                 void *workspace, size_t bytes, topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_plan_run(plan, input, output, workspace, bytes, stream);
    protected_close();
    return status;
}

topk_status __real_topk_sharded_begin(topk_context *context, const topk_problem *problem, void *state,
                                      size_t bytes, const void *k, int64_t *counters, topk_stream stream);
topk_status __wrap_topk_sharded_begin(topk_context *context, const topk_problem *problem, void *state,
                                      size_t bytes, const void *k, int64_t *counters, topk_stream stream);
topk_status __wrap_topk_sharded_begin(topk_context *context, const topk_problem *problem, void *state,
                                      size_t bytes, const void *k, int64_t *counters, topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_sharded_begin(context, problem, state, bytes, k, counters, stream);
    protected_close();
    return status;
}

topk_status __real_topk_sharded_count(topk_context *context, const topk_problem *problem, void *state,
                                      size_t bytes, int round, const topk_input *input, int64_t *counters,
                                      topk_stream stream);
topk_status __wrap_topk_sharded_count(topk_context *context, const topk_problem *problem, void *state,
                                      size_t bytes, int round, const topk_input *input, int64_t *counters,
                                      topk_stream stream);
topk_status __wrap_topk_sharded_count(topk_context *context, const topk_problem *problem, void *state,
                                      size_t bytes, int round, const topk_input *input, int64_t *counters,
                                      topk_stream stream) {
    protected_open();
    const topk_status status =
        __real_topk_sharded_count(context, problem, state, bytes, round, input, counters, stream);
    protected_close();
    return status;
}

topk_status __real_topk_sharded_advance(topk_context *context, const topk_problem *problem, void *state,
                                        size_t bytes, int round, const int64_t *sums, int64_t *counters,
                                        topk_stream stream);
topk_status __wrap_topk_sharded_advance(topk_context *context, const topk_problem *problem, void *state,
                                        size_t bytes, int round, const int64_t *sums, int64_t *counters,
                                        topk_stream stream);
topk_status __wrap_topk_sharded_advance(topk_context *context, const topk_problem *problem, void *state,
                                        size_t bytes, int round, const int64_t *sums, int64_t *counters,
                                        topk_stream stream) {
    protected_open();
    const topk_status status =
        __real_topk_sharded_advance(context, problem, state, bytes, round, sums, counters, stream);
    protected_close();
    return status;
}

topk_status __real_topk_sharded_result(topk_context *context, const topk_problem *problem, void *state,
                                       size_t bytes, const int64_t *before, const topk_sharded_output *output,
                                       topk_stream stream);
topk_status __wrap_topk_sharded_result(topk_context *context, const topk_problem *problem, void *state,
                                       size_t bytes, const int64_t *before, const topk_sharded_output *output,
                                       topk_stream stream);
topk_status __wrap_topk_sharded_result(topk_context *context, const topk_problem *problem, void *state,
                                       size_t bytes, const int64_t *before, const topk_sharded_output *output,
                                       topk_stream stream) {
    protected_open();
    const topk_status status =
        __real_topk_sharded_result(context, problem, state, bytes, before, output, stream);
    protected_close();
    return status;
}

topk_status __real_topk_sharded_select(topk_context *context, const topk_problem *problem, void *state,
                                       size_t bytes, const topk_input *input, const int64_t *before,
                                       int64_t pitch, void *values, void *indices, topk_stream stream);
topk_status __wrap_topk_sharded_select(topk_context *context, const topk_problem *problem, void *state,
                                       size_t bytes, const topk_input *input, const int64_t *before,
                                       int64_t pitch, void *values, void *indices, topk_stream stream);
topk_status __wrap_topk_sharded_select(topk_context *context, const topk_problem *problem, void *state,
                                       size_t bytes, const topk_input *input, const int64_t *before,
                                       int64_t pitch, void *values, void *indices, topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_sharded_select(context, problem, state, bytes, input, before,
                                                          pitch, values, indices, stream);
    protected_close();
    return status;
}

topk_status __real_topk_sharded_select_part(topk_context *context, const topk_problem *problem, void *state,
                                            size_t bytes, int64_t part, const topk_input *input,
                                            int64_t length, const int64_t *before, int64_t pitch,
                                            void *values, void *indices, topk_stream stream);
topk_status __wrap_topk_sharded_select_part(topk_context *context, const topk_problem *problem, void *state,
                                            size_t bytes, int64_t part, const topk_input *input,
                                            int64_t length, const int64_t *before, int64_t pitch,
                                            void *values, void *indices, topk_stream stream);
topk_status __wrap_topk_sharded_select_part(topk_context *context, const topk_problem *problem, void *state,
                                            size_t bytes, int64_t part, const topk_input *input,
                                            int64_t length, const int64_t *before, int64_t pitch,
                                            void *values, void *indices, topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_sharded_select_part(
        context, problem, state, bytes, part, input, length, before, pitch, values, indices, stream);
    protected_close();
    return status;
}

topk_status __real_topk_copy(const topk_context *context, void *to, const void *from, size_t bytes,
                             topk_stream stream);
topk_status __wrap_topk_copy(const topk_context *context, void *to, const void *from, size_t bytes,
                             topk_stream stream);
topk_status __wrap_topk_copy(const topk_context *context, void *to, const void *from, size_t bytes,
                             topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_copy(context, to, from, bytes, stream);
    protected_close();
    return status;
}

topk_status __real_topk_fill(const topk_context *context, void *to, int byte, size_t bytes,
                             topk_stream stream);
topk_status __wrap_topk_fill(const topk_context *context, void *to, int byte, size_t bytes,
                             topk_stream stream);
topk_status __wrap_topk_fill(const topk_context *context, void *to, int byte, size_t bytes,
                             topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_fill(context, to, byte, bytes, stream);
    protected_close();
    return status;
}

topk_status __real_topk_renumber(const topk_context *context, const topk_renumbering *how, const void *from,
                                 void *to, topk_stream stream);
topk_status __wrap_topk_renumber(const topk_context *context, const topk_renumbering *how, const void *from,
                                 void *to, topk_stream stream);
topk_status __wrap_topk_renumber(const topk_context *context, const topk_renumbering *how, const void *from,
                                 void *to, topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_renumber(context, how, from, to, stream);
    protected_close();
    return status;
}

topk_status __real_topk_find_descents(const topk_context *context, const topk_problem *problem,
                                      const topk_input *input, int64_t *places, topk_stream stream);
topk_status __wrap_topk_find_descents(const topk_context *context, const topk_problem *problem,
                                      const topk_input *input, int64_t *places, topk_stream stream);
topk_status __wrap_topk_find_descents(const topk_context *context, const topk_problem *problem,
                                      const topk_input *input, int64_t *places, topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_find_descents(context, problem, input, places, stream);
    protected_close();
    return status;
}

topk_status __real_topk_break_rows(const topk_context *context, int64_t rows, topk_index_type from_type,
                                   const void *from, int64_t from_pitch, topk_index_type to_type, void *to,
                                   int64_t to_pitch, topk_stream stream);
topk_status __wrap_topk_break_rows(const topk_context *context, int64_t rows, topk_index_type from_type,
                                   const void *from, int64_t from_pitch, topk_index_type to_type, void *to,
                                   int64_t to_pitch, topk_stream stream);
topk_status __wrap_topk_break_rows(const topk_context *context, int64_t rows, topk_index_type from_type,
                                   const void *from, int64_t from_pitch, topk_index_type to_type, void *to,
                                   int64_t to_pitch, topk_stream stream) {
    protected_open();
    const topk_status status =
        __real_topk_break_rows(context, rows, from_type, from, from_pitch, to_type, to, to_pitch, stream);
    protected_close();
    return status;
}

topk_status __real_topk_copy_rows(const topk_context *context, void *to, size_t to_pitch, const void *from,
                                  size_t from_pitch, size_t row_bytes, int64_t rows, topk_stream stream);
topk_status __wrap_topk_copy_rows(const topk_context *context, void *to, size_t to_pitch, const void *from,
                                  size_t from_pitch, size_t row_bytes, int64_t rows, topk_stream stream);
topk_status __wrap_topk_copy_rows(const topk_context *context, void *to, size_t to_pitch, const void *from,
                                  size_t from_pitch, size_t row_bytes, int64_t rows, topk_stream stream) {
    protected_open();
    const topk_status status =
        __real_topk_copy_rows(context, to, to_pitch, from, from_pitch, row_bytes, rows, stream);
    protected_close();
    return status;
}

topk_status __real_topk_add(const topk_context *context, int64_t count, const int64_t *from, int64_t *to,
                            topk_stream stream);
topk_status __wrap_topk_add(const topk_context *context, int64_t count, const int64_t *from, int64_t *to,
                            topk_stream stream);
topk_status __wrap_topk_add(const topk_context *context, int64_t count, const int64_t *from, int64_t *to,
                            topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_add(context, count, from, to, stream);
    protected_close();
    return status;
}

topk_status __real_topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                         size_t bytes, topk_stream stream);
topk_status __wrap_topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                         size_t bytes, topk_stream stream);
topk_status __wrap_topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                         size_t bytes, topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_accumulator_init(context, problem, state, bytes, stream);
    protected_close();
    return status;
}

topk_status __real_topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                         size_t bytes, const topk_input *chunk, int64_t length, int64_t base,
                                         topk_stream stream);
topk_status __wrap_topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                         size_t bytes, const topk_input *chunk, int64_t length, int64_t base,
                                         topk_stream stream);
topk_status __wrap_topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                         size_t bytes, const topk_input *chunk, int64_t length, int64_t base,
                                         topk_stream stream) {
    protected_open();
    const topk_status status =
        __real_topk_accumulator_push(context, problem, state, bytes, chunk, length, base, stream);
    protected_close();
    return status;
}

topk_status __real_topk_accumulator_push_where(topk_context *context, const topk_problem *problem,
                                               void *state, size_t bytes, const topk_input *chunk,
                                               const topk_predicate *predicate, int64_t length, int64_t base,
                                               topk_stream stream);
topk_status __wrap_topk_accumulator_push_where(topk_context *context, const topk_problem *problem,
                                               void *state, size_t bytes, const topk_input *chunk,
                                               const topk_predicate *predicate, int64_t length, int64_t base,
                                               topk_stream stream);
topk_status __wrap_topk_accumulator_push_where(topk_context *context, const topk_problem *problem,
                                               void *state, size_t bytes, const topk_input *chunk,
                                               const topk_predicate *predicate, int64_t length, int64_t base,
                                               topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_accumulator_push_where(context, problem, state, bytes, chunk,
                                                                  predicate, length, base, stream);
    protected_close();
    return status;
}

topk_status __real_topk_accumulator_finish(topk_context *context, const topk_problem *problem, void *state,
                                           size_t bytes, void *values, void *indices, topk_stream stream);
topk_status __wrap_topk_accumulator_finish(topk_context *context, const topk_problem *problem, void *state,
                                           size_t bytes, void *values, void *indices, topk_stream stream);
topk_status __wrap_topk_accumulator_finish(topk_context *context, const topk_problem *problem, void *state,
                                           size_t bytes, void *values, void *indices, topk_stream stream) {
    protected_open();
    const topk_status status =
        __real_topk_accumulator_finish(context, problem, state, bytes, values, indices, stream);
    protected_close();
    return status;
}

topk_status __real_topk_sharded_count_part(topk_context *context, const topk_problem *problem, void *state,
                                           size_t bytes, int round, int64_t part, const topk_input *input,
                                           int64_t length, int64_t *counters, topk_stream stream);
topk_status __wrap_topk_sharded_count_part(topk_context *context, const topk_problem *problem, void *state,
                                           size_t bytes, int round, int64_t part, const topk_input *input,
                                           int64_t length, int64_t *counters, topk_stream stream);
topk_status __wrap_topk_sharded_count_part(topk_context *context, const topk_problem *problem, void *state,
                                           size_t bytes, int round, int64_t part, const topk_input *input,
                                           int64_t length, int64_t *counters, topk_stream stream) {
    protected_open();
    const topk_status status = __real_topk_sharded_count_part(context, problem, state, bytes, round, part,
                                                              input, length, counters, stream);
    protected_close();
    return status;
}

topk_status __real_topk_count(topk_context *context, const topk_problem *problem, const topk_input *input,
                              const topk_predicate *predicate, int64_t *counts, void *workspace, size_t bytes,
                              topk_stream stream);
topk_status __wrap_topk_count(topk_context *context, const topk_problem *problem, const topk_input *input,
                              const topk_predicate *predicate, int64_t *counts, void *workspace, size_t bytes,
                              topk_stream stream);
topk_status __wrap_topk_count(topk_context *context, const topk_problem *problem, const topk_input *input,
                              const topk_predicate *predicate, int64_t *counts, void *workspace, size_t bytes,
                              topk_stream stream) {
    protected_open();
    const topk_status status =
        __real_topk_count(context, problem, input, predicate, counts, workspace, bytes, stream);
    protected_close();
    return status;
}
