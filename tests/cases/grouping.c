/* SPDX-License-Identifier: Apache-2.0
 *
 * A problem of groups for each case: elements that name their groups. What no dimension says is drawn from a
 * random state of its own, so that the rest of a case is what it would be without. */
#include <string.h>

#include "build.h"
#include "generators.h"

enum { MEMBERS_MOST = 1 << 14, RESULTS_MOST = 1 << 14 };

/* How elements are divided. */
enum { DIVIDED_EVENLY, DIVIDED_IN_BLOCKS, DIVIDED_TO_ONE, DIVIDED_MOSTLY_TO_ONE, DIVIDED_TO_FEW, DIVISIONS };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void build_problem(instance *out, int64_t budget, random_state *random) {
    static const int64_t counts[] = {0, 1, 2, 3, 7, 33, 100, 1000};
    const test_case *c = out->source;
    topk_problem *p = &out->by;
    *p = out->problem;
    p->shape = TOPK_SHAPE_STRIDED;
    p->elements_max = p->row_stride = 0;
    p->length_max = smaller(smaller(c->value[DIM_SIZE], budget), MEMBERS_MOST);
    p->rows = counts[random_below(random, sizeof counts / sizeof counts[0])];
    const int64_t most = smaller(budget, RESULTS_MOST) / (p->rows + 1);
    p->k_max = smaller(case_k(c, p->length_max), most + 1);
    p->index_base = p->index_base > 1 ? 1000 : p->index_base;
}

static void put_integer(topk_index_type type, void *array, int64_t at, int64_t value) {
    if (type == TOPK_INDEX_I32) {
        ((int32_t *)array)[at] = (int32_t)value;
    } else {
        ((int64_t *)array)[at] = value;
    }
}

/* The number of no group; some have the low half of one. */
static int64_t outside(const topk_problem *p, random_state *random) {
    const int64_t narrow[] = {-1, INT32_MIN, INT32_MAX, p->rows, -p->rows - 1};
    const int64_t wide[] = {INT64_MIN, INT64_MAX, (INT64_C(1) << 32), -(INT64_C(1) << 32)};
    const int64_t drawn = random_below(random, p->extent_type == TOPK_INDEX_I32 ? 5 : 9);
    return drawn < 5 ? narrow[drawn] : wide[drawn - 5];
}

static int64_t group_of(const topk_problem *p, int64_t division, int64_t element, random_state *random) {
    const int64_t any = random_below(random, p->rows);
    switch (division) {
    case DIVIDED_IN_BLOCKS:
        return element * p->rows / p->length_max;
    case DIVIDED_TO_ONE:
        return p->rows / 2;
    case DIVIDED_MOSTLY_TO_ONE:
        return random_below(random, 16) == 0 ? any : p->rows - 1;
    case DIVIDED_TO_FEW: /* most groups are empty */
        return any / 8 * 8;
    default:
        return any;
    }
}

static void build_groups(instance *out, random_state *random) {
    const topk_problem *p = &out->by;
    const int64_t division = random_below(random, DIVISIONS), left_out = random_below(random, 3);
    guarded *groups = &out->buffers[BUFFER_BY_GROUPS];
    *groups =
        build_buffer(out->source, p->rows == 0 ? 0 : p->length_max, p->extent_type == TOPK_INDEX_I32 ? 4 : 8);
    for (int64_t i = 0; i < p->length_max && p->rows > 0; i++) {
        const bool none = left_out > 0 && random_below(random, left_out == 1 ? 16 : 2) == 0;
        put_integer(p->extent_type, groups->data, i,
                    none ? outside(p, random) : group_of(p, division, i, random));
    }
    out->by_input.groups = groups->data;
}

static void build_group_k(instance *out, random_state *random) {
    const topk_problem *p = &out->by;
    if (random_below(random, 3) == 0) {
        out->buffers[BUFFER_BY_K] =
            build_buffer(out->source, p->rows, p->extent_type == TOPK_INDEX_I32 ? 4 : 8);
        out->by_input.k = out->buffers[BUFFER_BY_K].data;
        for (int64_t row = 0; row < p->rows; row++) {
            put_integer(p->extent_type, out->buffers[BUFFER_BY_K].data, row,
                        random_below(random, p->k_max + 3) - 1);
        }
    }
}

void build_grouping(instance *out, int64_t budget) {
    random_state random = {out->source->seed ^ UINT64_C(0x67726f757073)};
    const topk_problem *p = &out->by;
    out->by_input = (topk_input)TOPK_INPUT_INIT;
    build_problem(out, budget, &random);
    guarded *values = &out->buffers[BUFFER_BY_VALUES];
    const int64_t elements = p->rows == 0 ? 0 : p->length_max;
    *values = build_buffer(out->source, elements, oracle_type_size(p->type));
    generate(&generators[out->source->value[DIM_DATA]], p->type, values->data, elements, &random);
    out->by_input.values = values->data;
    build_groups(out, &random);
    build_group_k(out, &random);
    if (random_below(&random, 3) == 0) {
        out->buffers[BUFFER_BY_INDICES] =
            build_buffer(out->source, elements, p->index_type == TOPK_INDEX_I32 ? 4 : 8);
        out->by_input.indices = out->buffers[BUFFER_BY_INDICES].data;
        for (int64_t i = 0; i < elements; i++) {
            put_integer(p->index_type, out->buffers[BUFFER_BY_INDICES].data, i, INSTANCE_BY_PAYLOAD - i);
        }
    }
}
