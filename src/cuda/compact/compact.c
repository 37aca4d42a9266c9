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

/* ---- Shape ---- */

/* What is decided, once: whatever the predicate, and whether or not the rows turn out to be dense. */
struct shape {
    topk_operation operation;
    bool has_phases;          /* if the rows are dense */
    bool may_be_dense;        /* unless there are lengths */
    int64_t rows, row_tiles;  /* tiles of rows whose starts are found together */
    int64_t elements, chunks; /* of all rows */
    int64_t word_count;       /* of look-back over tiles */
    size_t input_elements;
};

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

static int64_t word_count_of(const struct plan *plan, const struct shape *s) {
    const int64_t of_tiles = s->elements / step_of(plan) + 3; /* dense rows begin within a line */
    return s->operation == TOPK_OPERATION_MASK ? 0
           : s->has_phases                     ? greatest(of_tiles, s->chunks / COMPACT_SCANNED + 1)
                                               : of_tiles;
}

/* There are rows + 1 starts. */
static struct shape shape_of(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const bool is_where = plan->operation == TOPK_OPERATION_WHERE;
    struct shape s = {
        .operation = plan->operation,
        .has_phases = is_where && tuning_value(plan->problem.tuning, &knobs[KNOB_ONE_PASS]) == 0,
        .may_be_dense = p->shape == TOPK_SHAPE_STRIDED && (p->rows == 1 || p->row_stride == p->length_max),
        .rows = p->rows,
        .row_tiles = p->rows / COMPACT_SCANNED + 1,
        .elements = elements_of(plan),
        .input_elements = plan->input_elements};
    s.chunks = s.elements / COMPACT_CHUNK + 1;
    s.word_count = word_count_of(plan, &s);
    return s;
}

/* ---- Workspace ---- */

struct buffers {
    uint64_t *tickets, *row_words, *words; /* zero before the first launch */
    size_t zeroed_bytes;
    struct match *match; /* of bounds that the device reads */
    int64_t *starts;
    int64_t *offsets;       /* count */
    uint32_t *masks;        /* mask, and three phases */
    uint32_t *chunk_counts; /* three phases */
    uint64_t *chunk_starts; /* three phases */
};

static struct buffers take_buffers(struct arena *arena, const struct shape *s) {
    const size_t rows = (size_t)s->rows, chunks = (size_t)s->chunks;
    struct buffers b = {.match = arena_take(arena, 1, sizeof *b.match)};
    const size_t before = arena->used;
    b.tickets = arena_take(arena, 2, sizeof *b.tickets);
    b.row_words = arena_take(arena, (size_t)look_back_words(s->row_tiles), sizeof *b.row_words);
    b.words = arena_take(arena, (size_t)look_back_words(s->word_count), sizeof *b.words);
    b.zeroed_bytes = arena_join(arena, before);
    b.starts = arena_take(arena, rows + 1, sizeof *b.starts);
    if (s->operation == TOPK_OPERATION_MASK) {
        b.masks = arena_take(arena, s->input_elements / 32 + 1, sizeof *b.masks);
    }
    if (s->operation == TOPK_OPERATION_COUNT) {
        b.offsets = arena_take(arena, rows + 1, sizeof *b.offsets);
    }
    if (s->has_phases) {
        b.masks = arena_take(arena, chunks, COMPACT_CHUNK / 8);
        b.chunk_counts = arena_take(arena, chunks, sizeof *b.chunk_counts);
        b.chunk_starts = arena_take(arena, chunks + 1, sizeof *b.chunk_starts);
    }
    return b;
}

/* ---- Deciding ---- */

/* Bounds on the device, or starts, need a launch before the others. */
static int launches_of(const struct shape *s) {
    return s->elements == 0                       ? 0
           : s->has_phases && s->may_be_dense     ? 4
           : s->operation == TOPK_OPERATION_COUNT ? 3
                                                  : 2;
}

static double cost_us(const topk_context *context, const struct plan *plan, const struct shape *s) {
    return 2 * topk_cuda_costs.launch_us + move_us(context, (double)s->elements * (double)plan->element_bytes,
                                                   topk_cuda_costs.compact.bytes_per_us);
}

static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    const bool is_where = plan->operation == TOPK_OPERATION_WHERE;
    struct arena arena = arena_over(NULL);
    if (!is_where && topk_tuning_given(plan->problem.tuning, &knobs[KNOB_ONE_PASS], NULL)) {
        decision->cannot = "one_pass is for where alone";
        return;
    }
    struct shape *s = topk_room_take(room, sizeof *s);
    *s = shape_of(plan);
    (void)take_buffers(&arena, s);
    decision->variant = !is_where ? NULL : s->has_phases && s->may_be_dense ? "phases" : "pass";
    decision->launches = launches_of(s);
    decision->cost_us = cost_us(context, plan, s);
    decision->workspace_bytes = arena_bytes(&arena);
    decision->own = s;
}

