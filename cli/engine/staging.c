/* SPDX-License-Identifier: Apache-2.0 */
#include "staging.h"

#include "device.h"
#include "topk_accumulator.h"

static void *reserve(struct device_buffer *buffer, uint64_t bytes) {
    if (buffer->memory == NULL || bytes > buffer->bytes) {
        device_release(buffer->memory);
        buffer->memory = device_allocate(bytes);
        buffer->bytes = bytes;
    }
    return buffer->memory;
}

/* Elements from the first row's first to the last row's last. */
static uint64_t span(const topk_problem *problem) {
    if (problem->rows == 0 || problem->length_max == 0)
        return 0;
    uint64_t stride = (uint64_t)(problem->row_stride > 0 ? problem->row_stride : problem->length_max);
    return (uint64_t)(problem->rows - 1) * stride + (uint64_t)problem->length_max;
}

const void *staging_upload(struct staging *staging, const topk_problem *problem, const void *elements) {
    uint64_t bytes = span(problem) * topk_type_size(problem->type);
    if (bytes == 0)
        return NULL;
    void *memory = reserve(&staging->elements, bytes);
    device_upload(memory, elements, bytes);
    return memory;
}

static topk_input input_of(const void *elements) {
    topk_input input = TOPK_INPUT_INIT;
    input.values = elements;
    return input;
}

static topk_status reserve_workspace(struct staging *staging, topk_operation operation,
                                     const topk_problem *problem) {
    size_t bytes;
    topk_status status = topk_workspace_size(staging->context, operation, problem, &bytes);
    if (status == TOPK_OK)
        reserve(&staging->workspace, bytes);
    return status;
}

/* Results that are not wanted are not made. */
static void *reserve_wanted(struct device_buffer *buffer, const void *wanted, uint64_t bytes) {
    return wanted != NULL ? reserve(buffer, bytes) : NULL;
}

static void download_wanted(void *wanted, const void *memory, uint64_t bytes) {
    if (wanted != NULL)
        device_download(wanted, memory, bytes);
}

topk_status staging_enqueue_select(struct staging *staging, const topk_problem *problem, const void *elements,
                                   const topk_predicate *predicate, void *values, void *indices) {
    topk_status status = reserve_workspace(
        staging, predicate == NULL ? TOPK_OPERATION_SELECT : TOPK_OPERATION_SELECT_WHERE, problem);
    if (status != TOPK_OK)
        return status;
    topk_input input = input_of(elements);
    void *workspace = staging->workspace.memory;
    size_t workspace_bytes = staging->workspace.bytes;
    return predicate == NULL ? topk_select(staging->context, problem, &input, values, indices, workspace,
                                           workspace_bytes, NULL)
                             : topk_select_where(staging->context, problem, &input, predicate, values,
                                                 indices, workspace, workspace_bytes, NULL);
}

topk_status staging_select(struct staging *staging, const topk_problem *problem, const void *elements,
                           const topk_predicate *predicate, void *values, int64_t *indices) {
    uint64_t value_bytes = (uint64_t)problem->k_max * topk_type_size(problem->type);
    uint64_t index_bytes = (uint64_t)problem->k_max * sizeof *indices;
    void *device_values = reserve_wanted(&staging->values, values, value_bytes);
    void *device_indices = reserve_wanted(&staging->indices, indices, index_bytes);
    topk_status status =
        staging_enqueue_select(staging, problem, elements, predicate, device_values, device_indices);
    if (status != TOPK_OK)
        return status;
    download_wanted(values, device_values, value_bytes);
    download_wanted(indices, device_indices, index_bytes);
    return TOPK_OK;
}

topk_status staging_kth(struct staging *staging, const topk_problem *problem, const void *elements, void *kth,
                        int64_t *better, int64_t *equal) {
    uint64_t rows = (uint64_t)problem->rows;
    topk_status status = reserve_workspace(staging, TOPK_OPERATION_KTH, problem);
    if (status != TOPK_OK)
        return status;
    topk_input input = input_of(elements);
    void *device_kth = reserve(&staging->values, rows * topk_type_size(problem->type));
    int64_t *device_better = reserve(&staging->counts, 2 * rows * sizeof(int64_t));
    int64_t *device_equal = device_better + rows;
    status = topk_kth(staging->context, problem, &input, device_kth, device_better, device_equal,
                      staging->workspace.memory, staging->workspace.bytes, NULL);
    if (status != TOPK_OK)
        return status;
    download_wanted(kth, device_kth, rows * topk_type_size(problem->type));
    download_wanted(better, device_better, rows * sizeof(int64_t));
    download_wanted(equal, device_equal, rows * sizeof(int64_t));
    return TOPK_OK;
}

