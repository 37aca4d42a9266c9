/* SPDX-License-Identifier: Apache-2.0 */
#include "groups.h"

#include "status.h"

topk_status topk_check_select_by(const topk_problem *p) {
    if (p->shape != TOPK_SHAPE_STRIDED) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "problem->shape is %u, for select_by it is 0",
                         (unsigned)p->shape);
    }
    return p->row_stride == 0 ? TOPK_OK
                              : topk_fail(TOPK_ERROR_CONTRADICTION,
                                          "problem->row_stride is %lld, for select_by it must be 0",
                                          (long long)p->row_stride);
}

topk_status topk_list_groups(const struct plan *plan, const topk_input *input, struct buffer_list *buffers) {
    const size_t count = plan->input_elements, extent = plan->extent_bytes;
    const char *const name = input->begins != NULL    ? "begins"
                             : input->ends != NULL    ? "ends"
                             : input->offsets != NULL ? "offsets"
                                                      : NULL;
    if (name != NULL) {
        return topk_fail(TOPK_ERROR_CONTRADICTION, "input->%s does not go with groups", name);
    }
    if (input->lengths != NULL) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "input->lengths must be NULL for select_by");
    }
    buffer_list_add(buffers, (struct buffer){"input->values", input->values, count * plan->element_bytes,
                                             plan->element_bytes, true, false});
    buffer_list_add(buffers, (struct buffer){"input->indices", input->indices, count * plan->index_bytes,
                                             plan->index_bytes, false, false});
    buffer_list_add(buffers, (struct buffer){"input->k", input->k, (size_t)plan->problem.rows * extent,
                                             extent, false, false});
    buffer_list_add(buffers,
                    (struct buffer){"input->groups", input->groups, count * extent, extent, true, false});
    return TOPK_OK;
}