/* ---- Launches ---- */

static struct compact_args args_of(const struct call *call, const struct buffers *b) {
    const struct shape *s = call->decision->own;
    struct compact_args args = {.rows = row_args_of(call),
                                .predicate = topk_cuda_predicate_args(call, b->match),
                                .dense = s->may_be_dense && call->input.lengths == NULL,
                                .starts = b->starts,
                                .value_bytes = (uint32_t)call->plan->element_bytes,
                                .capacity = call->capacity,
                                .offsets = call->counts != NULL ? b->offsets : call->offsets,
                                .tickets = b->tickets,
                                .row_words = b->row_words,
                                .words = b->words,
                                .word_count = s->word_count,
                                .masks = b->masks,
                                .chunk_counts = b->chunk_counts,
                                .chunk_starts = b->chunk_starts,
                                .counts = call->counts};
    args.rows.k = NULL;
    args.total = args.dense ? s->rows * call->plan->problem.length_max : 0;
    args.source = args.predicate.mask != NULL ? args.predicate.mask : call->input.values;
    return args;
}

/* Launches of a call, one after the other, until one fails. */
struct launches {
    const struct call *call;
    const struct shape *shape;
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
        launch(l, topk_cuda_compact_launch_prepare, starts ? l->shape->row_tiles : 1, COMPACT_CHUNK_THREADS,
               COMPACT_CHUNK_BLOCKS_PER_SM);
    }
}

static void launch_mask(struct launches *l) {
    launch_prepare(l, !l->args->dense);
    l->args->has_successor = l->shape->has_phases;
    launch(l, kernels_of(l->call)->mask, l->shape->chunks / (COMPACT_CHUNK_THREADS / 32) + 1,
           COMPACT_CHUNK_THREADS,
           l->args->dense ? COMPACT_CHUNK_BLOCKS_PER_SM : COMPACT_RAGGED_BLOCKS_PER_SM);
}

/* As published. */
static void launch_phases(struct launches *l) {
    TOPK_REACHED(REACHED_COMPACT_PHASES);
    const int64_t chunks = l->shape->chunks;
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
    const size_t elements = l->shape->input_elements, bytes = bit_mask_bytes(elements);
    const bool direct = args->dense && elements % 32 == 0 && (uintptr_t)call->mask % sizeof *args->masks == 0;
    if (direct) {
        args->masks = (uint32_t *)(void *)call->mask;
    } else {
        TOPK_REACHED(REACHED_COMPACT_MASK_COPIED);
        zero(l, args->masks, (elements / 32 + 1) * sizeof *args->masks);
    }
    if (l->shape->elements != 0) {
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
    const size_t rows = (size_t)l->shape->rows;
    TOPK_REACHED(REACHED_COMPACT_NO_ELEMENTS);
    if (call->counts != NULL) {
        zero(l, call->counts, rows * sizeof *call->counts);
    } else if (call->offsets != NULL) {
        zero(l, call->offsets, (rows + 1) * sizeof *call->offsets);
    }
    return l->error;
}

static int run(const struct call *call) {
    const struct shape *s = call->decision->own;
    struct arena arena = arena_over(call->workspace);
    const struct buffers b = take_buffers(&arena, s);
    struct compact_args args = args_of(call, &b);
    struct launches l = {.call = call, .shape = s, .args = &args};
    if (s->operation == TOPK_OPERATION_MASK) {
        return enqueue_mask(&l, &args, &b);
    }
    if (s->elements == 0) {
        return enqueue_zeros(&l);
    }
    zero(&l, b.tickets, b.zeroed_bytes);
    if (s->has_phases && args.dense) {
        launch_phases(&l);
        return l.error;
    }
    args.dense = args.dense && kernels_of(call)->dense_shared_bytes() <=
                                   (uint32_t)device_of(call->context)->shared_bytes_max;
    launch_prepare(&l, !args.dense);
    launch(&l, kernels_of(call)->pass, s->word_count,
           args.dense ? kernels_of(call)->dense_threads : COMPACT_RAGGED_THREADS,
           args.dense ? kernels_of(call)->dense_blocks_per_sm : COMPACT_RAGGED_BLOCKS_PER_SM);
    if (s->operation == TOPK_OPERATION_COUNT) {
        launch(&l, topk_cuda_compact_launch_count, s->rows / COMPACT_CHUNK_THREADS + 1, COMPACT_CHUNK_THREADS,
               COMPACT_CHUNK_BLOCKS_PER_SM);
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

const struct method topk_cuda_compact = {.name = "compact",
                                         .operations = COMPACTS,
                                         .knobs = knobs,
                                         .plan = decide,
                                         .prepare = prepare,
                                         .run = run};
