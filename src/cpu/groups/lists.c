/* SPDX-License-Identifier: Apache-2.0
 * One pass over the elements. Each thread reads a part of them and keeps, for each group, a list of
 * candidates and the least key that it still needs. Most elements are compared with that key and are done.
 *
 * A list has room for k candidates and as many again. When it is full its k best stay, and the worst of them
 * tells what is needed from then on: a key above it, since ties go to lower positions, which have been seen.
 * So however the elements lie, each candidate costs a constant on average. In the end a group's lists are
 * joined.
 *
 *     needed    a key for each group, and one that no element meets for those that belong to none
 *     filled    candidates in each list
 *     members   elements of each group, where the caller asks for them
 *     lists     for each group `list` candidates
 *     scratch   for a list on its way */
#include "groups.h"

#include "../../reached.h"
#include "../kernels/kernels.h"
#include "../output.h"
#include "../team.h"
#include "candidates.h"

struct lists {
    size_t groups, list;
    uint64_t *needed;
    uint64_t *filled;
    int64_t *members;
    struct group_candidate *candidates;
    void *keys; /* of a tile */
    struct group_scratch scratch;
};

struct job {
    const struct call *call;
    const struct group_lists_plan *own;
    const struct kernels *kernels;
    struct lists *lists; /* of each part */
    void *workspace;
    int parts;
};

static struct lists take_lists(struct arena *arena, const struct plan *plan,
                               const struct group_lists_plan *own) {
    const size_t groups = (size_t)plan->problem.rows;
    struct lists lists = {.groups = groups, .list = own->list};
    const size_t list_bytes = own->list * sizeof *lists.candidates;
    lists.needed = arena_take(arena, groups + 1, sizeof *lists.needed);
    lists.filled = arena_take(arena, groups, sizeof *lists.filled);
    lists.members = arena_take(arena, groups + 1, sizeof *lists.members);
    lists.candidates = arena_take(arena, groups, list_bytes);
    lists.scratch.candidates = arena_take(arena, own->list, sizeof *lists.candidates);
    lists.keys = arena_take(arena, own->tile, plan->element_bytes);
    return lists;
}

static size_t k_of(const struct call *call, size_t group, const struct group_lists_plan *own) {
    const size_t k = (size_t)plan_row_k(call->plan, &call->input, (int64_t)group);
    return k < own->k ? k : own->k;
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* Makes room in a full list. */
static void shorten(const struct job *job, struct lists *lists, size_t group) {
    const size_t k = k_of(job->call, group, job->own);
    struct group_candidate *list = lists->candidates + group * lists->list;
    uint64_t worst = UINT64_MAX;
    TOPK_REACHED(REACHED_GROUP_LIST_FULL);
    topk_cpu_group_keep(list, lists->list, k, &lists->scratch);
    for (size_t i = 0; i < k; i++) {
        worst = list[i].key < worst ? list[i].key : worst;
    }
    lists->needed[group] = worst == UINT64_MAX ? worst : worst + 1; /* what ties with it then does no harm */
    lists->filled[group] = k;
}

/* Takes an element that has the needed key, unless it belongs to no group, or its group has no results. */
static __attribute__((noinline)) void take(const struct job *job, struct lists *lists, size_t group,
                                           uint64_t key, size_t position) {
    if (group == lists->groups || lists->list == 0) {
        return;
    }
    if (lists->filled[group] == lists->list) {
        shorten(job, lists, group);
        if (key < lists->needed[group]) {
            return;
        }
    }
    lists->candidates[group * lists->list + lists->filled[group]++] =
        (struct group_candidate){key, (int64_t)position};
}

/* The elements of a tile. What does not change within it is constant in each copy of this loop. */
static inline __attribute__((always_inline)) void scan(const struct job *job, struct lists *lists,
                                                       size_t first, size_t count, size_t bytes, bool is_wide,
                                                       bool counts) {
    const void *const numbers = job->call->input.groups, *const keys = lists->keys;
    const uint64_t *const needed = lists->needed;
    int64_t *const members = lists->members;
    const size_t groups = lists->groups;
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = read_element(keys, (int64_t)i, bytes);
        const size_t group = group_of(numbers, is_wide, first + i, groups);
        if (counts) {
            members[group]++;
        }
        if (key >= needed[group]) {
            take(job, lists, group, key, first + i);
        }
    }
}

static inline __attribute__((always_inline)) void scan_keys(const struct job *job, struct lists *lists,
                                                            size_t first, size_t count, size_t bytes) {
    const bool is_wide = job->call->plan->extent_bytes == 8;
    if (job->call->counts != NULL) {
        is_wide ? scan(job, lists, first, count, bytes, true, true)
                : scan(job, lists, first, count, bytes, false, true);
    } else {
        is_wide ? scan(job, lists, first, count, bytes, true, false)
                : scan(job, lists, first, count, bytes, false, false);
    }
}

static void scan_tile(const struct job *job, struct lists *lists, size_t first, size_t count) {
    const struct plan *plan = job->call->plan;
    job->kernels->encode((const char *)job->call->input.values + first * plan->element_bytes, count,
                         &plan->map, lists->keys);
    switch (plan->element_bytes) {
    case 1:
        scan_keys(job, lists, first, count, 1);
        break;
    case 2:
        scan_keys(job, lists, first, count, 2);
        break;
    case 4:
        scan_keys(job, lists, first, count, 4);
        break;
    default:
        scan_keys(job, lists, first, count, 8);
    }
}

