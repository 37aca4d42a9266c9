/* SPDX-License-Identifier: Apache-2.0
 * What the calls of an accumulator launch, and over which memory. */
#include <string.h>

#include "../../accumulator.h"

#include "../../status.h"
#include "../leaf.h"
#include "../methods.h"
#include "kernels.h"
#include "layout.h"

static const struct accumulate_kernels *const kernels[WIDTHS] = {
    &topk_cuda_accumulate_kernels_8, &topk_cuda_accumulate_kernels_16, &topk_cuda_accumulate_kernels_32,
    &topk_cuda_accumulate_kernels_64};

static const struct accumulate_kernels *kernels_of(const struct accumulator *a) {
    return kernels[width_of(&a->plan)];
}

/* ---- Launches ---- */

/* A call with no chunk and no outputs. */
static struct accumulate_args args_of(const struct accumulator *a, const struct accumulate_state *state) {
    const struct call none = {.context = a->context, .plan = &a->plan, .stream = a->stream};
    return (struct accumulate_args){.rows = row_args_of(&none),
                                    .problem = a->problem,
                                    .payload = PAYLOAD_UNKNOWN,
                                    .state = *state,
                                    .is_apart = topk_cuda_accumulate_is_apart(a)};
}

/* For the kernels that work on lists: up to `blocks` blocks, and some for each multiprocessor. */
static struct launch_grid list_grid(const struct accumulator *a, int64_t blocks, int64_t of_sm) {
    const struct call call = {.stream = a->stream};
    return grid_of(&call, blocks, of_sm * device_of(a->context)->sms, ACCUMULATE_LIST_THREADS);
}

/* A thread for each of `slots` slots, or as many as the device has room for. */
static struct launch_grid grid_for(const struct accumulator *a, int64_t slots) {
    return list_grid(a, divide_up(slots, ACCUMULATE_LIST_THREADS), 4);
}

/* Blocks that read a chunk. They have fewer threads where shared memory has no room for the rings of all. */
static struct launch_grid grid_of_chunk(const struct accumulator *a, int64_t length) {
    const struct device_info *device = device_of(a->context);
    const int64_t of_thread = a->plan.element_bytes == 1 ? 32 : 64 / (int64_t)a->plan.element_bytes;
    const bool is_short = length <= 4 * ACCUMULATE_THREADS_FEW * of_thread;
    int64_t threads = is_short ? ACCUMULATE_THREADS_FEW : ACCUMULATE_THREADS;
    int64_t bytes = kernels_of(a)->shared_bytes((uint32_t)threads);
    while (threads > ACCUMULATE_THREADS_FEW && bytes > device->shared_bytes_max) {
        threads /= 2;
        bytes = kernels_of(a)->shared_bytes((uint32_t)threads);
    }
    const int64_t of_sm = least(ACCUMULATE_THREADS_PER_SM / threads, device->shared_bytes_max / bytes);
    const int64_t at_once = device->sms * greatest(of_sm, 1);
    const int64_t rows = least(a->plan.problem.rows, ACCUMULATE_GRID_ROWS);
    const int64_t of_block = ACCUMULATE_TILES_OF_BLOCK * threads * of_thread;
    const int64_t blocks =
        least(divide_up(length, of_block), least(at_once / rows, topk_cuda_accumulate_blocks_of_row(a)));
    return (struct launch_grid){.blocks = (uint32_t)greatest(blocks, 1),
                                .rows = (uint32_t)rows,
                                .threads = (uint32_t)threads,
                                .stream = a->stream};
}

struct work {
    const struct accumulator *a;
    const struct chunk *chunk;
    void *other;
    void *values, *indices; /* or `values` for bytes */
    bool ends;
};

static int launch_init(const void *of) {
    const struct accumulator *a = ((const struct work *)of)->a;
    const struct layout l = topk_cuda_accumulate_layout(a, a->memory);
    const struct accumulate_args args = args_of(a, &l.state);
    const struct launch_grid grid = grid_for(a, a->plan.problem.rows);
    const size_t bytes = (size_t)a->plan.problem.rows * sizeof *l.state.ways_out;
    const int error =
        topk_cuda_accumulate_selects(a) ? 0 : topk_device_zero(a->stream, l.state.ways_out, bytes);
    return error != 0 ? error : kernels_of(a)->init(&grid, &args);
}

