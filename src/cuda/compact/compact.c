/* SPDX-License-Identifier: Apache-2.0
 * What a call of compact launches, and over which workspace. */
#include "../methods.h"

#include "../../reached.h"
#include "../../workspace.h"
#include "../leaf.h"
#include "../lookback.h"
#include "kernels.h"

enum { KNOB_ONE_PASS };

static const struct knob knobs[] = {
    [KNOB_ONE_PASS] = {"one_pass", KNOB_SWITCH, 0, 1, 1,
                       "where: 0 takes three phases, as published, on rows without gaps"},
    {.name = NULL},
};

struct buffers {
    uint64_t *tickets, *row_words, *words; /* zero before the first launch */
    size_t zeroed_bytes;
    int64_t word_count;
    struct match *match; /* of bounds that the device reads */
    int64_t *starts;
    int64_t *offsets;       /* count */
    uint32_t *masks;        /* mask, and three phases */
    uint32_t *chunk_counts; /* three phases */
    uint64_t *chunk_starts; /* three phases */
};

static const struct compact_kernels *const kernels[WIDTHS] = {
    &topk_cuda_compact_kernels_8, &topk_cuda_compact_kernels_16, &topk_cuda_compact_kernels_32,
    &topk_cuda_compact_kernels_64};

static const struct compact_kernels *kernels_of(const struct call *call) {
    switch (call->predicate->kind) {
    case TOPK_BYTE_MASK:
        return &topk_cuda_compact_kernels_8;
    case TOPK_BIT_MASK:
        return &topk_cuda_compact_kernels_bits;
    default:
        return kernels[width_of(call->plan)];
    }
}

/* Of all predicates that the plan may serve. */
static int64_t step_of(const struct plan *plan) {
    const int64_t of_masks = least(topk_cuda_compact_kernels_8.step, topk_cuda_compact_kernels_bits.step);
    return least(kernels[width_of(plan)]->step, of_masks);
}

/* Elements of all rows, but not more than there are in memory: where rows overlap more than that, tiles share
 * the words of look-back. */
static int64_t elements_of(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    int64_t elements;
    return __builtin_mul_overflow(p->rows, p->length_max, &elements)
               ? (int64_t)plan->input_elements
               : least(elements, (int64_t)plan->input_elements);
}

/* Tiles of rows whose starts are found together: rows + 1 starts. */
static int64_t row_tiles(const struct plan *plan) {
    return plan->problem.rows / COMPACT_SCANNED + 1;
}

static bool has_phases(const struct plan *plan) {
    return plan->operation == TOPK_OPERATION_WHERE && tuning_value(&plan->tuning, &knobs[KNOB_ONE_PASS]) == 0;
}

/* Whatever the predicate, and whether or not the rows turn out to be dense. */
static struct buffers take_buffers(struct arena *arena, const struct plan *plan) {
    const size_t rows = (size_t)plan->problem.rows;
    const bool masks = plan->operation == TOPK_OPERATION_MASK;
    struct buffers b = {.match = arena_take(arena, 1, sizeof *b.match)};
    const size_t before = arena->used;
    const int64_t chunks = elements_of(plan) / COMPACT_CHUNK + 1;
    b.word_count = masks ? 0 : elements_of(plan) / step_of(plan) + 3; /* dense rows begin within a line */
    if (has_phases(plan) && b.word_count < chunks / COMPACT_SCANNED + 1) {
        b.word_count = chunks / COMPACT_SCANNED + 1;
    }
    b.tickets = arena_take(arena, 2, sizeof *b.tickets);
    b.row_words = arena_take(arena, (size_t)look_back_words(row_tiles(plan)), sizeof *b.row_words);
    b.words = arena_take(arena, (size_t)look_back_words(b.word_count), sizeof *b.words);
    b.zeroed_bytes = arena_join(arena, before);
    b.starts = arena_take(arena, rows + 1, sizeof *b.starts);
    if (masks) {
        b.masks = arena_take(arena, plan->input_elements / 32 + 1, sizeof *b.masks);
    }
    if (plan->operation == TOPK_OPERATION_COUNT) {
        b.offsets = arena_take(arena, rows + 1, sizeof *b.offsets);
    }
    if (has_phases(plan)) {
        b.masks = arena_take(arena, (size_t)chunks, COMPACT_CHUNK / 8);
        b.chunk_counts = arena_take(arena, (size_t)chunks, sizeof *b.chunk_counts);
        b.chunk_starts = arena_take(arena, (size_t)chunks + 1, sizeof *b.chunk_starts);
    }
    return b;
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    struct arena arena = arena_over(NULL);
    (void)context;
    (void)take_buffers(&arena, plan);
    return arena_bytes(&arena);
}

