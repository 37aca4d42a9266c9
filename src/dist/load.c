/* SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

#include <stdlib.h>

#include "error.h"

/* ---- What a plan keeps ---- */

static topk_status make_events(const struct topk_dist_plan *plan, struct topk_dist_load *load) {
    topk_event *const events[] = {&load->begun, &load->copied[0], &load->copied[1], &load->used[0],
                                  &load->used[1]};
    topk_status status = topk_stream_create(plan->context, &load->stream);
    for (size_t e = 0; e < sizeof events / sizeof events[0] && status == TOPK_OK; e++) {
        status = topk_event_create(plan->context, events[e]);
    }
    return topk_dist_of_core(status);
}

static topk_status allocate_some(const struct topk_dist_plan *plan, size_t bytes, void **memory) {
    return bytes == 0 ? TOPK_OK : topk_memory_allocate(plan->context, TOPK_MEMORY_HOST, bytes, memory);
}

/* The workspace, which has as much, has been measured. */
static topk_status make_memory(const struct topk_dist_plan *plan, struct topk_dist_load *load) {
    const size_t rows = (size_t)plan->problem.rows;
    const size_t piece = rows * (size_t)plan->piece_max * topk_type_size(plan->problem.type);
    topk_status status = allocate_some(plan, piece, &load->read[0]);
    status = status == TOPK_OK ? allocate_some(plan, piece, &load->read[1]) : status;
    if (status == TOPK_OK) {
        status =
            allocate_some(plan, rows * topk_dist_integer_bytes(plan->problem.extent_type), &load->lengths);
    }
    return topk_dist_of_core(status);
}

topk_status topk_dist_load_open(struct topk_dist_plan *plan) {
    plan->load = calloc(1, sizeof *plan->load);
    if (plan->load == NULL) {
        return topk_dist_fail(TOPK_ERROR_OUT_OF_MEMORY, "no memory for a plan");
    }
    const topk_status status = make_events(plan, plan->load);
    return status == TOPK_OK && topk_dist_reads(plan) ? make_memory(plan, plan->load) : status;
}

void topk_dist_load_close(struct topk_dist_plan *plan) {
    struct topk_dist_load *const load = plan->load;
    if (load == NULL) {
        return;
    }
    topk_event const events[] = {load->begun, load->copied[0], load->copied[1], load->used[0], load->used[1]};
    for (size_t e = 0; e < sizeof events / sizeof events[0]; e++) {
        (void)topk_event_destroy(plan->context, events[e]);
    }
    (void)topk_stream_destroy(plan->context, load->stream);
    (void)topk_memory_release(plan->context, TOPK_MEMORY_HOST, load->read[0]);
    (void)topk_memory_release(plan->context, TOPK_MEMORY_HOST, load->read[1]);
    (void)topk_memory_release(plan->context, TOPK_MEMORY_HOST, load->lengths);
    free(load);
    plan->load = NULL;
}

/* ---- Runs ---- */

topk_status topk_dist_load_lengths(struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const size_t bytes = (size_t)p->problem.rows * topk_dist_integer_bytes(p->problem.extent_type);
    if (r->input.lengths == NULL || bytes == 0) {
        return TOPK_OK;
    }
    topk_status status = topk_copy(p->context, p->load->lengths, r->input.lengths, bytes, r->stream);
    status = status == TOPK_OK ? topk_wait(p->context, r->stream) : status;
    r->lengths = p->load->lengths;
    return topk_dist_of_core(status);
}

/* What is enqueued on `second` from now on comes behind what `first` has. */
static topk_status follow(const struct run *r, topk_event event, topk_stream first, topk_stream second) {
    const topk_status status = topk_event_record(r->plan->context, event, first);
    return status == TOPK_OK ? topk_event_await(r->plan->context, event, second) : status;
}

topk_status topk_dist_load_begin(const struct run *r) {
    const struct topk_dist_load *const load = r->plan->load;
    return topk_dist_of_core(follow(r, load->begun, r->stream, load->stream));
}

topk_status topk_dist_load_copy(const struct run *r, int64_t number, const void *from, int64_t stride,
                                int64_t length) {
    const struct topk_dist_plan *p = r->plan;
    const struct topk_dist_load *const load = p->load;
    const int slot = (int)(number % 2);
    const size_t width = topk_type_size(p->problem.type), bytes = (size_t)length * width;
    topk_status status = TOPK_OK;
    if (number >= 2) { /* the first two come behind `begun` */
        status = topk_event_await(p->context, load->used[slot], load->stream);
    }
    if (status == TOPK_OK) {
        status = topk_copy_rows(p->context, r->b.pieces[slot], bytes, from, (size_t)stride * width, bytes,
                                p->problem.rows, load->stream);
    }
    status = status == TOPK_OK ? follow(r, load->copied[slot], load->stream, r->stream) : status;
    return topk_dist_of_core(status);
}

topk_status topk_dist_load_used(const struct run *r, int64_t number) {
    return topk_dist_of_core(topk_event_record(r->plan->context, r->plan->load->used[number % 2], r->stream));
}

topk_status topk_dist_load_wait(const struct run *r, int64_t number) {
    return topk_dist_of_core(topk_event_wait(r->plan->context, r->plan->load->copied[number % 2]));
}

topk_status topk_dist_load_end(const struct run *r) {
    const struct topk_dist_load *const load = r->plan->load;
    return follow(r, load->begun, load->stream, r->stream);
}