/* Selects the best of the chunk, in rows that were left to this. */
static int select_best(const struct work *w, const struct subcall *inner, void *workspace,
                       const struct accumulate_args *args) {
    const struct accumulate_state *state = &args->state;
    const struct call outer = {.context = w->a->context,
                               .input = w->chunk->input,
                               .predicate = w->chunk->predicate,
                               .stream = w->a->stream};
    struct call call = topk_subcall_call(&outer, inner, workspace);
    call.base = w->chunk->base;
    call.input.lengths = state->lengths;
    call.input.k = state->ks;
    call.input.indices = NULL;
    call.values = state->best.elements;
    call.indices = state->best.positions;
    call.condition = &state->header->selects;
    const int error = inner->decision.run(&call);
    const struct launch_grid grid = grid_for(w->a, w->a->plan.problem.rows * state->best.pitch);
    return error != 0 || args->payload != PAYLOAD_GIVEN ? error : kernels_of(w->a)->carry(&grid, args);
}

static int read_chunk(const struct work *w, const struct subcall *inner, const struct accumulate_args *args,
                      struct match *found) {
    const struct launch_grid grid = grid_of_chunk(w->a, w->chunk->length);
    const struct call call = {.plan = &inner->plan, .predicate = w->chunk->predicate, .stream = w->a->stream};
    if (w->chunk->predicate == NULL) {
        return kernels_of(w->a)->push(&grid, args);
    }
    const struct accumulate_where_args where = {*args, topk_cuda_predicate_args(&call, found)};
    const int error = topk_cuda_read_bounds(&call, &where.predicate);
    return error != 0 ? error : kernels_of(w->a)->where(&grid, &where);
}

/* Settles rows, if the state says so. */
static int settle_apart(const struct accumulator *a, const struct push_scratch *scratch,
                        struct accumulate_args *args) {
    const struct accumulate_state *state = &args->state;
    const struct subcall *inner = &a->of_candidates[KEPT];
    const topk_lists lists = {.size = sizeof lists,
                              .lists = 1,
                              .payload = state->candidates.payload,
                              .payload_bytes = (int64_t)a->plan.index_bytes};
    const struct call outer = {.context = a->context, .input = TOPK_INPUT_INIT, .stream = a->stream};
    struct call call = topk_subcall_call(&outer, inner, scratch->merge);
    call.input.values = state->candidates.elements;
    call.input.indices = state->candidates.positions;
    call.input.lengths = state->lengths;
    call.input.k = state->ks;
    call.lists = &lists;
    call.values = state->best.elements;
    call.indices = state->best.positions;
    call.payload = state->best.payload;
    call.condition = &state->header->selects;
    args->bars = scratch->bars;
    const struct launch_grid slots = grid_for(a, a->plan.problem.rows * state->best.pitch);
    int error = kernels_of(a)->gather(&slots, args);
    error = error != 0 ? error : inner->decision.run(&call);
    const int64_t rows = a->plan.problem.rows,
                  keepers =
                      least(ACCUMULATE_KEEPERS, divide_up(a->plan.problem.k_max, ACCUMULATE_LIST_THREADS));
    const struct launch_grid keep = list_grid(a, rows * keepers, INT32_MAX);
    return error != 0 ? error : kernels_of(a)->keep(&keep, args);
}

/* Settles rows before results are written. */
static int settle_for_results(const struct accumulator *a, void *memory, const struct accumulate_args *args) {
    const struct push_scratch scratch = topk_cuda_accumulate_push_scratch(a, &a->select, memory);
    const struct launch_grid grid = list_grid(a, 1, 1);
    struct accumulate_args own = *args;
    if (!topk_cuda_accumulate_is_apart(a)) {
        return 0;
    }
    const int error = kernels_of(a)->ask(&grid, &own);
    return error != 0 ? error : settle_apart(a, &scratch, &own);
}

