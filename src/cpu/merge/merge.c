/* SPDX-License-Identifier: Apache-2.0
 * Merging of candidates (topk_merge.h). A row keeps the k best of the lists so far, best first. Candidates
 * that may be among them gather in a run, which is sorted unless its list is, and merged into them when it is
 * full.
 *
 * At most k candidates lie between two merges, and a merge ends at k entries. So a row of r lists takes r
 * merges of k entries if they are sorted; the workspace depends on k alone. */
#include "../methods.h"

#include "../output.h"
#include "../team.h"
#include "entries.h"

/* What is decided, once. */
struct own {
    size_t entries; /* of a buffer: k_max */
    size_t all;     /* of all buffers of all threads */
    int threads;    /* at most */
};

struct job {
    const struct call *call;
    const struct own *own;
    struct merge_entry *buffers; /* MERGE_BUFFERS of each thread */
};

/* A row at work. */
struct merge_row {
    const struct call *call;
    size_t k;
    struct merge_entry *best, *run, *other; /* a buffer each; they take turns */
    size_t best_count, run_count;
};

static int64_t read_index(const struct plan *plan, const void *indices, int64_t at) {
    return read_extent(indices, at, plan->problem.index_type);
}

/* The run joins the best. */
static void flush(struct merge_row *row) {
    const bool is_sorted = row->call->lists->sorted == TOPK_SORTED_BEST_FIRST;
    struct merge_entry *run =
        is_sorted ? row->run : topk_cpu_merge_sort(row->run, row->other, row->run_count);
    struct merge_entry *const free = run == row->run ? row->other : row->run, *const old = row->best;
    row->best_count = topk_cpu_merge_runs(row->best, row->best_count, run, row->run_count, free, row->k);
    row->best = free;
    row->run = run;
    row->other = old;
    row->run_count = 0;
}

/* Whether an entry may be among the k best; if so, it joins the run. */
static bool offer(struct merge_row *row, const struct merge_entry *entry) {
    if (row->best_count == row->k && !merge_before(entry, &row->best[row->k - 1])) {
        return false;
    }
    row->run[row->run_count++] = *entry;
    if (row->run_count == row->k) {
        flush(row);
    }
    return true;
}

/* False if an index is not allowed. */
static bool offer_list(struct merge_row *row, int64_t begin, int64_t length) {
    const struct call *call = row->call;
    const struct plan *plan = call->plan;
    const bool is_sorted = call->lists->sorted == TOPK_SORTED_BEST_FIRST;
    bool takes = row->k > 0;
    for (int64_t at = begin; at < begin + length; at++) {
        const int64_t index = read_index(plan, call->input.indices, at);
        if (index < MERGE_PADDING) {
            return false;
        }
        if (takes && index != MERGE_PADDING) {
            const uint64_t bits = read_element(call->input.values, at, plan->element_bytes);
            const struct merge_entry entry = {topk_key_encode(bits, plan->element_bits, &plan->map), index,
                                              at};
            takes = offer(row, &entry) || !is_sorted;
        }
    }
    if (is_sorted && row->run_count > 0) {
        flush(row);
    }
    return true;
}

static bool offer_lists(struct merge_row *row, int64_t number) {
    const struct call *call = row->call;
    const topk_problem *p = &call->plan->problem;
    for (int64_t list = 0; list < call->lists->lists; list++) {
        const int64_t length =
            call->input.lengths == NULL
                ? p->length_max
                : clamp_extent(read_extent(call->input.lengths, list * p->rows + number, p->extent_type),
                               p->length_max);
        if (!offer_list(row, list * call->lists->list_stride + number * p->row_stride, length)) {
            return false;
        }
    }
    if (row->run_count > 0) {
        flush(row);
    }
    return true;
}

static void store_index(const struct call *call, int64_t slot, int64_t index) {
    if (call->indices != NULL && call->plan->index_bytes == 4) {
        ((int32_t *)call->indices)[slot] = (int32_t)index;
    } else if (call->indices != NULL) {
        ((int64_t *)call->indices)[slot] = index;
    }
}

