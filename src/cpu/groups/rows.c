/* SPDX-License-Identifier: Apache-2.0
 * The elements of each group become a row of their own, in the order in which they lie: each thread counts
 * the groups of its part, these counts tell where its elements go, and a selection over the rows does the
 * rest. What is written as an element's index goes with it.
 *
 *     values, indices  of all elements, group by group
 *     offsets          groups + 1: where rows begin
 *     places           for each thread and group, where the thread's next element of the group goes
 *     k                of each group, where the caller gives it
 *     inner            the selection's workspace */
#include "groups.h"

#include "../../reached.h"
#include "../output.h"
#include "../team.h"

struct job {
    const struct call *call;
    size_t groups;
    void *values, *indices;
    int64_t *offsets, *places, *k;
    void *inner;
};

static struct job take_job(struct arena *arena, const struct plan *plan, const struct group_rows_plan *own) {
    const size_t groups = (size_t)plan->problem.rows, n = plan->input_elements;
    struct job job = {.groups = groups};
    job.values = arena_take(arena, n, plan->element_bytes);
    job.indices = arena_take(arena, n, plan->index_bytes);
    job.offsets = arena_take(arena, groups + 1, sizeof *job.offsets);
    job.places = arena_take(arena, groups + 1, (size_t)own->threads * sizeof *job.places);
    job.k = arena_take(arena, groups, sizeof *job.k);
    job.inner = arena_take(arena, own->inner.decision.workspace_bytes, 1);
    return job;
}

/* Elements of no group count in a place of their own, and go nowhere. */
static int64_t *places_of(const struct job *job, int part) {
    return job->places + (size_t)part * (job->groups + 1);
}

static void count_part(void *argument, int part, int parts) {
    const struct job *job = argument;
    const size_t n = job->call->plan->input_elements, end = share(n, part + 1, parts);
    const void *const numbers = job->call->input.groups;
    int64_t *const places = places_of(job, part);
    memset(places, 0, (job->groups + 1) * sizeof *places);
    if (job->call->plan->extent_bytes == 8) {
        for (size_t i = share(n, part, parts); i < end; i++) {
            places[group_of(numbers, true, i, job->groups)]++;
        }
    } else {
        for (size_t i = share(n, part, parts); i < end; i++) {
            places[group_of(numbers, false, i, job->groups)]++;
        }
    }
}

/* Counts become places. */
static void place(const struct job *job, int parts) {
    int64_t next = 0;
    for (size_t group = 0; group < job->groups; group++) {
        job->offsets[group] = next;
        for (int part = 0; part < parts; part++) {
            int64_t *const at = places_of(job, part) + group;
            const int64_t count = *at;
            *at = next;
            next += count;
        }
        if (job->call->counts != NULL) {
            job->call->counts[group] = next - job->offsets[group];
        }
    }
    job->offsets[job->groups] = next;
}

static inline __attribute__((always_inline)) void move(const struct job *job, int64_t *places, size_t begin,
                                                       size_t end, size_t bytes, size_t index_bytes,
                                                       bool is_wide) {
    const topk_input *input = &job->call->input;
    const int64_t base = job->call->plan->problem.index_base;
    for (size_t i = begin; i < end; i++) {
        const size_t group = group_of(input->groups, is_wide, i, job->groups);
        if (group == job->groups) {
            continue;
        }
        const int64_t at = places[group]++, from = (int64_t)i;
        store_element(job->values, at, bytes, read_element(input->values, from, bytes));
        store_element(job->indices, at, index_bytes,
                      input->indices != NULL ? read_element(input->indices, from, index_bytes)
                                             : (uint64_t)(from + base));
    }
}

static inline __attribute__((always_inline)) void move_elements(const struct job *job, int64_t *places,
                                                                size_t begin, size_t end, size_t bytes) {
    const bool is_wide = job->call->plan->extent_bytes == 8;
    if (job->call->plan->index_bytes == 8) {
        is_wide ? move(job, places, begin, end, bytes, 8, true)
                : move(job, places, begin, end, bytes, 8, false);
    } else {
        is_wide ? move(job, places, begin, end, bytes, 4, true)
                : move(job, places, begin, end, bytes, 4, false);
    }
}

static void move_part(void *argument, int part, int parts) {
    const struct job *job = argument;
    const size_t n = job->call->plan->input_elements;
    const size_t begin = share(n, part, parts), end = share(n, part + 1, parts);
    int64_t *const places = places_of(job, part);
    switch (job->call->plan->element_bytes) {
    case 1:
        move_elements(job, places, begin, end, 1);
        break;
    case 2:
        move_elements(job, places, begin, end, 2);
        break;
    case 4:
        move_elements(job, places, begin, end, 4);
        break;
    default:
        move_elements(job, places, begin, end, 8);
    }
}

/* Rows of all elements at most, and k as wide as their offsets. */
static topk_problem problem_of_rows(const struct plan *plan) {
    topk_problem p = plan->problem;
    p.shape = TOPK_SHAPE_CSR;
    p.elements_max = p.length_max;
    p.row_stride = 0;
    p.extent_type = TOPK_INDEX_I64;
    p.index_base = 0;
    p.workspace_limit = 0;
    p.method = p.tuning = NULL;
    return p;
}

topk_status topk_cpu_group_rows_plan(const topk_context *context, const struct plan *plan, size_t limit,
                                     struct room *room, struct group_rows_plan *own) {
    const topk_problem p = problem_of_rows(plan);
    const topk_status status = topk_subcall_choose(context, TOPK_OPERATION_SELECT, &p, room, &own->inner);
    own->threads = team_size(context->threads, plan->input_elements);
    while (own->threads > 1 && plan->input_elements / (size_t)own->threads < (size_t)p.rows) {
        own->threads /= 2; /* counters would be more than elements */
    }
    for (own->bytes = SIZE_MAX; status == TOPK_OK; own->threads /= 2) {
        struct arena arena = arena_over(NULL);
        (void)take_job(&arena, plan, own);
        own->bytes = arena_bytes(&arena);
        if (own->bytes <= limit || own->threads == 1) {
            break;
        }
    }
    return status;
}

int topk_cpu_group_rows_run(const struct call *call, const struct group_rows_plan *own) {
    const topk_context *context = call->context;
    const int parts = threads_here(context, own->threads);
    struct arena arena = arena_over(call->workspace);
    struct job job = take_job(&arena, call->plan, own);
    job.call = call;
    TOPK_REACHED(REACHED_GROUP_ROWS);
    topk_cpu_team_run(context, parts, count_part, &job);
    place(&job, parts);
    topk_cpu_team_run(context, parts, move_part, &job);
    struct call inner = topk_subcall_call(call, &own->inner, job.inner);
    inner.input = (topk_input){.values = job.values, .indices = job.indices, .offsets = job.offsets};
    inner.counts = NULL;
    if (call->input.k != NULL) {
        for (size_t group = 0; group < job.groups; group++) {
            job.k[group] = plan_row_k(call->plan, &call->input, (int64_t)group);
        }
        inner.input.k = job.k;
    }
    return own->inner.decision.run(&inner);
}