topk_status staging_where(struct staging *staging, const topk_problem *problem, const void *elements,
                          const topk_predicate *predicate, void *values, int64_t *indices, int64_t capacity,
                          int64_t *offsets) {
    size_t element = topk_type_size(problem->type);
    uint64_t offset_bytes = ((uint64_t)problem->rows + 1) * sizeof *offsets;
    topk_status status = reserve_workspace(staging, TOPK_OPERATION_WHERE, problem);
    if (status != TOPK_OK)
        return status;
    topk_input input = input_of(elements);
    void *device_values = reserve_wanted(&staging->values, values, (uint64_t)capacity * element);
    void *device_indices = reserve_wanted(&staging->indices, indices, (uint64_t)capacity * sizeof *indices);
    int64_t *device_offsets = reserve(&staging->counts, offset_bytes);
    status = topk_where(staging->context, problem, &input, predicate, device_values, device_indices, capacity,
                        device_offsets, staging->workspace.memory, staging->workspace.bytes, NULL);
    if (status != TOPK_OK)
        return status;
    device_download(offsets, device_offsets, offset_bytes);
    uint64_t count = (uint64_t)(offsets[problem->rows] < capacity ? offsets[problem->rows] : capacity);
    download_wanted(values, device_values, count * element);
    download_wanted(indices, device_indices, count * sizeof *indices);
    return TOPK_OK;
}

topk_status staging_count(struct staging *staging, const topk_problem *problem, const void *elements,
                          const topk_predicate *predicate, int64_t *counts) {
    uint64_t bytes = (uint64_t)problem->rows * sizeof *counts;
    topk_status status = reserve_workspace(staging, TOPK_OPERATION_COUNT, problem);
    if (status != TOPK_OK)
        return status;
    topk_input input = input_of(elements);
    int64_t *device_counts = reserve(&staging->counts, bytes);
    status = topk_count(staging->context, problem, &input, predicate, device_counts,
                        staging->workspace.memory, staging->workspace.bytes, NULL);
    if (status == TOPK_OK)
        device_download(counts, device_counts, bytes);
    return status;
}

topk_status staging_mask(struct staging *staging, const topk_problem *problem, const void *elements,
                         const topk_predicate *predicate, unsigned char *mask) {
    uint64_t bytes = (span(problem) + 7) / 8;
    topk_status status = reserve_workspace(staging, TOPK_OPERATION_MASK, problem);
    if (status != TOPK_OK)
        return status;
    topk_input input = input_of(elements);
    void *device_mask = reserve(&staging->counts, bytes);
    status = topk_mask(staging->context, problem, &input, predicate, device_mask, staging->workspace.memory,
                       staging->workspace.bytes, NULL);
    if (status == TOPK_OK)
        device_download(mask, device_mask, bytes);
    return status;
}

topk_status staging_accumulated(struct staging *staging, const topk_problem *problem, void *state,
                                size_t state_bytes, bool ends, void *values, int64_t *indices) {
    uint64_t value_bytes = (uint64_t)problem->k_max * topk_type_size(problem->type);
    uint64_t index_bytes = (uint64_t)problem->k_max * sizeof *indices;
    void *device_values = reserve_wanted(&staging->values, values, value_bytes);
    void *device_indices = reserve_wanted(&staging->indices, indices, index_bytes);
    topk_status status = (ends ? topk_accumulator_finish : topk_accumulator_peek)(
        staging->context, problem, state, state_bytes, device_values, device_indices, NULL);
    if (status != TOPK_OK)
        return status;
    download_wanted(values, device_values, value_bytes);
    download_wanted(indices, device_indices, index_bytes);
    return TOPK_OK;
}

/* Each slot holds an element and a result. CONTRACT.md, 7.2, says how much workspace an element may take that
 * is a result. A quarter of the memory is left alone. */
uint64_t staging_bytes_max(topk_type type) {
    uint64_t element = topk_type_size(type);
    uint64_t fixed = UINT64_C(32) << 20;
    uint64_t usable = device_free_bytes() / 4 * 3;
    uint64_t in_slots = DEVICE_SLOTS * (2 * element + sizeof(int64_t));
    return usable <= fixed ? 1 : (usable - fixed) / (in_slots + (element + 7) / 8 + 24) * element;
}

bool staging_serves_row(const struct staging *staging, topk_operation operation,
                        const topk_problem *problem) {
    const uint64_t element = topk_type_size(problem->type);
    const uint64_t results =
        (uint64_t)(problem->k_max < problem->length_max ? problem->k_max : problem->length_max);
    const uint64_t usable = device_free_bytes() / 4 * 3;
    size_t workspace;
    if (topk_workspace_size(staging->context, operation, problem, &workspace) != TOPK_OK)
        return false;
    return workspace <= usable &&
           (uint64_t)problem->length_max * element + results * (element + sizeof(int64_t)) <=
               usable - workspace;
}

void staging_end(struct staging *staging) {
    device_release(staging->elements.memory);
    device_release(staging->values.memory);
    device_release(staging->indices.memory);
    device_release(staging->counts.memory);
    device_release(staging->workspace.memory);
}