static void write_results(const struct call *call, int64_t slot, const struct merge_entry *best,
                          size_t count) {
    const size_t element_bytes = call->plan->element_bytes, bytes = (size_t)call->lists->payload_bytes;
    for (size_t i = 0; i < count; i++, slot++) {
        const int64_t at = best[i].at;
        store_index(call, slot, best[i].index);
        if (call->values != NULL) {
            store_element(call->values, slot, element_bytes,
                          read_element(call->input.values, at, element_bytes));
        }
        if (call->payload != NULL) {
            memcpy((char *)call->payload + (size_t)slot * bytes,
                   (const char *)call->lists->payload + (size_t)at * bytes, bytes);
        }
    }
}

static void merge_row(const struct job *job, int64_t number, struct merge_entry *buffers) {
    const struct call *call = job->call;
    const topk_problem *p = &call->plan->problem;
    const size_t entries = job->own->entries, bytes = (size_t)call->lists->payload_bytes;
    struct merge_row row = {.call = call,
                            .k = (size_t)plan_row_k(call->plan, &call->input, number),
                            .best = buffers,
                            .run = buffers + entries,
                            .other = buffers + 2 * entries};
    const int64_t slot = number * p->k_max;
    const bool is_valid = offer_lists(&row, number);
    const size_t count = is_valid ? row.best_count : 0;
    struct merge_entry *best = row.best;
    if (p->order == TOPK_ORDER_BY_POSITION) {
        for (size_t i = 0; i < count; i++) {
            best[i].key = 0; /* so that the index decides */
        }
        best = topk_cpu_merge_sort(best, row.other, count);
    }
    write_results(call, slot, best, count);
    topk_cpu_write_padding(call, number, count);
    for (int64_t i = 0; i < p->k_max && !is_valid; i++) {
        store_index(call, slot + i, MERGE_INVALID);
    }
    if (call->payload != NULL) {
        memset((char *)call->payload + ((size_t)slot + count) * bytes, 0, ((size_t)p->k_max - count) * bytes);
    }
}

static void run_share(void *argument, int part, int parts) {
    const struct job *job = argument;
    const size_t rows = (size_t)job->call->plan->problem.rows;
    struct merge_entry *buffers = job->buffers + (size_t)part * MERGE_BUFFERS * job->own->entries;
    for (size_t row = share(rows, part, parts); row < share(rows, part + 1, parts); row++) {
        merge_row(job, (int64_t)row, buffers);
    }
}

/* A model, not a fit: only this method merges. It knows nothing of how many lists there will be. */
static void plan_merge(const topk_context *context, const struct plan *plan, struct room *room,
                       struct decision *decision) {
    const topk_problem *p = &plan->problem;
    const size_t entries = (size_t)p->k_max;
    struct own *own = topk_room_take(room, sizeof *own);
    struct arena arena = arena_over(NULL);
    size_t each_bytes;
    if (__builtin_mul_overflow(entries, MERGE_BUFFERS * sizeof(struct merge_entry), &each_bytes)) {
        each_bytes = SIZE_MAX;
    }
    const int threads = threads_within_limit(plan, threads_for_rows(context, plan), each_bytes);
    *own = (struct own){.entries = entries, .threads = team_size(threads, plan->input_elements)};
    if (__builtin_mul_overflow(entries, (size_t)own->threads * MERGE_BUFFERS, &own->all)) {
        own->all = SIZE_MAX;
    }
    (void)arena_take(&arena, own->all, sizeof(struct merge_entry));
    decision->own = own;
    decision->cost_us = 1.0 + 0.01 * (double)plan->input_elements / (threads > 0 ? threads : 1);
    decision->workspace_bytes = arena_bytes(&arena);
}

static int run(const struct call *call) {
    const struct own *own = call->decision->own;
    struct arena arena = arena_over(call->workspace);
    struct job job = {
        .call = call, .own = own, .buffers = arena_take(&arena, own->all, sizeof(struct merge_entry))};
    topk_cpu_team_run(call->context, threads_here(call->context, own->threads), run_share, &job);
    return 0;
}

const struct method topk_cpu_merge = {
    .name = "merge", .operations = OPERATION_BIT(TOPK_OPERATION_MERGE), .plan = plan_merge, .run = run};