/* ---- Launches ---- */

static bool is_dense(const struct call *call) {
    const topk_problem *p = &call->plan->problem;
    return p->shape == TOPK_SHAPE_STRIDED && call->input.lengths == NULL &&
           (p->rows == 1 || p->row_stride == p->length_max);
}

static struct compact_args args_of(const struct call *call, const struct buffers *b) {
    const topk_problem *p = &call->plan->problem;
    struct compact_args args = {.rows = row_args_of(call),
                                .predicate = topk_cuda_predicate_args(call, b->match),
                                .dense = is_dense(call),
                                .starts = b->starts,
                                .value_bytes = (uint32_t)call->plan->element_bytes,
                                .capacity = call->capacity,
                                .offsets = call->counts != NULL ? b->offsets : call->offsets,
                                .tickets = b->tickets,
                                .row_words = b->row_words,
                                .words = b->words,
                                .word_count = b->word_count,
                                .masks = b->masks,
                                .chunk_counts = b->chunk_counts,
                                .chunk_starts = b->chunk_starts,
                                .counts = call->counts};
    args.rows.k = NULL;
    args.total = args.dense ? p->rows * p->length_max : 0;
    args.source = args.predicate.mask != NULL ? args.predicate.mask : call->input.values;
    return args;
}

/* Launches of a call, one after the other, until one fails. */
struct launches {
    const struct call *call;
    struct compact_args *args;
    bool dependent; /* the next launch may be: the one before it is ours */
    int error;
};

typedef int (*launcher)(const struct launch_grid *grid, const struct compact_args *args);

/* `tiles` pieces of work for a block of `threads` each; a multiprocessor holds `per_sm` blocks. */
static void launch(struct launches *l, launcher kernel, int64_t tiles, int64_t threads, int64_t per_sm) {
    const struct device_info *device = device_of(l->call->context);
    struct launch_grid grid = grid_of(l->call, tiles, device->sms * per_sm, threads);
    grid.dependent = l->dependent && device->dependent_launch;
    l->error = l->error != 0 ? l->error : kernel(&grid, l->args);
    l->dependent = true;
}

static void zero(struct launches *l, void *address, size_t bytes) {
    l->error = l->error != 0 ? l->error : topk_device_zero(l->call->stream, address, bytes);
}

/* What the pass needs to know. */
static void launch_prepare(struct launches *l, bool starts) {
    if (starts || l->args->predicate.bounds.values != NULL) {
        launch(l, topk_cuda_compact_launch_prepare, starts ? row_tiles(l->call->plan) : 1,
               COMPACT_CHUNK_THREADS, COMPACT_CHUNK_BLOCKS_PER_SM);
    }
}

static void launch_mask(struct launches *l) {
    const int64_t chunks = elements_of(l->call->plan) / COMPACT_CHUNK + 1;
    launch_prepare(l, !l->args->dense);
    l->args->has_successor = has_phases(l->call->plan);
    launch(l, kernels_of(l->call)->mask, chunks / (COMPACT_CHUNK_THREADS / 32) + 1, COMPACT_CHUNK_THREADS,
           l->args->dense ? COMPACT_CHUNK_BLOCKS_PER_SM : COMPACT_RAGGED_BLOCKS_PER_SM);
}

/* As published. */
static void launch_phases(struct launches *l) {
    TOPK_REACHED(REACHED_COMPACT_PHASES);
    const int64_t chunks = l->args->total / COMPACT_CHUNK + 1;
    launch_mask(l);
    launch(l, topk_cuda_compact_launch_scan, chunks / COMPACT_SCANNED + 1, COMPACT_CHUNK_THREADS,
           COMPACT_CHUNK_BLOCKS_PER_SM);
    launch(l, topk_cuda_compact_launch_scatter, chunks / (COMPACT_CHUNK_THREADS / 32) + 1,
           COMPACT_CHUNK_THREADS, COMPACT_CHUNK_BLOCKS_PER_SM);
}