/* There is always room for k_max elements. */
static int launch_push(const void *of) {
    const struct work *w = of;
    const struct accumulator *a = w->a;
    const struct chunk *chunk = w->chunk;
    const struct layout l = topk_cuda_accumulate_layout(a, a->memory);
    const struct subcall *inner = chunk->predicate == NULL ? &a->select : &a->select_where;
    const struct push_scratch scratch = topk_cuda_accumulate_push_scratch(a, inner, l.scratch);
    const struct call call = {.context = a->context, .plan = &a->plan, .input = chunk->input};
    struct accumulate_args args = args_of(a, &l.state);
    args.rows = row_args_of(&call);
    args.rows.length_max = chunk->length;
    args.base = chunk->base;
    args.payload = chunk->input.indices != NULL ? PAYLOAD_GIVEN : PAYLOAD_NONE;
    args.payload = chunk->length > 0 ? args.payload : PAYLOAD_UNKNOWN;
    const int error = read_chunk(w, inner, &args, scratch.match);
    if (error == 0 && args.is_apart) {
        return settle_apart(a, &scratch, &args);
    }
    return error != 0 || chunk->length <= a->plan.problem.k_max || !topk_cuda_accumulate_selects(a)
               ? error
               : select_best(w, inner, scratch.selection, &args);
}

static int launch_merge(const struct accumulator *a, const struct accumulate_args *args) {
    const struct launch_grid grid = list_grid(a, a->plan.problem.rows, 2);
    return kernels_of(a)->merge(&grid, args);
}

static int launch_merge_of(const void *of) {
    const struct work *w = of;
    const struct layout l = topk_cuda_accumulate_layout(w->a, w->a->memory);
    struct arena arena = arena_over(w->other);
    struct accumulate_args args = args_of(w->a, &l.state);
    args.other = topk_cuda_accumulate_take(&arena, w->a);
    return launch_merge(w->a, &args);
}

/* A selection from rows of candidates, if the state is open. */
static int select_from(const struct accumulator *a, int of, const struct write_scratch *scratch,
                       const struct accumulate_state *state, const void *from, void *values,
                       int64_t *places) {
    const struct subcall *inner = &a->of_candidates[of];
    const struct call outer = {.context = a->context, .input = TOPK_INPUT_INIT, .stream = a->stream};
    struct call call = topk_subcall_call(&outer, inner, scratch->selections[of]);
    call.input.values = from;
    call.input.lengths = state->lengths;
    call.values = values;
    call.indices = places;
    call.condition = &state->header->is_open;
    return inner->decision.run(&call);
}

static int launch_write(const void *of) {
    const struct work *w = of;
    const struct accumulator *a = w->a;
    const struct layout l = topk_cuda_accumulate_layout(a, a->memory);
    const struct launch_grid grid = grid_for(a, (int64_t)a->plan.output_elements);
    struct accumulate_args args = args_of(a, &l.state);
    args.ends = w->ends;
    args.rows.out_values = w->values;
    args.rows.out_indices = w->indices;
    int error = settle_for_results(a, l.scratch, &args);
    const struct write_scratch s = topk_cuda_accumulate_write_scratch(a, l.scratch); /* the same memory */
    args.places = s.places;
    args.sorted = a->plan.problem.order == TOPK_ORDER_BY_POSITION ? NULL : s.sorted;
    args.arranged = s.arranged;
    const int64_t *candidates = l.state.candidates.positions;
    error = error != 0 ? error : launch_merge(a, &args);
    error = error != 0 ? error : select_from(a, SORTED, &s, &l.state, candidates, s.positions, s.places);
    error = error != 0 ? error : kernels_of(a)->arrange(&grid, &args);
    const bool is_done = error != 0 || args.sorted == NULL; /* the results are arranged */
    error = is_done ? error : select_from(a, BEST, &s, &l.state, s.arranged, w->values, s.sorted);
    return error != 0 ? error : kernels_of(a)->write(&grid, &args);
}

