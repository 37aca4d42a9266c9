/* SPDX-License-Identifier: Apache-2.0
 * Moving data between a GPU and the host. */
#include "../../transfer.h"

#include "../../status.h"
#include "../leaf.h"
#include "../methods.h"
#include "kernels.h"
#include "streams.h"

struct work {
    const topk_context *context;
    void *to;
    const void *from;
    size_t bytes;
    int byte;
    void **memory;
    const topk_renumbering *how;
    topk_stream stream;
};

static int enqueue_copy(const void *of) {
    const struct work *w = of;
    return topk_device_transfer(w->stream, w->to, w->from, w->bytes);
}

static topk_status copy(const topk_context *context, void *to, const void *from, size_t bytes,
                        topk_stream stream) {
    const struct work work = {.to = to, .from = from, .bytes = bytes, .stream = stream};
    return topk_cuda_do(context, enqueue_copy, &work);
}

struct rows_work {
    const struct copied_rows *rows;
    topk_stream stream;
};

static int enqueue_rows(const void *of) {
    const struct rows_work *w = of;
    const struct copied_rows *c = w->rows;
    return topk_device_transfer_rows(w->stream, c->to, c->to_pitch, c->from, c->from_pitch, c->row_bytes,
                                     c->rows);
}

static topk_status copy_rows(const topk_context *context, const struct copied_rows *rows,
                             topk_stream stream) {
    const struct rows_work work = {rows, stream};
    return topk_cuda_do(context, enqueue_rows, &work);
}

static int enqueue_fill(const void *of) {
    const struct work *w = of;
    return topk_device_fill(w->stream, w->to, w->byte, w->bytes);
}

static topk_status fill(const topk_context *context, void *to, int byte, size_t bytes, topk_stream stream) {
    const struct work work = {.to = to, .byte = byte, .bytes = bytes, .stream = stream};
    return topk_cuda_do(context, enqueue_fill, &work);
}

static int wait_now(const void *of) {
    return topk_device_wait(((const struct work *)of)->stream);
}

static topk_status wait_for(const topk_context *context, topk_stream stream) {
    const struct work work = {.stream = stream};
    return topk_cuda_do(context, wait_now, &work);
}

static int allocate_now(const void *of) {
    const struct work *w = of;
    return topk_device_allocate_host(w->bytes, w->memory);
}

static topk_status allocate_host(const topk_context *context, size_t bytes, void **memory) {
    const struct work work = {.bytes = bytes, .memory = memory};
    const topk_status status = topk_cuda_do(context, allocate_now, &work);
    return status != TOPK_OK || *memory != NULL
               ? status
               : topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "cannot allocate %zu bytes of pinned memory", bytes);
}

static int release_now(const void *of) {
    return topk_device_free_host(((const struct work *)of)->to);
}

static topk_status release_host(const topk_context *context, void *memory) {
    const struct work work = {.to = memory};
    return topk_cuda_do(context, release_now, &work);
}

static int enqueue_renumber(const void *of) {
    const struct work *w = of;
    const struct call call = {.context = w->context, .stream = w->stream};
    const struct renumber_args args = {*w->how, w->from, w->to};
    const int64_t most = RENUMBER_BLOCKS_PER_SM * (int64_t)device_of(w->context)->sms;
    const struct launch_grid grid =
        grid_of(&call, divide_up(w->how->count, RENUMBER_THREADS), most, RENUMBER_THREADS);
    return topk_cuda_launch_renumber(&grid, &args);
}

static topk_status renumber(const topk_context *context, const topk_renumbering *renumbering,
                            const void *from, void *to, topk_stream stream) {
    const struct work work = {
        .context = context, .to = to, .from = from, .how = renumbering, .stream = stream};
    return topk_cuda_do(context, enqueue_renumber, &work);
}

struct add_work {
    const topk_context *context;
    struct add_args args;
    topk_stream stream;
};

