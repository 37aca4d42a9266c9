/* SPDX-License-Identifier: Apache-2.0
 * The method for long rows: which rows the whole team shares and which a thread takes alone, and the
 * workspace for both. row.c does one row. */
#include "../methods.h"

#include <stdatomic.h>

#include "../short_row.h"
#include "../team.h"
#include "row.h"

/* Rows of at least `shared_length` elements are done one after the other, each by the team; shorter
 * ones by one thread each, side by side. The pool is left out where it would exceed the bound. */
struct setup {
    int64_t shared_length;
    int team;    /* threads that share a row */
    int members; /* threads that take rows alone */
    bool pooled;
    size_t member_bytes, team_bytes;
};

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t alone_cap(const struct plan *plan, const struct setup *setup) {
    return smaller(plan->problem.length_max, setup->shared_length - 1);
}

static void measure(const struct plan *plan, struct setup *setup) {
    struct arena arena = arena_over(NULL);
    (void)topk_cpu_scratch_take(&arena, plan, 1, alone_cap(plan, setup), setup->pooled);
    setup->member_bytes = arena.used;
    arena = arena_over(NULL);
    if (plan->problem.length_max >= setup->shared_length) {
        (void)topk_cpu_scratch_take(&arena, plan, setup->team, plan->problem.length_max, setup->pooled);
    }
    setup->team_bytes = arena.used;
}

/* The team is done with the workspace before the members begin. */
static size_t total_bytes(const struct setup *setup) {
    struct arena members = arena_over(NULL), team = arena_over(NULL);
    (void)arena_take(&members, (size_t)setup->members, setup->member_bytes);
    (void)arena_take(&team, 1, setup->team_bytes);
    return arena_bytes(members.used > team.used ? &members : &team);
}

/* Measures and, where that is too much, lets fewer threads take rows alone. False if one is too many. */
static bool fits(const struct plan *plan, struct setup *setup, size_t limit) {
    measure(plan, setup);
    while (total_bytes(setup) > limit && setup->members > 1) {
        setup->members /= 2;
    }
    return total_bytes(setup) <= limit;
}

/* One thread shares nothing: all rows are its own. A row is shared by no more threads than it has
 * tiles. */
static struct setup set_up(const topk_context *context, const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const size_t limit = plan_workspace_limit(plan);
    const int members = threads_for_rows(context, plan);
    struct setup setup = {.members = members, .pooled = true};
    setup.shared_length = context->threads == 1             ? INT64_MAX
                          : p->rows >= 2 * context->threads ? SPLIT_ROW_MIN
                                                            : TEAM_ROW_MIN;
    setup.team = (int)smaller(context->threads, p->length_max / TILE + 1);
    if (!fits(plan, &setup, limit)) {
        setup.pooled = false;
        setup.members = members;
        (void)fits(plan, &setup, limit);
    }
    return setup;
}

struct job {
    const struct call *call;
    const struct kernels *kernels;
    const struct matcher *matcher; /* of select_where, or NULL */
    const struct setup *setup;
    void *members_workspace;
    _Atomic int64_t next_row;
};

static void run_row(const struct job *job, int64_t row, struct row_extent extent, struct scratch *scratch) {
    if (extent.length <= SHORT_ROW_MAX) {
        topk_cpu_short_row_run(job->call, job->kernels, job->matcher, NULL, row, extent, &scratch->short_row);
    } else {
        topk_cpu_bracket_row(job->call, job->kernels, job->matcher, row, extent, scratch);
    }
}

static void run_alone(void *argument, int part, int parts) {
    struct job *job = argument;
    const struct plan *plan = job->call->plan;
    struct arena arena = arena_part(job->members_workspace, (size_t)part, job->setup->member_bytes);
    struct scratch scratch =
        topk_cpu_scratch_take(&arena, plan, 1, alone_cap(plan, job->setup), job->setup->pooled);
    (void)parts;
    for (;;) {
        const int64_t row = atomic_fetch_add_explicit(&job->next_row, 1, memory_order_relaxed);
        if (row >= plan->problem.rows) {
            return;
        }
        const struct row_extent extent = plan_row(plan, &job->call->input, row);
        if (extent.length < job->setup->shared_length) {
            run_row(job, row, extent, &scratch);
        }
    }
}

static void run_shared(const struct job *job, struct arena *arena, int available) {
    const struct plan *plan = job->call->plan;
    struct scratch scratch =
        topk_cpu_scratch_take(arena, plan, job->setup->team, plan->problem.length_max, job->setup->pooled);
    scratch.threads = available < scratch.threads ? available : scratch.threads;
    for (int64_t row = 0; row < plan->problem.rows; row++) {
        const struct row_extent extent = plan_row(plan, &job->call->input, row);
        if (extent.length >= job->setup->shared_length) {
            run_row(job, row, extent, &scratch);
        }
    }
}

static const char *refuse(const topk_context *context, const struct plan *plan) {
    (void)context;
    const int64_t slots = (int64_t)topk_cpu_bracket_slots(plan, plan->problem.length_max);
    return slots >= UINT32_MAX - POOL_SLACK - plan->problem.length_max / POOL_SHARE
               ? "its slots cannot number so many candidates"
               : NULL;
}

static double cost_us(const topk_context *context, const struct plan *plan) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    const double counting = set_up(context, plan).pooled ? 0.0 : 0.0015 * (double)plan->input_elements;
    return 20.0 + (0.5 * (double)plan->problem.rows + bytes / 2e4 + counting) / context->threads;
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    const struct setup setup = set_up(context, plan);
    return total_bytes(&setup);
}

static int run(const struct call *call) {
    const struct plan *plan = call->plan;
    const struct setup setup = set_up(call->context, plan);
    const int available = topk_context_threads(call->context);
    struct matcher matcher;
    struct job job = {.call = call,
                      .kernels = topk_cpu_kernels_for(call->context, plan->element_bits),
                      .matcher = topk_cpu_matcher_if_any(call, &matcher),
                      .setup = &setup,
                      .members_workspace = arena_over(call->workspace).base};
    if (plan->problem.length_max >= setup.shared_length) {
        struct arena team = arena_over(call->workspace);
        run_shared(&job, &team, available);
    }
    const int useful = team_size(available, plan->input_elements);
    topk_cpu_team_run(call->context, useful < setup.members ? useful : setup.members, run_alone, &job);
    return 0;
}

const struct method topk_cpu_bracket = {.name = "bracket",
                                        .operations = SELECTS_WHERE,
                                        .refuse = refuse,
                                        .cost_us = cost_us,
                                        .workspace_bytes = workspace_bytes,
                                        .run = run};
