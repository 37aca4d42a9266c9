/* SPDX-License-Identifier: Apache-2.0 */
#include "row_batches.h"

#include <stdatomic.h>

#include "float_mode.h"
#include "short_row.h"
#include "team.h"

struct job {
    const struct call *call;
    const struct row_batches *batches;
    const struct kernels *kernels;
    const struct matcher *matcher; /* or NULL */
    const struct approximation *approximation;
    void *workspace;
    _Atomic int64_t next_row;
};

/* The rows of a batch, for one of their ranks. */
static void run_batch(const struct job *job, const struct call *call, int64_t first, int64_t end,
                      struct short_row *buffers) {
    for (int64_t row = first; row < end; row++) {
        struct matcher own;
        const struct matcher *matcher = topk_cpu_matcher_at(call, job->matcher, row, &own);
        topk_cpu_short_row_run(call, job->kernels, matcher, job->approximation, row,
                               plan_row(call->plan, &call->input, row), buffers);
    }
}

/* One rank after the other, so that a row's threshold is a guess for the next row's; the batch is in cache.
 */
static void run_rows(struct job *job, int part) {
    const struct plan *plan = job->call->plan;
    const struct row_batches *batches = job->batches;
    struct arena arena = arena_part(job->workspace, (size_t)part, batches->part_bytes);
    struct short_row buffers = topk_cpu_short_row_take(&arena, &batches->sizes);
    const int64_t rows = plan->problem.rows, batch = batches->batch;
    for (;;) {
        const int64_t first = atomic_fetch_add_explicit(&job->next_row, batch, memory_order_relaxed);
        if (first >= rows) {
            return;
        }
        const int64_t end = rows - first < batch ? rows : first + batch;
        run_batch(job, job->call, first, end, &buffers);
        for (int64_t rank = 1; rank < plan->ranks; rank++) {
            const struct call one = topk_cpu_rank_call(job->call, rank);
            run_batch(job, &one, first, end, &buffers);
        }
    }
}

static void run_part(void *argument, int part, int parts) {
    struct job *job = argument;
    (void)parts;
    if (job->approximation == NULL) {
        run_rows(job, part);
    } else {
        const struct float_mode caller = float_mode_default();
        run_rows(job, part);
        float_mode_restore(&caller);
    }
}

double topk_cpu_row_batches_us(const topk_context *context, const struct plan *plan) {
    const double alone = 0.08 * (double)plan->problem.rows + 0.0006 * (double)plan->input_elements;
    return 1.0 + alone * (double)plan->ranks / context->threads;
}

void topk_cpu_row_batches_plan(const topk_context *context, const struct plan *plan,
                               struct row_batches *batches, struct decision *decision) {
    const int64_t length = plan->problem.length_max;
    struct arena part = arena_over(NULL), all = arena_over(NULL);
    batches->sizes = topk_cpu_short_row_sizes(plan, length);
    (void)topk_cpu_short_row_take(&part, &batches->sizes);
    batches->part_bytes = part.used;
    const int most = threads_within_limit(plan, threads_for_rows(context, plan), part.used);
    (void)arena_take(&all, (size_t)most, part.used);
    batches->threads = team_size(most, plan->input_elements);
    batches->batch = length < BATCH_ELEMENTS ? BATCH_ELEMENTS / (length > 0 ? length : 1) : 1;
    decision->cost_us = topk_cpu_row_batches_us(context, plan);
    decision->workspace_bytes = arena_bytes(&all);
}

void topk_cpu_row_batches_run(const struct call *call, const struct row_batches *batches,
                              const struct approximation *approximation) {
    struct matcher matcher;
    struct job job = {.call = call,
                      .batches = batches,
                      .kernels = topk_cpu_kernels_for(call->context, call->plan->element_bits),
                      .matcher = topk_cpu_matcher_if_any(call, &matcher),
                      .approximation = approximation,
                      .workspace = arena_over(call->workspace).base};
    topk_cpu_team_run(call->context, threads_here(call->context, batches->threads), run_part, &job);
}