static int enqueue_add(const void *of) {
    const struct add_work *w = of;
    const struct call call = {.context = w->context, .stream = w->stream};
    const int64_t most = RENUMBER_BLOCKS_PER_SM * (int64_t)device_of(w->context)->sms;
    const struct launch_grid grid =
        grid_of(&call, divide_up(w->args.count, RENUMBER_THREADS), most, RENUMBER_THREADS);
    return topk_cuda_launch_add(&grid, &w->args);
}

static topk_status add(const topk_context *context, int64_t count, const int64_t *from, int64_t *to,
                       topk_stream stream) {
    const struct add_work work = {context, {count, from, to}, stream};
    return topk_cuda_do(context, enqueue_add, &work);
}

/* ---- Rows whose positions do not ascend ---- */

struct descents {
    const topk_context *context;
    const struct plan *plan;
    const topk_input *input;
    int64_t *places;
    topk_stream stream;
};

static int enqueue_descents(const void *of) {
    const struct descents *d = of;
    const topk_problem *p = &d->plan->problem;
    const struct call call = {
        .context = d->context, .plan = d->plan, .input = *d->input, .stream = d->stream};
    const struct descent_args args = {row_args_of(&call), (uint64_t *)d->places};
    const int64_t rows = least(p->rows, DESCENT_ROWS_MAX);
    const int64_t all = RENUMBER_BLOCKS_PER_SM * (int64_t)device_of(d->context)->sms;
    struct launch_grid grid = grid_of(&call, divide_up(p->length_max, RENUMBER_THREADS * DESCENT_STEPS),
                                      divide_up(all, rows), RENUMBER_THREADS);
    grid.rows = (uint32_t)rows;
    const int error = topk_device_fill(d->stream, d->places, 0xff, (size_t)p->rows * sizeof *d->places);
    return error != 0 || p->length_max == 0 ? error : topk_cuda_launch_descents(&grid, &args);
}

static topk_status find_descents(const topk_context *context, const struct plan *plan,
                                 const topk_input *input, int64_t *places, topk_stream stream) {
    const struct descents descents = {context, plan, input, places, stream};
    return topk_cuda_do(context, enqueue_descents, &descents);
}

struct breaks {
    const topk_context *context;
    const struct breaking *how;
    topk_stream stream;
};

static int enqueue_break(const void *of) {
    const struct breaks *w = of;
    const struct breaking *b = w->how;
    const struct call call = {.context = w->context, .stream = w->stream};
    const struct break_args args = {.rows = b->rows,
                                    .from_pitch = b->from_pitch,
                                    .to_pitch = b->to_pitch,
                                    .from_wide = b->from_type == TOPK_INDEX_I64,
                                    .to_wide = b->to_type == TOPK_INDEX_I64,
                                    .from = b->from,
                                    .to = b->to};
    const int64_t most = RENUMBER_BLOCKS_PER_SM * (int64_t)device_of(w->context)->sms;
    const struct launch_grid grid =
        grid_of(&call, divide_up(b->rows * b->to_pitch, RENUMBER_THREADS), most, RENUMBER_THREADS);
    return topk_cuda_launch_break(&grid, &args);
}

static topk_status break_rows(const topk_context *context, const struct breaking *breaking,
                              topk_stream stream) {
    const struct breaks work = {context, breaking, stream};
    return topk_cuda_do(context, enqueue_break, &work);
}

int topk_cuda_prepare_transfers(const topk_context *context) {
    (void)context;
    return topk_cuda_prepare_renumber();
}

const struct transfers topk_cuda_transfers = {.copy = copy,
                                              .fill = fill,
                                              .wait = wait_for,
                                              .allocate_host = allocate_host,
                                              .release_host = release_host,
                                              .renumber = renumber,
                                              .copy_rows = copy_rows,
                                              .add = add,
                                              .streams = &topk_cuda_streams,
                                              .find_descents = find_descents,
                                              .break_rows = break_rows};
