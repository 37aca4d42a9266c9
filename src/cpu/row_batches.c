/* SPDX-License-Identifier: Apache-2.0 */
#include "row_batches.h"

#include <stdatomic.h>

#include "float_mode.h"
#include "short_row.h"
#include "team.h"

static size_t part_bytes(const struct plan *plan) {
    struct arena arena = arena_over(NULL);
    (void)topk_cpu_short_row_take(&arena, plan, plan->problem.length_max);
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
    const struct approximation *approximation;
    void *workspace;
    size_t part_bytes;
    int64_t batch;
    _Atomic int64_t next_row;
};

static void run_rows(struct job *job, int part) {
    const struct plan *plan = job->call->plan;
    struct arena arena = arena_part(job->workspace, (size_t)part, job->part_bytes);
    struct short_row buffers = topk_cpu_short_row_take(&arena, plan, plan->problem.length_max);
    const int64_t rows = plan->problem.rows;
    for (;;) {
        const int64_t first = atomic_fetch_add_explicit(&job->next_row, job->batch, memory_order_relaxed);
        if (first >= rows) {
            return;
        }
        const int64_t end = rows - first < job->batch ? rows : first + job->batch;
        for (int64_t row = first; row < end; row++) {
            topk_cpu_short_row_run(job->call, job->kernels, job->matcher, job->approximation, row,
                                   plan_row(plan, &job->call->input, row), &buffers);
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

double topk_cpu_row_batches_cost_us(const topk_context *context, const struct plan *plan) {
    const double alone = 0.08 * (double)plan->problem.rows + 0.0006 * (double)plan->input_elements;
    return 1.0 + alone / context->threads;
}

size_t topk_cpu_row_batches_bytes(const topk_context *context, const struct plan *plan) {
    struct arena arena = arena_over(NULL);
    (void)arena_take(&arena, (size_t)threads_for(context, plan), part_bytes(plan));
    return arena_bytes(&arena);
}

void topk_cpu_row_batches_run(const struct call *call, const struct approximation *approximation) {
    const struct plan *plan = call->plan;
    const int64_t length = plan->problem.length_max;
    struct matcher matcher;
    struct job job = {.call = call,
                      .kernels = topk_cpu_kernels_for(call->context, plan->element_bits),
                      .matcher = topk_cpu_matcher_if_any(call, &matcher),
                      .approximation = approximation,
                      .workspace = arena_over(call->workspace).base,
                      .part_bytes = part_bytes(plan),
                      .batch = length < BATCH_ELEMENTS ? BATCH_ELEMENTS / (length > 0 ? length : 1) : 1};
    const int useful = team_size(topk_context_threads(call->context), plan->input_elements);
    const int most = threads_for(call->context, plan);
    topk_cpu_team_run(call->context, useful < most ? useful : most, run_part, &job);
}
