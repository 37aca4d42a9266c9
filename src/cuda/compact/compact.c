/* SPDX-License-Identifier: Apache-2.0
 * What a call of compact launches, and over which workspace. */
#include "compact.h"

#include "../../workspace.h"
#include "../leaf.h"
#include "kernels.h"

/* All of it but the last two is zero before the first launch. */
struct buffers {
    uint64_t *tickets, *row_words, *words;
    size_t word_count, zeroed_bytes;
    struct compact_match *match;
    int64_t *starts;
};

static const struct compact_kernels *kernels_of_width(size_t bytes) {
    switch (bytes) {
    case 1:
        return &topk_compact_kernels_8;
    case 2:
        return &topk_compact_kernels_16;
    case 4:
        return &topk_compact_kernels_32;
    default:
        return &topk_compact_kernels_64;
    }
}

static const struct compact_kernels *kernels_of(const struct call *call) {
    switch (call->predicate->kind) {
    case TOPK_BYTE_MASK:
        return &topk_compact_kernels_8;
    case TOPK_BIT_MASK:
        return &topk_compact_kernels_bits;
    default:
        return kernels_of_width(call->plan->element_bytes);
    }
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Of all predicates that the plan may serve. */
static int64_t step_of(const struct plan *plan) {
    const int64_t of_masks = least(topk_compact_kernels_8.step, topk_compact_kernels_bits.step);
    return least(kernels_of_width(plan->element_bytes)->step, of_masks);
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

static struct buffers take_buffers(struct arena *arena, const struct plan *plan) {
    const size_t rows = (size_t)plan->problem.rows, before = arena->used;
    struct buffers b = {.word_count = (size_t)(elements_of(plan) / step_of(plan)) + 1};
    b.tickets = arena_take(arena, 2, sizeof *b.tickets);
    b.row_words = arena_take(arena, rows / (COMPACT_THREADS * COMPACT_ROWS) + 1, sizeof *b.row_words);
    b.words = arena_take(arena, b.word_count, sizeof *b.words);
    b.zeroed_bytes = arena->used - before;
    b.match = arena_take(arena, 1, sizeof *b.match);
    b.starts = arena_take(arena, rows + 1, sizeof *b.starts);
    return b;
}

size_t topk_cuda_compact_workspace_bytes(const topk_context *context, const struct plan *plan) {
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

static void put_predicate(const struct call *call, struct compact_args *args) {
    const topk_predicate *predicate = call->predicate;
    const topk_type type = call->plan->problem.type;
    if (!predicate_compares(predicate->kind)) {
        args->source = predicate->mask;
        args->match = (struct compact_match){1, UINT8_MAX - 1, false}; /* bytes that are not zero */
        return;
    }
    const struct order order = predicate_order(type);
    args->source = call->input.values;
    args->flip = topk_placing(&order).flip;
    if (predicate->bounds != NULL) {
        args->bounds = (struct compact_bounds){predicate->bounds, predicate->kind, topk_type_traits(type)};
    } else {
        const struct match match = topk_predicate_match(predicate, type);
        args->match = (struct compact_match){match.arc.begin, match.arc.span, match.complement};
    }
}

static struct compact_args args_of(const struct call *call) {
    const topk_problem *p = &call->plan->problem;
    struct arena arena = arena_over(call->workspace);
    const struct buffers b = take_buffers(&arena, call->plan);
    struct compact_args args = {.rows = row_args_of(call),
                                .found_match = b.match,
                                .dense = is_dense(call),
                                .starts = b.starts,
                                .value_bytes = (uint32_t)call->plan->element_bytes,
                                .capacity = call->capacity,
                                .offsets = call->offsets,
                                .tickets = b.tickets,
                                .row_words = b.row_words,
                                .words = b.words,
                                .word_count = (int64_t)b.word_count};
    args.rows.k = NULL;
    args.total = args.dense ? p->rows * p->length_max : 0;
    put_predicate(call, &args);
    return args;
}

static int enqueue(const struct call *call) {
    const struct plan *plan = call->plan;
    const int64_t rows = plan->problem.rows;
    if (elements_of(plan) == 0) {
        return call->offsets == NULL ? 0
                                     : topk_device_zero(call->stream, call->offsets,
                                                        ((size_t)rows + 1) * sizeof *call->offsets);
    }
    struct arena arena = arena_over(call->workspace);
    const struct buffers b = take_buffers(&arena, plan);
    const struct compact_args args = args_of(call);
    const int64_t resident = (int64_t)device_of(call->context)->sms * COMPACT_BLOCKS_PER_SM;
    const bool prepares = !args.dense || args.bounds.bounds != NULL;
    int error = topk_device_zero(call->stream, b.tickets, b.zeroed_bytes);
    if (error == 0 && prepares) {
        const int64_t tiles = args.dense ? 1 : rows / (COMPACT_THREADS * COMPACT_ROWS) + 1;
        const struct compact_grid grid = {.blocks = (uint32_t)least(tiles, resident), .stream = call->stream};
        error = topk_compact_launch_prepare(&grid, &args);
    }
    if (error == 0) {
        const struct compact_grid grid = {.blocks = (uint32_t)least(args.word_count, resident),
                                          .dependent = prepares && device_of(call->context)->dependent_launch,
                                          .stream = call->stream};
        error = kernels_of(call)->pass(&grid, &args);
    }
    return error;
}

topk_status topk_cuda_compact_run(const struct call *call) {
    return topk_cuda_run(call, enqueue);
}

int topk_cuda_compact_prepare(void) {
    const struct compact_kernels *const all[] = {&topk_compact_kernels_8, &topk_compact_kernels_16,
                                                 &topk_compact_kernels_32, &topk_compact_kernels_64,
                                                 &topk_compact_kernels_bits};
    int error = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && error == 0; i++) {
        error = all[i]->prepare();
    }
    return error;
}

/* ---- Choice ---- */

const char *topk_cuda_compact_refuse(const topk_context *context, const struct plan *plan) {
    (void)context;
    (void)plan;
    return NULL;
}

/* Bytes that a device moves in a microsecond, and what a launch takes. */
static const double BYTES_PER_US = 4e6, LAUNCH_US = 3;

double topk_cuda_compact_cost_us(const topk_context *context, const struct plan *plan) {
    (void)context;
    return 2 * LAUNCH_US + (double)elements_of(plan) * (double)plan->element_bytes / BYTES_PER_US;
}
