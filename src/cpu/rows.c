/* SPDX-License-Identifier: Apache-2.0
 * The method for many short rows: each row is turned into keys in the L1 cache, a bisection finds the
 * threshold, and the winners are moved together and sorted there. Rows are dealt to the threads
 * in batches. */
#include "methods.h"

#include <stdatomic.h>

#include "short_row.h"
#include "team.h"

static size_t part_bytes(const struct plan *plan) {
    struct arena arena = arena_over(NULL);
    (void)topk_short_row_take(&arena, plan, plan->problem.length_max);
    return arena.used;
}

/* That work side by side at most. */
static int threads_for(const topk_context *context, const struct plan *plan) {
    return threads_within_limit(plan, threads_for_rows(context, plan), part_bytes(plan));
}

struct job {
    const struct call *call;
    const struct kernels *kernels;
    const struct matcher *matcher; /* of select_where, or NULL */
    void *workspace;
    size_t part_bytes;
    int64_t batch;
    _Atomic int64_t next_row;
};

static void run_part(void *argument, int part, int parts) {
    struct job *job = argument;
    const struct plan *plan = job->call->plan;
    struct arena arena = arena_part(job->workspace, (size_t)part, job->part_bytes);
    const struct short_row buffers = topk_short_row_take(&arena, plan, plan->problem.length_max);
    const int64_t rows = plan->problem.rows;
    (void)parts;
    for (;;) {
        const int64_t first = atomic_fetch_add_explicit(&job->next_row, job->batch, memory_order_relaxed);
        if (first >= rows) {
            return;
        }
        const int64_t end = rows - first < job->batch ? rows : first + job->batch;
        for (int64_t row = first; row < end; row++) {
            topk_short_row_run(job->call, job->kernels, job->matcher, row,
                               plan_row(plan, &job->call->input, row), &buffers);
        }
    }
}

static const char *refuse(const topk_context *context, const struct plan *plan) {
    (void)context;
    return plan->problem.length_max > SHORT_ROW_MAX ? "rows are longer than its buffers in cache" : NULL;
}

static double cost_us(const topk_context *context, const struct plan *plan) {
    const double alone = 0.08 * (double)plan->problem.rows + 0.0006 * (double)plan->input_elements;
    return 1.0 + alone / context->threads;
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    struct arena arena = arena_over(NULL);
    (void)arena_take(&arena, (size_t)threads_for(context, plan), part_bytes(plan));
    return arena_bytes(&arena);
}

static int run(const struct call *call) {
    const struct plan *plan = call->plan;
    const int64_t length = plan->problem.length_max > 0 ? plan->problem.length_max : 1;
    struct matcher matcher;
    struct job job = {.call = call,
                      .kernels = topk_kernels_for(call->context, plan->element_bits),
                      .matcher = topk_matcher_if_any(call, &matcher),
                      .workspace = arena_over(call->workspace).base,
                      .part_bytes = part_bytes(plan),
                      .batch = BATCH_ELEMENTS / length};
    const int useful = team_size(topk_context_threads(call->context), plan->input_elements);
    const int most = threads_for(call->context, plan);
    topk_team_run(call->context, useful < most ? useful : most, run_part, &job);
    return 0;
}

const struct method topk_cpu_rows = {.name = "rows",
                                     .operations = SELECTS_WHERE,
                                     .refuse = refuse,
                                     .cost_us = cost_us,
                                     .workspace_bytes = workspace_bytes,
                                     .run = run};