static void clear(struct lists *lists, bool counts) {
    memset(lists->needed, lists->list == 0 ? 0xff : 0, lists->groups * sizeof *lists->needed);
    lists->needed[lists->groups] = UINT64_MAX;
    if (lists->groups > 0) {
        memset(lists->filled, 0, lists->groups * sizeof *lists->filled);
    }
    if (counts) {
        memset(lists->members, 0, (lists->groups + 1) * sizeof *lists->members);
    }
}

static void run_part(void *argument, int part, int parts) {
    const struct job *job = argument;
    const struct plan *plan = job->call->plan;
    const size_t n = plan->input_elements, end = share(n, part + 1, parts), tile = job->own->tile;
    struct arena arena = arena_part(job->workspace, (size_t)part, job->own->part_bytes);
    struct lists *const lists = &job->lists[part];
    *lists = take_lists(&arena, plan, job->own);
    lists->scratch.random = job->call->context->seed + (uint64_t)part;
    clear(lists, job->call->counts != NULL);
    for (size_t first = share(n, part, parts); first < end; first += tile) {
        scan_tile(job, lists, first, end - first < tile ? end - first : tile);
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

/* The k best of a list come first. Returns how many they are. */
static size_t cut(struct group_candidate *list, size_t filled, size_t k, struct group_scratch *scratch) {
    topk_cpu_group_keep(list, filled, k, scratch);
    return filled < k ? filled : k;
}

/* Joins the lists of a group in the first one, which has room for the k best of two. */
static size_t join(const struct job *job, size_t group, size_t k, struct group_scratch *scratch) {
    const size_t at = group * job->lists[0].list;
    struct group_candidate *const best = job->lists[0].candidates + at;
    size_t count = cut(best, job->lists[0].filled[group], k, scratch);
    for (int part = 1; part < job->parts; part++) {
        struct group_candidate *const list = job->lists[part].candidates + at;
        const size_t kept = cut(list, job->lists[part].filled[group], k, scratch);
        memcpy(best + count, list, kept * sizeof *best);
        count = cut(best, count + kept, k, scratch);
    }
    return count;
}

static void finish_group(const struct job *job, size_t group, struct group_scratch *scratch) {
    const struct call *call = job->call;
    const int64_t first = (int64_t)group * call->plan->problem.k_max;
    size_t count = 0;
    if (job->own->list > 0) {
        struct group_candidate *const best = job->lists[0].candidates + group * job->own->list;
        count = join(job, group, k_of(call, group, job->own), scratch);
        if (call->plan->problem.order == TOPK_ORDER_BY_POSITION) {
            for (size_t i = 0; i < count; i++) {
                best[i].key = 0; /* so that positions decide */
            }
        }
        topk_cpu_group_sort(best, count, scratch);
        for (size_t i = 0; i < count; i++) {
            topk_cpu_write_result(call, first + (int64_t)i, 0, best[i].position);
        }
    }
    topk_cpu_write_padding(call, (int64_t)group, count);
    if (call->counts != NULL) {
        int64_t members = 0;
        for (int part = 0; part < job->parts; part++) {
            members += job->lists[part].members[group];
        }
        call->counts[group] = members;
    }
}

static void finish_part(void *argument, int part, int parts) {
    const struct job *job = argument;
    const size_t groups = (size_t)job->call->plan->problem.rows, end = share(groups, part + 1, parts);
    struct group_scratch *const scratch = &job->lists[part].scratch;
    for (size_t group = share(groups, part, parts); group < end; group++) {
        finish_group(job, group, scratch);
    }
}

/* ---- The way --------------------------------------------------------------------------------- */

static struct job take_job(struct arena *arena, const struct group_lists_plan *own) {
    return (struct job){.own = own,
                        .lists = arena_take(arena, (size_t)own->threads, sizeof(struct lists)),
                        .workspace = arena_take(arena, (size_t)own->threads, own->part_bytes)};
}

static size_t bytes_of(const struct group_lists_plan *own) {
    struct arena arena = arena_over(NULL);
    (void)take_job(&arena, own);
    return arena_bytes(&arena);
}

void topk_cpu_group_lists_plan(const topk_context *context, const struct plan *plan, size_t limit,
                               struct group_lists_plan *own) {
    const topk_problem *p = &plan->problem;
    struct arena part = arena_over(NULL);
    own->k = (size_t)(p->k_max < p->length_max ? p->k_max : p->length_max);
    own->list = own->k == 0 ? 0 : own->k + (own->k > LIST_SPARE_MIN ? own->k : LIST_SPARE_MIN);
    own->tile = plan->input_elements < TILE_KEYS ? plan->input_elements : TILE_KEYS;
    (void)take_lists(&part, plan, own);
    own->part_bytes = part.used;
    own->threads = team_size(context->threads, plan->input_elements);
    while ((own->bytes = bytes_of(own)) > limit && own->threads > 1) {
        own->threads /= 2;
    }
}

void topk_cpu_group_lists_run(const struct call *call, const struct group_lists_plan *own) {
    struct arena arena = arena_over(call->workspace);
    struct job job = take_job(&arena, own);
    job.call = call;
    job.kernels = topk_cpu_kernels_for(call->context, call->plan->element_bits);
    job.parts = threads_here(call->context, own->threads);
    topk_cpu_team_run(call->context, job.parts, run_part, &job);
    topk_cpu_team_run(call->context, job.parts, finish_part, &job);
}
