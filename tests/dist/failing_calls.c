/* SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"

#include "topk_sharded.h"
#include "topk_transfer.h"

static long calls, fails_at = -1;

void failing_call_at(long at) {
    calls = 0;
    fails_at = at;
}

long failing_calls(void) {
    return calls;
}

bool failing_now(void) {
    return calls++ == fails_at;
}

/* ---- The calls ---- */

topk_status __real_topk_plan_run(const topk_plan *plan, const topk_input *input, const topk_output *output,
                                 void *workspace, size_t bytes, topk_stream stream);
topk_status __wrap_topk_plan_run(const topk_plan *plan, const topk_input *input, const topk_output *output,
                                 void *workspace, size_t bytes, topk_stream stream);
topk_status __wrap_topk_plan_run(const topk_plan *plan, const topk_input *input, const topk_output *output,
                                 void *workspace, size_t bytes, topk_stream stream) {
    return failing_now() ? TOPK_ERROR_DEVICE
                         : __real_topk_plan_run(plan, input, output, workspace, bytes, stream);
}

topk_status __real_topk_copy(const topk_context *context, void *to, const void *from, size_t bytes,
                             topk_stream stream);
topk_status __wrap_topk_copy(const topk_context *context, void *to, const void *from, size_t bytes,
                             topk_stream stream);
topk_status __wrap_topk_copy(const topk_context *context, void *to, const void *from, size_t bytes,
                             topk_stream stream) {
    return failing_now() ? TOPK_ERROR_DEVICE : __real_topk_copy(context, to, from, bytes, stream);
}

topk_status __real_topk_fill(const topk_context *context, void *to, int byte, size_t bytes,
                             topk_stream stream);
topk_status __wrap_topk_fill(const topk_context *context, void *to, int byte, size_t bytes,
                             topk_stream stream);
topk_status __wrap_topk_fill(const topk_context *context, void *to, int byte, size_t bytes,
                             topk_stream stream) {
    return failing_now() ? TOPK_ERROR_DEVICE : __real_topk_fill(context, to, byte, bytes, stream);
}

topk_status __real_topk_renumber(const topk_context *context, const topk_renumbering *how, const void *from,
                                 void *to, topk_stream stream);
topk_status __wrap_topk_renumber(const topk_context *context, const topk_renumbering *how, const void *from,
                                 void *to, topk_stream stream);
topk_status __wrap_topk_renumber(const topk_context *context, const topk_renumbering *how, const void *from,
                                 void *to, topk_stream stream) {
    return failing_now() ? TOPK_ERROR_DEVICE : __real_topk_renumber(context, how, from, to, stream);
}

topk_status __real_topk_find_descents(const topk_context *context, const topk_problem *problem,
                                      const topk_input *input, int64_t *places, topk_stream stream);
topk_status __wrap_topk_find_descents(const topk_context *context, const topk_problem *problem,
                                      const topk_input *input, int64_t *places, topk_stream stream);
topk_status __wrap_topk_find_descents(const topk_context *context, const topk_problem *problem,
                                      const topk_input *input, int64_t *places, topk_stream stream) {
    return failing_now() ? TOPK_ERROR_DEVICE
                         : __real_topk_find_descents(context, problem, input, places, stream);
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
    return failing_now() ? TOPK_ERROR_DEVICE
                         : __real_topk_break_rows(context, rows, from_type, from, from_pitch, to_type, to,
                                                  to_pitch, stream);
}

topk_status __real_topk_sharded_begin(topk_context *context, const topk_problem *problem, void *state,
                                      size_t bytes, const void *k, int64_t *counters, topk_stream stream);
topk_status __wrap_topk_sharded_begin(topk_context *context, const topk_problem *problem, void *state,
                                      size_t bytes, const void *k, int64_t *counters, topk_stream stream);
topk_status __wrap_topk_sharded_begin(topk_context *context, const topk_problem *problem, void *state,
                                      size_t bytes, const void *k, int64_t *counters, topk_stream stream) {
    return failing_now() ? TOPK_ERROR_DEVICE
                         : __real_topk_sharded_begin(context, problem, state, bytes, k, counters, stream);
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
    return failing_now()
               ? TOPK_ERROR_DEVICE
               : __real_topk_sharded_count(context, problem, state, bytes, round, input, counters, stream);
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
    return failing_now()
               ? TOPK_ERROR_DEVICE
               : __real_topk_sharded_advance(context, problem, state, bytes, round, sums, counters, stream);
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
    return failing_now() ? TOPK_ERROR_DEVICE
                         : __real_topk_sharded_result(context, problem, state, bytes, before, output, stream);
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
    return failing_now() ? TOPK_ERROR_DEVICE
                         : __real_topk_sharded_select(context, problem, state, bytes, input, before, pitch,
                                                      values, indices, stream);
}
