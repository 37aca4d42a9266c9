/* SPDX-License-Identifier: Apache-2.0 */
#include "lists.h"

#include "status.h"
#include "structs.h"

topk_status topk_check_merge(const topk_problem *p) {
    return p->shape == TOPK_SHAPE_STRIDED
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_UNSUPPORTED, "problem->shape is %u, in merging it is 0",
                           (unsigned)p->shape);
}

static topk_status check_fields(const topk_lists *lists) {
    const int64_t bytes = lists->payload_bytes;
    if ((unsigned)lists->sorted > TOPK_SORTED_BEST_FIRST) {
        return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "lists->sorted is %d, must be %d to %d", (int)lists->sorted,
                         TOPK_SORTED_NOT, TOPK_SORTED_BEST_FIRST);
    }
    if (lists->lists < 0 || lists->list_stride < 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "lists->%s is %lld, must not be negative",
                         lists->lists < 0 ? "lists" : "list_stride",
                         (long long)(lists->lists < 0 ? lists->lists : lists->list_stride));
    }
    if (bytes < 0 || bytes > 16 || (bytes & (bytes - 1)) != 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "lists->payload_bytes is %lld, must be 0, 1, 2, 4, 8 or 16",
                         (long long)bytes);
    }
    return lists->payload == NULL || bytes != 0
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_CONTRADICTION,
                           "lists->payload is given, but lists->payload_bytes is 0");
}

/* Elements that lists can reach, and how many each row has; with list_stride resolved. Methods count
 * candidates in 64 bits. */
static bool measure(const struct plan *plan, topk_lists *lists, int64_t *elements) {
    const topk_problem *p = &plan->problem;
    int64_t candidates, extents, beside;
    bool overflow = false;
    if (lists->list_stride == 0) {
        overflow |= __builtin_mul_overflow(p->rows, p->row_stride, &lists->list_stride);
    }
    *elements = 0;
    if (lists->lists > 0 && plan->input_elements > 0) {
        overflow |= __builtin_mul_overflow(lists->lists - 1, lists->list_stride, &beside) ||
                    __builtin_add_overflow(beside, (int64_t)plan->input_elements, elements);
    }
    overflow |= __builtin_mul_overflow(lists->lists, p->rows, &extents) ||
                __builtin_mul_overflow(extents, p->length_max, &candidates);
    return !overflow && *elements <= INT64_MAX / 16 && extents <= INT64_MAX / 8;
}

topk_status topk_check_lists(const struct plan *plan, const topk_lists *caller, topk_lists *lists) {
    int64_t elements;
    topk_status status = topk_read_struct(STRUCT_LISTS, caller, lists);
    if (status != TOPK_OK || (status = check_fields(lists)) != TOPK_OK) {
        return status;
    }
    return measure(plan, lists, &elements)
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_OVERFLOW, "the buffers of %lld lists of %lld rows exceed 2^63 bytes",
                           (long long)lists->lists, (long long)plan->problem.rows);
}

/* What merging has no use for. */
static topk_status check_input(const topk_input *input) {
    const char *const name = input->begins != NULL    ? "begins"
                             : input->ends != NULL    ? "ends"
                             : input->offsets != NULL ? "offsets"
                                                      : NULL;
    return name == NULL ? TOPK_OK
                        : topk_fail(TOPK_ERROR_CONTRADICTION, "input->%s does not go with merging", name);
}

topk_status topk_list_lists(const struct plan *plan, const topk_input *input, const topk_output *output,
                            const topk_lists *lists, struct buffer_list *buffers) {
    const size_t extent = plan->extent_bytes, rows = (size_t)plan->problem.rows;
    const size_t payload_bytes = (size_t)lists->payload_bytes;
    topk_lists known = *lists;
    int64_t elements;
    const topk_status status = check_input(input);
    if (status != TOPK_OK) {
        return status;
    }
    if (output->payload != NULL && payload_bytes == 0) {
        return topk_fail(TOPK_ERROR_CONTRADICTION, "output->payload must be NULL: lists->payload_bytes is 0");
    }
    (void)measure(plan, &known, &elements);
    const size_t count = (size_t)elements;
    buffer_list_add(buffers, (struct buffer){"input->values", input->values, count * plan->element_bytes,
                                             plan->element_bytes, true, false});
    buffer_list_add(buffers, (struct buffer){"input->indices", input->indices, count * plan->index_bytes,
                                             plan->index_bytes, true, false});
    buffer_list_add(buffers, (struct buffer){"lists->payload", lists->payload, count * payload_bytes,
                                             payload_bytes, output->payload != NULL, false});
    buffer_list_add(buffers, (struct buffer){"input->lengths", input->lengths,
                                             (size_t)lists->lists * rows * extent, extent, false, false});
    buffer_list_add(buffers, (struct buffer){"input->k", input->k, rows * extent, extent, false, false});
    return TOPK_OK;
}
