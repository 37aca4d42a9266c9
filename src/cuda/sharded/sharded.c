/* SPDX-License-Identifier: Apache-2.0
 * What the calls on shards launch, and over which memory. */
#include "../../sharded.h"

#include "../leaf.h"
#include "../methods.h"
#include "kernels.h"

static const struct sharded_kernels *const kernels[WIDTHS] = {
    &topk_cuda_sharded_kernels_8, &topk_cuda_sharded_kernels_16, &topk_cuda_sharded_kernels_32,
    &topk_cuda_sharded_kernels_64};

/* The arrays of a state. Over NULL it is measured. */
struct layout {
    struct sharded_header *header;
    struct match *found; /* of bounds that the device reads */
    struct sharded_row *states;
    uint64_t *own;
    void *kept;
    size_t own_bytes, bytes;
};

static struct layout lay_out(const struct sharded *s, void *memory) {
    const size_t rows = (size_t)s->plan.problem.rows;
    struct arena arena = arena_over(memory);
    struct layout l = {.header = arena_take(&arena, 1, sizeof *l.header)};
    size_t counters, kept;
    if (__builtin_mul_overflow(rows, (size_t)s->bins, &counters)) {
        counters = SIZE_MAX;
    }
    if (__builtin_mul_overflow(rows, (size_t)s->capacity, &kept)) {
        kept = SIZE_MAX;
    }
    l.found = arena_take(&arena, 1, sizeof *l.found);
    l.states = arena_take(&arena, rows, sizeof *l.states);
    l.own = arena_take(&arena, counters, sizeof *l.own);
    l.kept = arena_take(&arena, kept, s->plan.element_bytes);
    l.own_bytes = counters * sizeof *l.own;
    l.bytes = arena_bytes(&arena);
    return l;
}

static void measure(struct sharded *s) {
    s->bytes = lay_out(s, NULL).bytes;
}

struct work {
    const struct sharded *s;
    enum sharded_kernel kernel;
    int round;
    topk_input input;
    int64_t *counters;
    const int64_t *sums, *before;
    topk_sharded_output output;
};

static struct sharded_args args_of(const struct work *w, const struct layout *l) {
    const struct sharded *s = w->s;
    const struct plan *plan = w->kernel == SHARDED_COUNT ? &s->part : &s->plan;
    const struct call call = {.context = s->context, .plan = plan, .input = w->input};
    const struct sharded_digit digit = sharded_digit_of(s, w->round);
    return (struct sharded_args){.rows = row_args_of(&call),
                                 .decode = device_order_of(&s->plan),
                                 .header = l->header,
                                 .problem = s->problem,
                                 .states = l->states,
                                 .own = l->own,
                                 .kept = l->kept,
                                 .capacity = s->capacity,
                                 .bins = (uint32_t)s->bins,
                                 .shift = digit.shift,
                                 .mask = (1u << digit.bits) - 1,
                                 .is_first = w->round == 0,
                                 .is_later_part = w->kernel == SHARDED_COUNT && s->part_number > 0,
                                 .keeps = w->round + 2 < s->rounds,
                                 .lists = w->round > 0 && w->round + 1 < s->rounds && s->capacity > 0,
                                 .counters = (uint64_t *)w->counters,
                                 .sums = (const uint64_t *)w->sums,
                                 .before = w->before,
                                 .kth = w->output.kth,
                                 .better = w->output.better,
                                 .equal = w->output.equal,
                                 .own_better = w->output.own_better,
                                 .own_equal = w->output.own_equal,
                                 .own_k = w->output.own_k,
                                 .after = w->output.after,
                                 .known = w->output.known};
}

static struct launch_grid grid_for(const struct work *w) {
    const struct sharded *s = w->s;
    const struct call call = {.stream = s->stream};
    const int64_t rows = s->plan.problem.rows,
                  per_sm = w->round == 0 ? SHARDED_FIRST_BLOCKS_PER_SM : SHARDED_BLOCKS_PER_SM,
                  at_once = per_sm * (int64_t)device_of(s->context)->sms;
    if (w->kernel == SHARDED_COUNT) {
        const int64_t tiles = divide_up(s->longest, kernels[width_of(&s->plan)]->tile);
        const int64_t of_row = greatest(at_once / least(rows, at_once), 1);
        struct launch_grid grid = grid_of(&call, greatest(tiles, 1), of_row, SHARDED_THREADS);
        grid.rows = (uint32_t)least(rows, SHARDED_GRID_ROWS);
        return grid;
    }
    const int64_t blocks = w->kernel == SHARDED_ADVANCE ? rows : divide_up(rows, SHARDED_ROW_THREADS);
    return grid_of(&call, blocks, 4 * at_once, SHARDED_ROW_THREADS);
}

static int launch_work(const void *of) {
    const struct work *w = of;
    const struct layout l = lay_out(w->s, w->s->memory);
    struct sharded_args args = args_of(w, &l);
    const struct launch_grid grid = grid_for(w);
    const struct call call = {
        .plan = &w->s->part, .input = w->input, .predicate = w->input.predicate, .stream = w->s->stream};
    int error = call.predicate != NULL ? topk_cuda_take_predicate(&call, l.found, &args.predicate) : 0;
    if (w->kernel == SHARDED_BEGIN) {
        error = topk_device_zero(w->s->stream, l.own, l.own_bytes);
        error = error != 0 ? error : topk_device_zero(w->s->stream, w->counters, l.own_bytes);
    }
    return error != 0 ? error : kernels[width_of(&w->s->plan)]->launch(w->kernel, &grid, &args);
}

static topk_status run(const struct work *w) {
    return w->s->plan.problem.rows == 0 ? TOPK_OK : topk_cuda_do(w->s->context, launch_work, w);
}

static topk_status begin(const struct sharded *s, const void *k, int64_t *counters) {
    return run(&(struct work){.s = s, .kernel = SHARDED_BEGIN, .input = {.k = k}, .counters = counters});
}

static topk_status count(const struct sharded *s, int round, const topk_input *input, int64_t *counters) {
    return run(&(struct work){
        .s = s, .kernel = SHARDED_COUNT, .round = round, .input = *input, .counters = counters});
}

static topk_status advance(const struct sharded *s, int round, const int64_t *sums, int64_t *counters) {
    return run(&(struct work){
        .s = s, .kernel = SHARDED_ADVANCE, .round = round, .counters = counters, .sums = sums});
}

static topk_status result(const struct sharded *s, const int64_t *before, const topk_sharded_output *output) {
    return run(&(struct work){.s = s, .kernel = SHARDED_RESULT, .before = before, .output = *output});
}

int topk_cuda_prepare_sharding(const topk_context *context) {
    int error = topk_cuda_prepare_bounds();
    (void)context;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
    }
    return error;
}

const struct sharding topk_cuda_sharding = {
    .measure = measure, .begin = begin, .count = count, .advance = advance, .result = result};
