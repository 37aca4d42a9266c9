/* SPDX-License-Identifier: Apache-2.0 */
#include "filter.h"

#include "../base/alloc.h"
#include "session.h"

void filter_begin(struct filter *filter, topk_predicate *mask) {
    *mask = (topk_predicate)TOPK_PREDICATE_INIT;
    mask->kind = TOPK_BYTE_MASK;
    filter->mask = mask;
}

static void reserve(struct filter *filter, uint64_t elements) {
    if (elements <= filter->room && filter->bytes != NULL)
        return;
    filter->room = elements;
    filter->bytes = reallocate(filter->bytes, elements + 1, 1);
    filter->bits = reallocate(filter->bits, elements / 8 + 1, 1);
}

void filter_apply(struct filter *filter, struct session *host, const topk_problem *given,
                  const void *elements, const unsigned char *met) {
    topk_problem problem = *given;
    const uint64_t stride = (uint64_t)(problem.row_stride > 0 ? problem.row_stride : problem.length_max);
    const bool empty = problem.rows == 0 || problem.length_max == 0;
    const uint64_t span = empty ? 0 : (uint64_t)(problem.rows - 1) * stride + (uint64_t)problem.length_max;
    unsigned char *bytes;
    reserve(filter, span);
    bytes = filter->bytes;
    filter->mask->mask = filter->count == 0 && met != NULL ? met : bytes;
    if (filter->count == 0 || empty)
        return;
    session_choose_freely(&problem);
    problem.k_max = 0;
    for (uint64_t i = 0; i < span; i++)
        bytes[i] = met != NULL ? met[i] : 1;
    for (int at = 0; at < filter->count; at++) {
        session_mask(host, &problem, elements, &filter->predicates[at], filter->bits);
        for (uint64_t i = 0; i < span; i++)
            bytes[i] &= filter->bits[i / 8] >> i % 8 & 1;
    }
}

void filter_end(struct filter *filter) {
    release(filter->bits);
    release(filter->bytes);
}
