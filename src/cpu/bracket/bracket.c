/* SPDX-License-Identifier: Apache-2.0
 * The method for long rows: which rows the whole team shares and which a thread takes alone, and the
 * workspace for both. row.c does one row. */
#include "../methods.h"

#include <stdatomic.h>

#include "../short_row.h"
#include "../team.h"
#include "ranks.h"
#include "row.h"

/* Rows of at least `shared_length` elements are done one after the other, each by the team; shorter
 * ones by one thread each, side by side. The pool is left out where it would exceed the bound. */
struct own {
    int64_t shared_length;
    int members; /* threads that take rows alone */
    bool shares; /* there may be rows that the team shares */
    bool pooled;
    struct scratch_sizes alone, team;
    size_t member_bytes, team_bytes;
};

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static size_t scratch_bytes(const struct scratch_sizes *sizes) {
    struct arena arena = arena_over(NULL);
    (void)topk_cpu_scratch_take(&arena, sizes);
    return arena.used;
}

/* A row is shared by no more threads than it has tiles. */
static void measure(const topk_context *context, const struct plan *plan, struct own *own) {
    const int64_t length = plan->problem.length_max;
    own->alone = topk_cpu_scratch_sizes(plan, 1, smaller(length, own->shared_length - 1), own->pooled);
    own->member_bytes = scratch_bytes(&own->alone);
    own->team_bytes = 0;
    if (own->shares) {
        own->team = topk_cpu_scratch_sizes(plan, (int)smaller(context->threads, length / TILE + 1), length,
                                           own->pooled);
        own->team_bytes = scratch_bytes(&own->team);
    }
}

/* The team is done with the workspace before the members begin. */
static size_t total_bytes(const struct own *own) {
    struct arena members = arena_over(NULL), team = arena_over(NULL);
    (void)arena_take(&members, (size_t)own->members, own->member_bytes);
    (void)arena_take(&team, 1, own->team_bytes);
    return arena_bytes(members.used > team.used ? &members : &team);
}

/* Measures and, where that is too much, lets fewer threads take rows alone. Returns the bytes, which may be
 * too many even so. */
static size_t fit(const topk_context *context, const struct plan *plan, size_t limit, struct own *own) {
    own->members = threads_for_rows(context, plan);
    measure(context, plan, own);
    size_t bytes = total_bytes(own);
    while (bytes > limit && own->members > 1) {
        own->members /= 2;
        bytes = total_bytes(own);
    }
    return bytes;
}

struct job {
    const struct call *call;
    const struct kernels *kernels;
    const struct matcher *matcher; /* or NULL */
    const struct own *own;
    void *members_workspace;
    _Atomic int64_t next_row;
};

/* One k of a row. */
static void run_once(const struct job *job, const struct call *call, int64_t row, struct row_extent extent,
                     struct scratch *scratch) {
    struct matcher own;
    const struct matcher *matcher = topk_cpu_matcher_at(call, job->matcher, row, &own);
    if (extent.length <= SHORT_ROW_MAX) {
        topk_cpu_short_row_run(call, job->kernels, matcher, NULL, row, extent, &scratch->short_row);
    } else {
        topk_cpu_bracket_row(call, job->kernels, matcher, row, extent, scratch);
    }
}

static void run_row(const struct job *job, int64_t row, struct row_extent extent, struct scratch *scratch) {
    const struct plan *plan = job->call->plan;
    if (plan->ranks == 1) {
        run_once(job, job->call, row, extent, scratch);
    } else if (extent.length > SHORT_ROW_MAX) {
        struct matcher own;
        const struct matcher *matcher = topk_cpu_matcher_at(job->call, job->matcher, row, &own);
        topk_cpu_bracket_ranks(job->call, job->kernels, matcher, row, extent, scratch);
    } else {
        for (int64_t rank = 0; rank < plan->ranks; rank++) {
            const struct call one = topk_cpu_rank_call(job->call, rank);
            run_once(job, &one, row, extent, scratch);
        }
    }
}

