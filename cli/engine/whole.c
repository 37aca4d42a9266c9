/* SPDX-License-Identifier: Apache-2.0 */
#include "whole.h"

#include "../base/fail.h"

static void check(topk_status status) {
    if (status != TOPK_OK)
        fail_library();
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

bool whole_serves(const struct session *session, topk_operation operation, const topk_problem *problem) {
    return session_on_device(session) && staging_serves_row(&session->staging, operation, problem);
}

static uint64_t row_bytes(const struct whole *whole) {
    return (uint64_t)whole->problem.length_max * topk_type_size(whole->problem.type);
}

void whole_begin(struct whole *whole, struct session *session, const topk_problem *problem) {
    *whole = (struct whole){.session = session, .problem = *problem};
    whole->elements = device_allocate(row_bytes(whole));
    slots_begin(&whole->slots, session, least(row_bytes(whole), device_slot_bytes()));
}

void whole_end(struct whole *whole) {
    slots_end(&whole->slots);
    device_release(whole->elements);
}

/* Begins to fill a slot with what begins at byte `at` of the row, if there is any. */
static void fill(struct whole *whole, const char *elements, uint64_t at) {
    if (at < row_bytes(whole))
        slots_fill(&whole->slots, elements + at, least(row_bytes(whole) - at, whole->slots.bytes));
}

static void load(struct whole *whole, const char *elements, struct progress *progress) {
    const uint64_t slot = whole->slots.bytes;
    for (uint64_t at = 0; at < SLOTS_AHEAD * slot; at += slot)
        fill(whole, elements, at);
    for (uint64_t at = 0; at < row_bytes(whole); at += slot) {
        slots_upload_to(&whole->slots, whole->elements + at);
        slots_pass(&whole->slots);
        fill(whole, elements, at + SLOTS_AHEAD * slot);
        progress_add(progress, least(row_bytes(whole) - at, slot));
    }
}

void whole_kth(struct whole *whole, const void *elements, struct progress *progress, void *kth,
               int64_t *better, int64_t *equal) {
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    load(whole, elements, progress);
    input.values = whole->elements;
    output.values = kth;
    output.better = better;
    output.equal = equal;
    check(staging_run(&whole->session->staging, TOPK_OPERATION_KTH, &whole->problem, &input, &output));
}

void whole_select(struct whole *whole, const void *elements, struct progress *progress,
                  const topk_predicate *predicate, void *values, int64_t *indices) {
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    load(whole, elements, progress);
    input.values = whole->elements;
    input.predicate = predicate;
    output.values = values;
    output.indices = indices;
    check(staging_run(&whole->session->staging, selection_from(predicate), &whole->problem, &input, &output));
}