/* Whole words go to where they belong, if it is aligned for them, and no word is cut off or of several rows;
 * else they are copied there. */
static int enqueue_mask(struct launches *l, struct compact_args *args, const struct buffers *b) {
    const struct call *call = l->call;
    const size_t elements = call->plan->input_elements, bytes = bit_mask_bytes(elements);
    const bool direct = args->dense && elements % 32 == 0 && (uintptr_t)call->mask % sizeof *args->masks == 0;
    if (direct) {
        args->masks = (uint32_t *)(void *)call->mask;
    } else {
        TOPK_REACHED(REACHED_COMPACT_MASK_COPIED);
        zero(l, args->masks, (elements / 32 + 1) * sizeof *args->masks);
    }
    if (elements_of(call->plan) != 0) {
        if (!args->dense) {
            zero(l, b->tickets, b->zeroed_bytes);
        }
        launch_mask(l);
    }
    return l->error != 0 || direct ? l->error
                                   : topk_device_copy(call->stream, call->mask, args->masks, bytes);
}

/* No row has any elements. */
static int enqueue_zeros(struct launches *l) {
    const struct call *call = l->call;
    const size_t rows = (size_t)call->plan->problem.rows;
    TOPK_REACHED(REACHED_COMPACT_NO_ELEMENTS);
    if (call->counts != NULL) {
        zero(l, call->counts, rows * sizeof *call->counts);
    } else if (call->offsets != NULL) {
        zero(l, call->offsets, (rows + 1) * sizeof *call->offsets);
    }
    return l->error;
}

static int run(const struct call *call) {
    const struct plan *plan = call->plan;
    struct arena arena = arena_over(call->workspace);
    const struct buffers b = take_buffers(&arena, plan);
    struct compact_args args = args_of(call, &b);
    struct launches l = {.call = call, .args = &args};
    if (plan->operation == TOPK_OPERATION_MASK) {
        return enqueue_mask(&l, &args, &b);
    }
    if (elements_of(plan) == 0) {
        return enqueue_zeros(&l);
    }
    zero(&l, b.tickets, b.zeroed_bytes);
    if (has_phases(plan) && args.dense) {
        launch_phases(&l);
        return l.error;
    }
    args.dense = args.dense && kernels_of(call)->dense_shared_bytes() <=
                                   (uint32_t)device_of(call->context)->shared_bytes_max;
    launch_prepare(&l, !args.dense);
    launch(&l, kernels_of(call)->pass, b.word_count,
           args.dense ? kernels_of(call)->dense_threads : COMPACT_RAGGED_THREADS,
           args.dense ? kernels_of(call)->dense_blocks_per_sm : COMPACT_RAGGED_BLOCKS_PER_SM);
    if (plan->operation == TOPK_OPERATION_COUNT) {
        launch(&l, topk_cuda_compact_launch_count, plan->problem.rows / COMPACT_CHUNK_THREADS + 1,
               COMPACT_CHUNK_THREADS, COMPACT_CHUNK_BLOCKS_PER_SM);
    }
    return l.error;
}

static int prepare(const topk_context *context) {
    const uint32_t shared_bytes_max = (uint32_t)device_of(context)->shared_bytes_max;
    int error = topk_cuda_compact_kernels_bits.prepare(shared_bytes_max);
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare(shared_bytes_max);
    }
    return error;
}

/* ---- Choice ---- */

static const char *refuse(const topk_context *context, const struct plan *plan) {
    (void)context;
    return plan->operation == TOPK_OPERATION_WHERE ||
                   tuning_given(&plan->tuning, &knobs[KNOB_ONE_PASS]) == NULL
               ? NULL
               : "one_pass is for where alone";
}

static double cost_us(const topk_context *context, const struct plan *plan) {
    return 2 * topk_cuda_costs.launch_us + move_us(context,
                                                   (double)elements_of(plan) * (double)plan->element_bytes,
                                                   topk_cuda_costs.compact.bytes_per_us);
}

const struct method topk_cuda_compact = {.name = "compact",
                                         .operations = COMPACTS,
                                         .knobs = knobs,
                                         .refuse = refuse,
                                         .cost_us = cost_us,
                                         .workspace_bytes = workspace_bytes,
                                         .prepare = prepare,
                                         .run = run};