static void run_alone(void *argument, int part, int parts) {
    struct job *job = argument;
    const struct plan *plan = job->call->plan;
    struct arena arena = arena_part(job->members_workspace, (size_t)part, job->own->member_bytes);
    struct scratch scratch = topk_cpu_scratch_take(&arena, &job->own->alone);
    (void)parts;
    for (;;) {
        const int64_t row = atomic_fetch_add_explicit(&job->next_row, 1, memory_order_relaxed);
        if (row >= plan->problem.rows) {
            return;
        }
        const struct row_extent extent = plan_row(plan, &job->call->input, row);
        if (extent.length < job->own->shared_length) {
            run_row(job, row, extent, &scratch);
        }
    }
}

static void run_shared(const struct job *job) {
    const struct call *call = job->call;
    struct arena arena = arena_over(call->workspace);
    struct scratch scratch = topk_cpu_scratch_take(&arena, &job->own->team);
    scratch.threads = threads_here(call->context, scratch.threads);
    scratch.sort_threads = threads_here(call->context, scratch.sort_threads);
    for (int64_t row = 0; row < call->plan->problem.rows; row++) {
        const struct row_extent extent = plan_row(call->plan, &call->input, row);
        if (extent.length >= job->own->shared_length) {
            run_row(job, row, extent, &scratch);
        }
    }
}

static bool numbers_candidates(const struct plan *plan) {
    const int64_t length = plan->problem.length_max, slots = (int64_t)topk_cpu_bracket_slots(plan, length);
    return slots < UINT32_MAX - POOL_SLACK - length / POOL_SHARE;
}

/* `counting`: besides, what takes so long on one thread. */
static double cost_us(const topk_context *context, const struct plan *plan, double counting) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    return 20.0 + (0.5 * (double)plan->problem.rows + bytes / 2e4 + counting) / context->threads;
}

static double least_us(const topk_context *context, const struct plan *plan) {
    return cost_us(context, plan, 0.0);
}

/* One thread shares nothing: all rows are its own. */
static void plan_bracket(const topk_context *context, const struct plan *plan, struct room *room,
                         struct decision *decision) {
    const topk_problem *p = &plan->problem;
    const size_t limit = plan_workspace_limit(plan);
    if (!numbers_candidates(plan)) {
        decision->cannot = "its slots cannot number so many candidates";
        return;
    }
    struct own *own = topk_room_take(room, sizeof *own);
    own->shared_length = context->threads == 1             ? INT64_MAX
                         : p->rows >= 2 * context->threads ? SPLIT_ROW_MIN
                                                           : TEAM_ROW_MIN;
    own->shares = p->length_max >= own->shared_length;
    own->pooled = true;
    decision->workspace_bytes = fit(context, plan, limit, own);
    if (decision->workspace_bytes > limit) {
        own->pooled = false;
        decision->workspace_bytes = fit(context, plan, limit, own);
    }
    own->members = team_size(own->members, plan->input_elements);
    decision->own = own;
    decision->variant = own->pooled ? "pool" : "counts";
    decision->cost_us = cost_us(context, plan, own->pooled ? 0.0 : 0.0015 * (double)plan->input_elements);
}

static int run(const struct call *call) {
    const struct own *own = call->decision->own;
    struct matcher matcher;
    struct job job = {.call = call,
                      .kernels = topk_cpu_kernels_for(call->context, call->plan->element_bits),
                      .matcher = topk_cpu_matcher_if_any(call, &matcher),
                      .own = own,
                      .members_workspace = arena_over(call->workspace).base};
    if (own->shares) {
        run_shared(&job);
    }
    topk_cpu_team_run(call->context, threads_here(call->context, own->members), run_alone, &job);
    return 0;
}

const struct method topk_cpu_bracket = {.name = "bracket",
                                        .operations = SELECTS_KTH_WHERE,
                                        .least_us = least_us,
                                        .plan = plan_bracket,
                                        .run = run};
