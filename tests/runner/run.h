/* SPDX-License-Identifier: Apache-2.0
 *
 * Running one operation of one case with one method, and judging what it wrote. */
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include "instance.h"

typedef enum run_result { RUN_PASSED, RUN_CANNOT, RUN_FAILED } run_result;

/* Each checks status, outputs and red zones, and explains a failure on stderr. `method` may be NULL.
 * RUN_CANNOT: the method refuses the problem, which is no failure. */
run_result run_select(topk_context *context, const instance *i, const char *method);
run_result run_kth(topk_context *context, const instance *i, const char *method);
run_result run_where(topk_context *context, const instance *i, const char *method);

/* ---- What the three share ---- */

/* The problem with the method forced, and a workspace of garbage as the case wants it. */
typedef struct run_setup {
    topk_problem problem;
    guarded workspace;
} run_setup;

run_result run_prepare(topk_context *context, topk_operation operation, const instance *i, const char *method,
                       run_setup *setup);

/* An output of `count` elements, poisoned; as NULL when not wanted. */
guarded run_output(bool wanted, int64_t count, size_t element_bytes);

/* Ends a run: checks the status and all red zones, and frees workspace and outputs. */
run_result run_finish(const instance *i, run_setup *setup, topk_status status, run_result judged,
                      guarded *outputs, int output_count);

/* Whether element i of an output holds these bits; both are printed by show_bits() for a diff. */
uint64_t run_output_bits(topk_type type, const guarded *output, int64_t i);

bool wants_values(const instance *i);
bool wants_indices(const instance *i);

/* Prints one line of explanation, indented below the case. Returns RUN_FAILED. */
__attribute__((format(printf, 1, 2))) run_result run_fail(const char *format, ...);

#endif
