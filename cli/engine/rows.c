/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <string.h>

#include "../base/fail.h"

static void check(topk_status status) {
    if (status != TOPK_OK)
        fail_library();
}

int64_t rows_piece_bytes(const struct session *session, int64_t bytes) {
    if (!session_on_device(session))
        return bytes;
    int64_t slot = (int64_t)device_slot_bytes();
    return bytes < slot ? bytes : slot;
}

bool rows_serve(const struct session *session, topk_type type, int64_t k) {
    uint64_t result = topk_type_size(type) + sizeof(int64_t);
    return !session_on_device(session) || (uint64_t)k <= device_slot_bytes() / result;
}

/* Bytes of the indices of `rows` rows, which come before the values. */
static size_t index_bytes(const struct rows *rows, int64_t count) {
    return rows->wants_indices ? (size_t)(count * rows->k) * sizeof(int64_t) : 0;
}

static size_t value_bytes(const struct rows *rows, topk_type type, int64_t count) {
    return rows->wants_values ? (size_t)(count * rows->k) * topk_type_size(type) : 0;
}

void rows_begin(struct rows *rows, struct session *session, const topk_problem *problem, int64_t elements_max,
                const topk_predicate *predicate, bool wants_values, bool wants_indices) {
    *rows = (struct rows){.session = session,
                          .predicate = predicate,
                          .k = problem->k_max,
                          .wants_values = wants_values,
                          .wants_indices = wants_indices};
    if (!session_on_device(session))
        return;
    slots_begin(&rows->slots, session, (uint64_t)elements_max * topk_type_size(problem->type));
    size_t bytes = index_bytes(rows, problem->rows) + value_bytes(rows, problem->type, problem->rows);
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        rows->device_results[i] = device_allocate(bytes);
        rows->pinned_results[i] = device_allocate_pinned(bytes);
    }
}

/* Elements from the first row's first to the last row's last. */
static uint64_t span(const topk_problem *problem) {
    if (problem->rows == 0 || problem->length_max == 0)
        return 0;
    uint64_t stride = (uint64_t)(problem->row_stride > 0 ? problem->row_stride : problem->length_max);
    return (uint64_t)(problem->rows - 1) * stride + (uint64_t)problem->length_max;
}

static void enqueue(struct rows *rows, int slot) {
    struct rows_piece *piece = &rows->pieces[slot];
    const topk_problem *problem = &piece->problem;
    const size_t values_at = index_bytes(rows, problem->rows);
    char *results = rows->device_results[slot];
    slots_fill(&rows->slots, piece->elements, span(problem) * topk_type_size(problem->type));
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    input.values = slots_upload(&rows->slots);
    input.predicate = rows->predicate;
    output.values = rows->wants_values ? results + values_at : NULL;
    output.indices = rows->wants_indices ? results : NULL;
    check(
        staging_enqueue(&rows->session->staging, selection_from(rows->predicate), problem, &input, &output));
    slots_pass(&rows->slots);
    device_slot_download(slot, rows->pinned_results[slot], results,
                         values_at + value_bytes(rows, problem->type, problem->rows));
}

void rows_push(struct rows *rows, const topk_problem *problem, const void *elements, int64_t row) {
    const int slot = (int)(rows->pushed % DEVICE_SLOTS);
    rows->pieces[slot] = (struct rows_piece){*problem, elements, row};
    rows->pushed++;
    if (session_on_device(rows->session))
        enqueue(rows, slot);
}

static void collect(struct rows *rows, int slot, void *values, int64_t *indices) {
    const topk_problem *problem = &rows->pieces[slot].problem;
    const char *results = rows->pinned_results[slot];
    const size_t for_indices = index_bytes(rows, problem->rows);
    const size_t for_values = value_bytes(rows, problem->type, problem->rows);
    device_slot_download_wait(slot);
    if (for_indices > 0)
        memcpy(indices, results, for_indices);
    if (for_values > 0)
        memcpy(values, results + for_indices, for_values);
}

bool rows_take(struct rows *rows, bool last, void *values, int64_t *indices, int64_t *row, int64_t *count) {
    const bool on_device = session_on_device(rows->session);
    const int64_t left = rows->pushed - rows->taken;
    if (left < (on_device && !last ? DEVICE_SLOTS : 1))
        return false;
    const int slot = (int)(rows->taken++ % DEVICE_SLOTS);
    const struct rows_piece *piece = &rows->pieces[slot];
    if (on_device)
        collect(rows, slot, values, indices);
    else
        session_select(rows->session, &piece->problem, piece->elements, rows->predicate, values, indices);
    *row = piece->row;
    *count = piece->problem.rows;
    return true;
}

void rows_end(struct rows *rows) {
    if (!session_on_device(rows->session))
        return;
    slots_end(&rows->slots);
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        device_release(rows->device_results[i]);
        device_release_pinned(rows->pinned_results[i]);
    }
}
