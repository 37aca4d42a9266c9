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

/* Results that are not wanted are not made. */
static void *reserve_wanted(struct device_buffer *buffer, const void *wanted, uint64_t bytes) {
    return wanted != NULL ? reserve(buffer, bytes) : NULL;
}

static void download_wanted(void *wanted, const void *memory, uint64_t bytes) {
    if (wanted != NULL)
        device_download(wanted, memory, bytes);
}

topk_status staging_enqueue(struct staging *staging, topk_operation operation, const topk_problem *problem,
                            const topk_input *input, const topk_output *output) {
    return topk_simple_run(staging->simple, operation, problem, input, output, NULL);
}

/* How many slots an operation's values and indices have. */
static uint64_t slots_of(topk_operation operation, const topk_problem *problem, const topk_output *output) {
    return operation == TOPK_OPERATION_WHERE ? (uint64_t)output->capacity
           : operation == TOPK_OPERATION_KTH || operation == TOPK_OPERATION_KTH_WHERE
               ? (uint64_t)problem->rows
               : (uint64_t)problem->rows * (uint64_t)problem->k_max;
}

/* An operation has two arrays of counts of rows at most, or a mask. */
static void reserve_counts(struct staging *staging, const topk_problem *problem, const topk_output *output,
                           topk_output *there) {
    const uint64_t counts = (uint64_t)problem->rows + 1;
    const bool counted =
        output->better != NULL || output->equal != NULL || output->offsets != NULL || output->counts != NULL;
    if (counted) {
        int64_t *memory = reserve(&staging->counts, 2 * counts * sizeof *memory);
        there->better = output->better != NULL ? memory : NULL;
        there->equal = output->equal != NULL ? memory + counts : NULL;
        there->offsets = output->offsets != NULL ? memory : NULL;
        there->counts = output->counts != NULL ? memory : NULL;
    }
    there->mask = reserve_wanted(&staging->counts, output->mask, (span(problem) + 7) / 8);
}

static void download(const topk_problem *problem, const topk_output *there, const topk_output *output,
                     uint64_t slots) {
    const uint64_t counts_bytes = (uint64_t)problem->rows * sizeof(int64_t);
    download_wanted(output->better, there->better, counts_bytes);
    download_wanted(output->equal, there->equal, counts_bytes);
    download_wanted(output->counts, there->counts, counts_bytes);
    download_wanted(output->mask, there->mask, (span(problem) + 7) / 8);
    if (output->offsets != NULL) {
        download_wanted(output->offsets, there->offsets, counts_bytes + sizeof(int64_t));
        const uint64_t found = (uint64_t)output->offsets[problem->rows];
        slots = found < slots ? found : slots;
    }
    download_wanted(output->values, there->values, slots * topk_type_size(problem->type));
    download_wanted(output->indices, there->indices, slots * sizeof(int64_t));
}

topk_status staging_run(struct staging *staging, topk_operation operation, const topk_problem *problem,
                        const topk_input *input, const topk_output *output) {
    const uint64_t slots = slots_of(operation, problem, output);
    topk_output there = TOPK_OUTPUT_INIT;
    there.capacity = output->capacity;
    there.values = reserve_wanted(&staging->values, output->values, slots * topk_type_size(problem->type));
    there.indices = reserve_wanted(&staging->indices, output->indices, slots * sizeof(int64_t));
    reserve_counts(staging, problem, output, &there);
    const topk_status status = staging_enqueue(staging, operation, problem, input, &there);
    if (status == TOPK_OK)
        download(problem, &there, output, slots);
    return status;
}

topk_status staging_accumulated(struct staging *staging, const topk_problem *problem, void *state,
                                size_t state_bytes, bool ends, void *values, int64_t *indices) {
    uint64_t value_bytes = (uint64_t)problem->k_max * topk_type_size(problem->type);
    uint64_t index_bytes = (uint64_t)problem->k_max * sizeof *indices;
    void *device_values = reserve_wanted(&staging->values, values, value_bytes);
    void *device_indices = reserve_wanted(&staging->indices, indices, index_bytes);
    topk_status status = (ends ? topk_accumulator_finish
                               : topk_accumulator_peek)(topk_simple_context(staging->simple), problem, state,
                                                        state_bytes, device_values, device_indices, NULL);
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
    if (topk_workspace_size(topk_simple_context(staging->simple), operation, problem, &workspace) != TOPK_OK)
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
}
