/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls whose elements lie in the memory of a device, and whose results come back to the host. Device memory
 * is kept from call to call, and grows as needed. */
#ifndef TOPK_CLI_STAGING_H
#define TOPK_CLI_STAGING_H

#include <stdbool.h>
#include <stdint.h>

#include "topk_simple.h"

struct device_buffer {
    void *memory;
    uint64_t bytes;
};

struct staging {
    topk_simple *simple; /* a device's, with the workspace of the calls */
    struct device_buffer elements;
    struct device_buffer values;  /* results */
    struct device_buffer indices; /* results */
    struct device_buffer counts;  /* results: better and equal, offsets, counts, or a mask */
};

/* Copies the elements of a problem to the device, and returns where they are until the next call. */
const void *staging_upload(struct staging *staging, const topk_problem *problem, const void *elements);

/* Whether one row of so many elements, its results and the workspace have room on the device. A quarter of
 * the memory is left alone. */
bool staging_serves_row(const struct staging *staging, topk_operation operation, const topk_problem *problem);

/* An operation with input and results on the device. It does not wait, unless the workspace grows. */
topk_status staging_enqueue(struct staging *staging, topk_operation operation, const topk_problem *problem,
                            const topk_input *input, const topk_output *output);

/* The same, but results lie on the host. Of topk_where() there are offsets. */
topk_status staging_run(struct staging *staging, topk_operation operation, const topk_problem *problem,
                        const topk_input *input, const topk_output *output);

/* The operation that selects from the elements that meet a predicate, or from all if it is NULL. */
static inline topk_operation selection_from(const topk_predicate *predicate) {
    return predicate == NULL ? TOPK_OPERATION_SELECT : TOPK_OPERATION_SELECT_WHERE;
}

/* Writes the results of an accumulator, whose state is the device's: by topk_accumulator_finish() if that
 * `ends` it, else by topk_accumulator_peek(). */
topk_status staging_accumulated(struct staging *staging, const topk_problem *problem, void *state,
                                size_t state_bytes, bool ends, void *values, int64_t *indices);

/* Bytes of elements that a call may have for everything it takes to fit into the device. */
uint64_t staging_bytes_max(topk_type type);

/* Releases the memory, not the context. */
void staging_end(struct staging *staging);

#endif /* TOPK_CLI_STAGING_H */
