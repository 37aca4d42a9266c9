/* SPDX-License-Identifier: Apache-2.0
 *
 * A problem of routing for each case. What no dimension says is drawn from a random state of its own, so that
 * the rest of a case is what it would be without. */
#include <math.h>
#include <string.h>

#include "build.h"
#include "generators.h"
#include "route.h"

enum { FLOAT_TYPES = TOPK_F8_E5M2 };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* A width that models have; else the size of the case where rows may be so long, or any. */
static int64_t draw_experts(const test_case *c, random_state *random) {
    static const int64_t widths[] = {8, 60, 64, 128, 160, 256, 384, 512, 1024};
    const int64_t usual = widths[random_below(random, sizeof widths / sizeof widths[0])];
    const int64_t any = 1 + random_below(random, ORACLE_EXPERTS_MAX), size = c->value[DIM_SIZE];
    const bool is_usual = random_below(random, 2) == 0;
    return is_usual ? usual : size <= ORACLE_EXPERTS_MAX ? size : any;
}

static int64_t draw_stride(const test_case *c, int64_t experts, random_state *random) {
    switch (c->value[DIM_SHAPE]) {
    case SHAPE_GAPS:
        return experts + 1 + random_below(random, 9);
    case SHAPE_OVERLAPPING:
        return experts / 3 + 1;
    default:
        return random_below(random, 2) == 0 ? 0 : experts;
    }
}

static void build_problem(instance *out, int64_t budget, random_state *random) {
    const test_case *c = out->source;
    const int64_t experts = draw_experts(c, random);
    topk_problem *p = &out->route;
    *p = out->problem;
    p->type = (topk_type)(c->value[DIM_TYPE] % FLOAT_TYPES + 1);
    p->direction = TOPK_LARGEST;
    p->rank = TOPK_BY_VALUE;
    p->shape = TOPK_SHAPE_STRIDED;
    p->elements_max = 0;
    p->length_max = experts;
    p->k_max = smaller(case_k(c, experts),
                       random_below(random, 4) == 0 ? 1 + random_below(random, ORACLE_CHOSEN_MAX) : 8);
    p->rows = rows_within_budget(budget, c->value[DIM_ROWS], experts, p->k_max);
    p->row_stride = draw_stride(c, experts, random);
    if (p->index_base > 1) {
        p->index_base = (p->index_type == TOPK_INDEX_I32 ? INT32_MAX : INT64_MAX) - experts;
    }
}

/* None; the very same; a number of experts for each; or each its own. */
static void build_groups(instance *out, random_state *random) {
    const int64_t experts = out->route.length_max;
    int64_t groups = 1 + random_below(random, experts > 0 ? experts : 8);
    if (random_below(random, 2) == 0 || (experts == 0 && groups % 2 == 0)) {
        return;
    }
    groups = random_below(random, 3) == 0 ? groups : smaller(groups, 8);
    while (experts % groups != 0) {
        groups--;
    }
    out->routing.groups = groups;
    out->routing.groups_kept = 1 + random_below(random, groups);
}

static float draw_bias(int64_t kind, random_state *random) {
    const float odd[] = {NAN, INFINITY, -INFINITY, -0.0F, 0, 1e30F, -1e30F, 1e-40F};
    const int64_t draw = random_below(random, 64);
    switch (kind) {
    case 1:
        return (float)random_unit(random) - 0.5F;
    case 2: /* few, so that there are ties */
        return (float)(draw % 4) / 4;
    case 3:
        return draw < 8 ? odd[draw] : (float)draw / 64;
    default: /* it alone decides */
        return 1e4F * (float)draw;
    }
}

static void build_bias(instance *out, random_state *random) {
    const int64_t kind = random_below(random, 8), experts = out->route.length_max;
    if (kind == 0 || kind > 4) {
        return;
    }
    out->buffers[BUFFER_BIAS] = build_buffer(out->source, experts, sizeof(float));
    float *bias = out->buffers[BUFFER_BIAS].data;
    for (int64_t e = 0; e < experts; e++) {
        bias[e] = draw_bias(kind, random);
    }
    out->routing.bias = bias;
}

static void build_logits(instance *out, random_state *random) {
    const topk_problem *p = &out->route;
    const int64_t n = p->length_max, stride = p->row_stride != 0 ? p->row_stride : n;
    const int64_t elements = p->rows == 0 || n == 0 ? 0 : (p->rows - 1) * stride + n;
    const size_t size = oracle_type_size(p->type);
    out->buffers[BUFFER_LOGITS] = build_buffer(out->source, elements, size);
    out->logits = out->buffers[BUFFER_LOGITS].data;
    for (int64_t start = 0; start < elements; start += n) {
        generate(&generators[out->source->value[DIM_DATA]], p->type,
                 (char *)out->buffers[BUFFER_LOGITS].data + (size_t)start * size,
                 smaller(n, elements - start), random);
    }
}

/* Groups whose best two sigmoids have sums that are nearly all 1, but for rounding. */
static void balance_groups(instance *out, random_state *random) {
    const topk_problem *p = &out->route;
    const int64_t groups = out->routing.groups, size = groups == 0 ? 0 : p->length_max / groups;
    const int64_t stride = p->row_stride != 0 ? p->row_stride : p->length_max;
    for (int64_t row = 0; row < p->rows && size >= 2; row++) {
        for (int64_t group = 0; group < groups; group++) {
            const int64_t first = row * stride + group * size;
            const double logit = random_unit(random);
            for (int64_t i = 0; i < size; i++) {
                element_put(p->type, out->buffers[BUFFER_LOGITS].data, first + i,
                            i == 0   ? logit
                            : i == 1 ? -logit
                                     : -20.0 - random_unit(random));
            }
        }
    }
}

/* A few zeros of both signs, which are equal and better than the rest. */
static void scatter_zeros(instance *out, random_state *random) {
    const topk_problem *p = &out->route;
    const int64_t stride = p->row_stride != 0 ? p->row_stride : p->length_max;
    const int64_t one_in = 1 + p->length_max / 8;
    for (int64_t row = 0; row < p->rows; row++) {
        for (int64_t e = 0; e < p->length_max; e++) {
            const double zero = random_below(random, 2) == 0 ? -0.0 : 0.0, less = -1.0 - random_unit(random);
            element_put(p->type, out->buffers[BUFFER_LOGITS].data, row * stride + e,
                        random_below(random, one_in) == 0 ? zero : less);
        }
    }
}

void build_routing(instance *out, int64_t budget) {
    static const float factors[] = {1, 1, 2.5F, 1 / 3.0F, -16, 0};
    random_state random = {~out->source->seed};
    out->routing = (topk_routing)TOPK_ROUTING_INIT;
    out->routing.score = (topk_score)random_below(&random, 2);
    out->routing.weighing = (topk_weighing)random_below(&random, 2);
    out->routing.factor = factors[random_below(&random, sizeof factors / sizeof factors[0])];
    build_problem(out, budget, &random);
    build_groups(out, &random);
    build_bias(out, &random);
    build_logits(out, &random);
    const int64_t kind = random_below(&random, 8);
    if (kind < 2) {
        balance_groups(out, &random);
    } else if (kind == 2) {
        scatter_zeros(out, &random);
    }
}