/* A state without results was never begun: none of its words are read. */
static struct accumulate_bytes_args bytes_args_of(const struct work *w,
                                                  const struct accumulate_state *state) {
    const struct exported e = topk_exported_of(&w->a->plan);
    struct accumulate_bytes_args args = {.of_rows = args_of(w->a, state),
                                         .has_state = w->a->plan.output_elements > 0,
                                         .bytes = w->values,
                                         .exported = e};
    memcpy(args.words, &e.header, sizeof args.words);
    return args;
}

static int launch_export(const void *of) {
    const struct work *w = of;
    const struct accumulator *a = w->a;
    const struct layout l = topk_cuda_accumulate_layout(a, a->memory);
    const int64_t slots = greatest((int64_t)a->plan.output_elements, a->plan.problem.rows);
    const struct launch_grid grid = grid_for(a, greatest(slots, 1));
    struct accumulate_bytes_args args = bytes_args_of(w, &l.state);
    const int64_t *candidates = l.state.candidates.positions;
    int error = args.has_state ? settle_for_results(a, l.scratch, &args.of_rows) : 0;
    const struct write_scratch s = topk_cuda_accumulate_write_scratch(a, l.scratch); /* the same memory */
    args.positions = s.positions;
    args.of_rows.places = s.places;
    error = error != 0 || !args.has_state ? error : launch_merge(a, &args.of_rows);
    error = error != 0 || !args.has_state
                ? error
                : select_from(a, SORTED, &s, &l.state, candidates, s.positions, s.places);
    return error != 0 ? error : kernels_of(a)->export_bytes(&grid, &args);
}

static int launch_import(const void *of) {
    const struct work *w = of;
    const struct accumulator *a = w->a;
    const struct layout l = topk_cuda_accumulate_layout(a, a->memory);
    const struct launch_grid grid = grid_for(a, (int64_t)a->plan.output_elements);
    const struct accumulate_bytes_args args = bytes_args_of(w, &l.state);
    const int error = launch_init(of);
    return error != 0 ? error : kernels_of(a)->import_bytes(&grid, &args);
}

/* ---- Calls ---- */

/* Rows without results keep no state. */
static topk_status run(const struct accumulator *a, int (*launch)(const void *), const struct work *work) {
    return a->plan.output_elements == 0 ? TOPK_OK : topk_cuda_do(a->context, launch, work);
}

static topk_status init(const struct accumulator *a) {
    return run(a, launch_init, &(struct work){.a = a});
}

static topk_status push(const struct accumulator *a, const struct chunk *chunk) {
    return run(a, launch_push, &(struct work){.a = a, .chunk = chunk});
}

static topk_status merge(const struct accumulator *a, void *other) {
    return run(a, launch_merge_of, &(struct work){.a = a, .other = other});
}

static topk_status write(const struct accumulator *a, void *values, void *indices, bool ends) {
    return run(a, launch_write, &(struct work){.a = a, .values = values, .indices = indices, .ends = ends});
}

/* Also rows without results have bytes. */
static topk_status export_bytes(const struct accumulator *a, void *bytes) {
    return topk_cuda_do(a->context, launch_export, &(struct work){.a = a, .values = bytes});
}

static topk_status import_bytes(const struct accumulator *a, const void *bytes, size_t size) {
    const size_t wanted = topk_exported_of(&a->plan).bytes;
    if (size != wanted) {
        return topk_fail(TOPK_ERROR_MALFORMED, "bytes: size is %zu, and must be %zu", size, wanted);
    }
    return run(a, launch_import, &(struct work){.a = a, .values = (void *)(uintptr_t)bytes});
}

int topk_cuda_prepare_accumulators(const topk_context *context) {
    const uint32_t shared_bytes_max = (uint32_t)device_of(context)->shared_bytes_max;
    int error = topk_cuda_prepare_bounds();
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare(shared_bytes_max);
    }
    return error;
}

const struct accumulators topk_cuda_accumulators = {.choose = topk_cuda_accumulate_choose,
                                                    .measure = topk_cuda_accumulate_measure,
                                                    .init = init,
                                                    .push = push,
                                                    .merge = merge,
                                                    .write = write,
                                                    .export_bytes = export_bytes,
                                                    .import_bytes = import_bytes};
