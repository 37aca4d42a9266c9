/* SPDX-License-Identifier: Apache-2.0 */
#include "accumulator.h"

_Static_assert(sizeof(struct exported_header) == EXPORTED_WORDS * sizeof(uint64_t), "no padding");

/* Takes an array. Returns where it begins. */
static size_t take(size_t *end, size_t count, size_t bytes_each) {
    const size_t begin = *end;
    size_t bytes;
    if (__builtin_mul_overflow(count, bytes_each, &bytes) || __builtin_add_overflow(begin, bytes, end) ||
        *end > (size_t)INT64_MAX) {
        *end = SIZE_MAX;
    }
    return begin;
}

struct exported topk_exported_of(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    struct exported e = {.bytes = sizeof e.header};
    e.rows = take(&e.bytes, (size_t)p->rows, EXPORTED_ROW_BYTES);
    e.positions = take(&e.bytes, plan->output_elements, sizeof(int64_t));
    e.payload = take(&e.bytes, plan->output_elements, plan->index_bytes);
    e.values = take(&e.bytes, plan->output_elements, plan->element_bytes);
    e.position_end = (p->index_type == TOPK_INDEX_I32 ? INT32_MAX : INT64_MAX) - p->index_base;
    e.header = (struct exported_header){.magic = EXPORTED_MAGIC,
                                        .version = EXPORTED_VERSION,
                                        .byte_order = EXPORTED_BYTE_ORDER,
                                        .bytes = e.bytes,
                                        .type = (uint32_t)p->type,
                                        .index_type = (uint32_t)p->index_type,
                                        .direction = (uint32_t)p->direction,
                                        .rank = (uint32_t)p->rank,
                                        .nan = (uint32_t)p->nan,
                                        .rows = p->rows,
                                        .k_max = p->k_max,
                                        .index_base = p->index_base};
    return e;
}
