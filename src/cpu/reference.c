/* SPDX-License-Identifier: Apache-2.0
 * The reference method: serves every problem of select and kth, with a predicate or without, with little
 * memory and no tricks.
 *
 * A heap of the k best, worst on top, over (key, position); the elements of a row pass by in
 * position order, so that an element which only ties with the worst never enters. The heap is then
 * sorted in place. O(n log k) time, 16 bytes for each of the k. */
#include "methods.h"

#include "matcher.h"
#include "output.h"
#include "team.h"

struct entry {
    uint64_t key;
    int64_t position;
};

/* a ranks behind b. */
static bool worse(const struct entry *a, const struct entry *b) {
    return a->key != b->key ? a->key < b->key : a->position > b->position;
}

/* Restores the heap below `at`, where an entry may be better than its children. */
static void sift_down(struct entry *heap, size_t count, size_t at) {
    const struct entry moving = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && worse(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!worse(&heap[child], &moving)) {
            break;
        }
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static void make_heap(struct entry *heap, size_t count) {
    for (size_t at = count / 2; at-- > 0;) {
        sift_down(heap, count, at);
    }
}

/* Best first: the worst of the heap goes last. */
static void sort_heap(struct entry *heap, size_t count) {
    while (count > 1) {
        const struct entry worst = heap[0];
        heap[0] = heap[--count];
        heap[count] = worst;
        sift_down(heap, count, 0);
    }
}

/* By position. */
static void sort_positions(struct entry *heap, size_t count) {
    for (size_t i = 0; i < count; i++) {
        heap[i].key = 0;
    }
    make_heap(heap, count);
    sort_heap(heap, count);
}

/* The k best of a row, or of its elements that match, as a heap. Returns how many there are: k, or all. */
static size_t gather(const struct call *call, struct row_extent row, size_t k, const struct matcher *matcher,
                     struct entry *heap) {
    const struct plan *plan = call->plan;
    size_t count = 0;
    for (int64_t i = 0; i < row.length && k > 0; i++) {
        if (matcher != NULL && !topk_cpu_matcher_matches(matcher, (size_t)(row.begin + i))) {
            continue;
        }
        const uint64_t bits = read_element(call->input.values, row.begin + i, plan->element_bytes);
        const struct entry entry = {topk_key_encode(bits, plan->element_bits, &plan->map), i};
        if (count < k) {
            heap[count++] = entry;
            if (count == k) {
                make_heap(heap, k);
            }
        } else if (worse(&heap[0], &entry)) {
            heap[0] = entry;
            sift_down(heap, k, 0);
        }
    }
    if (count < k) {
        make_heap(heap, count);
    }
    return count;
}

static void select_row(const struct call *call, int64_t row, const struct matcher *matcher,
                       struct entry *heap) {
    const struct plan *plan = call->plan;
    const struct row_extent extent = plan_row(plan, &call->input, row);
    const int64_t wanted = plan_row_k(plan, &call->input, row);
    const size_t most = (size_t)(wanted < extent.length ? wanted : extent.length);
    const size_t k = gather(call, extent, most, matcher, heap);
    if (plan->problem.order == TOPK_ORDER_BY_POSITION) {
        sort_positions(heap, k);
    } else {
        sort_heap(heap, k);
    }
    for (size_t i = 0; i < k; i++) {
        topk_cpu_write_result(call, row * plan->problem.k_max + (int64_t)i, extent.begin, heap[i].position);
    }
    topk_cpu_write_padding(call, row, k);
}

/* Two passes: the k-th key from a heap, then the counts above it and in its class. Where there is no k-th,
 * the heap holds all that could be it. */
static void kth_row(const struct call *call, int64_t row, const struct matcher *matcher, struct entry *heap) {
    const struct plan *plan = call->plan;
    const struct row_extent extent = plan_row(plan, &call->input, row);
    const int64_t k = plan_row_k(plan, &call->input, row);
    const size_t found = gather(call, extent, (size_t)(k < extent.length ? k : extent.length), matcher, heap);
    struct kth kth = {0, 0, 0};
    if (k == 0 || found < (size_t)k) {
        topk_cpu_write_kth_padding(call, row, k, (int64_t)found);
        return;
    }
    for (int64_t i = 0; i < extent.length; i++) {
        if (matcher != NULL && !topk_cpu_matcher_matches(matcher, (size_t)(extent.begin + i))) {
            continue;
        }
        const uint64_t bits = read_element(call->input.values, extent.begin + i, plan->element_bytes);
        const uint64_t key = topk_key_encode(bits, plan->element_bits, &plan->map);
        kth.above += key > heap[0].key;
        kth.equal += key == heap[0].key;
    }
    kth.key = heap[0].key;
    topk_cpu_write_kth(call, row, &kth);
}

struct own {
    size_t entries; /* of a heap: k_max, or the longest row */
    size_t all;     /* entries of all heaps */
    int threads;    /* at most; each has a heap */
};

struct job {
    const struct call *call;
    const struct own *own;
    const struct matcher *matcher; /* NULL: without a predicate */
    struct entry *heaps;           /* one after the other */
};

static void kth_ranks(const struct call *call, int64_t row, const struct matcher *matcher,
                      struct entry *heap) {
    for (int64_t rank = 0; rank < call->plan->ranks; rank++) {
        const struct call one = topk_cpu_rank_call(call, rank);
        kth_row(&one, row, matcher, heap);
    }
}

static void run_share(void *argument, int part, int parts) {
    const struct job *job = argument;
    const struct call *call = job->call;
    const size_t entries = job->own->entries;
    struct entry *heap = entries == 0 ? NULL : job->heaps + (size_t)part * entries;
    const size_t rows = (size_t)call->plan->problem.rows;
    for (size_t row = share(rows, part, parts); row < share(rows, part + 1, parts); row++) {
        struct matcher own;
        const struct matcher *matcher = topk_cpu_matcher_at(call, job->matcher, (int64_t)row, &own);
        if (operation_is_kth(call->plan->operation)) {
            kth_ranks(call, (int64_t)row, matcher, heap);
        } else {
            select_row(call, (int64_t)row, matcher, heap);
        }
    }
}

static double alone_us(const struct plan *plan) {
    return (0.1 * (double)plan->problem.rows + 0.007 * (double)plan->input_elements) * (double)plan->ranks;
}

static double least_us(const topk_context *context, const struct plan *plan) {
    return 2.0 + alone_us(plan) / context->threads;
}

static void plan_reference(const topk_context *context, const struct plan *plan, struct room *room,
                           struct decision *decision) {
    const topk_problem *p = &plan->problem;
    const size_t entries = (size_t)(p->k_max < p->length_max ? p->k_max : p->length_max);
    const int threads =
        threads_within_limit(plan, threads_for_rows(context, plan), entries * sizeof(struct entry));
    struct own *own = topk_room_take(room, sizeof *own);
    struct arena arena = arena_over(NULL);
    *own = (struct own){.entries = entries, .threads = team_size(threads, plan->input_elements)};
    if (__builtin_mul_overflow(entries, (size_t)threads, &own->all)) {
        own->all = SIZE_MAX;
    }
    (void)arena_take(&arena, own->all, sizeof(struct entry));
    decision->own = own;
    decision->cost_us = 2.0 + alone_us(plan) / (threads > 0 ? threads : 1);
    decision->workspace_bytes = arena_bytes(&arena);
}

static int run(const struct call *call) {
    const struct own *own = call->decision->own;
    struct arena arena = arena_over(call->workspace);
    struct matcher matcher;
    struct job job = {.call = call,
                      .own = own,
                      .matcher = topk_cpu_matcher_if_any(call, &matcher),
                      .heaps = arena_take(&arena, own->all, sizeof(struct entry))};
    topk_cpu_team_run(call->context, threads_here(call->context, own->threads), run_share, &job);
    return 0;
}

const struct method topk_cpu_reference = {.name = "reference",
                                          .operations = SELECTS_KTH_WHERE,
                                          .least_us = least_us,
                                          .plan = plan_reference,
                                          .run = run};
