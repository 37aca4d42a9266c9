/* SPDX-License-Identifier: Apache-2.0
 * Expert routing (CONTRACT.md, 11): scores become keys, and a list of the k best is kept while the keys of a
 * row pass by. */
#include "methods.h"

#include <stdatomic.h>

#include "float_mode.h"
#include "output.h"
#include "team.h"

/* The best entries so far, best first. Of equal keys the one that came first stays before the others. */
struct best_list {
    uint32_t keys[ROUTE_EXPERTS_MAX], positions[ROUTE_EXPERTS_MAX];
    size_t count, most;
};

/* A row at work. */
struct route_row {
    float logits[ROUTE_EXPERTS_MAX], scores[ROUTE_EXPERTS_MAX];
    uint32_t keys[ROUTE_EXPERTS_MAX];
    struct best_list best;
};

struct own {
    struct logit_format format;
    uint32_t nan_key;
    int64_t batch; /* rows */
    int threads;   /* at most */
};

struct job {
    const struct call *call;
    const struct own *own;
    _Atomic int64_t next_row;
};

static void offer(struct best_list *best, uint32_t key, uint32_t position) {
    size_t slot = best->count < best->most ? best->count++ : best->most - 1;
    for (; slot > 0 && best->keys[slot - 1] < key; slot--) {
        best->keys[slot] = best->keys[slot - 1];
        best->positions[slot] = best->positions[slot - 1];
    }
    best->keys[slot] = key;
    best->positions[slot] = position;
}

/* The `most` best of the keys, but for absent ones. */
static void find_best(struct best_list *best, const uint32_t *keys, size_t count, size_t most) {
    uint32_t least = SCORE_KEY_ABSENT;
    best->count = 0;
    best->most = most;
    for (size_t i = 0; i < count; i++) {
        if (keys[i] > least) {
            offer(best, keys[i], (uint32_t)i);
            least = best->count == most ? best->keys[most - 1] : SCORE_KEY_ABSENT;
        }
    }
}

/* A copy of the format, which no result can overwrite: then compilers make vectors of these loops. */
static void widen_16(const uint16_t *restrict values, size_t count, struct logit_format format,
                     float *restrict logits) {
    for (size_t i = 0; i < count; i++) {
        logits[i] = logit_of(values[i], &format);
    }
}

static void widen_8(const uint8_t *restrict values, size_t count, struct logit_format format,
                    float *restrict logits) {
    for (size_t i = 0; i < count; i++) {
        logits[i] = logit_of(values[i], &format);
    }
}

static void read_logits(const struct job *job, int64_t row, float *logits) {
    const struct plan *plan = job->call->plan;
    const int64_t experts = plan->problem.length_max, begin = row * plan->problem.row_stride;
    const void *values = job->call->input.values;
    switch (plan->element_bytes) {
    case 8:
        for (int64_t e = 0; e < experts; e++) {
            logits[e] = (float)((const double *)values)[begin + e];
        }
        break;
    case 4:
        memcpy(logits, (const float *)values + begin, (size_t)experts * sizeof *logits);
        break;
    case 2:
        widen_16((const uint16_t *)values + begin, (size_t)experts, job->own->format, logits);
        break;
    default:
        widen_8((const uint8_t *)values + begin, (size_t)experts, job->own->format, logits);
    }
}

static void make_scores(const struct job *job, struct route_row *row) {
    const topk_routing *routing = job->call->routing;
    const size_t experts = (size_t)job->call->plan->problem.length_max;
    memcpy(row->scores, row->logits, experts * sizeof *row->scores);
    if (routing->score == TOPK_SCORE_SIGMOID) {
        for (size_t e = 0; e < experts; e++) {
            row->scores[e] = score_sigmoid(row->logits[e]);
        }
    }
    if (routing->bias != NULL) {
        for (size_t e = 0; e < experts; e++) {
            row->scores[e] = score_add(row->scores[e], routing->bias[e]);
        }
    }
    for (size_t e = 0; e < experts; e++) {
        row->keys[e] = score_key(row->scores[e], job->own->nan_key);
    }
}

static uint32_t group_key(const struct job *job, struct route_row *row, size_t first, size_t size) {
    find_best(&row->best, row->keys + first, size, 2);
    float sum = row->scores[first + row->best.positions[0]];
    if (row->best.count == 2) {
        sum = score_add(sum, row->scores[first + row->best.positions[1]]);
    }
    return score_key(sum, job->own->nan_key);
}

/* Experts that are in none of the best groups become absent. */
static void drop_groups(const struct job *job, struct route_row *row) {
    const topk_routing *routing = job->call->routing;
    const size_t experts = (size_t)job->call->plan->problem.length_max, groups = (size_t)routing->groups;
    const size_t size = experts / groups;
    uint32_t group_keys[ROUTE_EXPERTS_MAX];
    bool kept[ROUTE_EXPERTS_MAX] = {false};
    for (size_t group = 0; group < groups; group++) {
        group_keys[group] = group_key(job, row, group * size, size);
    }
    find_best(&row->best, group_keys, groups, (size_t)routing->groups_kept);
    for (size_t i = 0; i < row->best.count; i++) {
        kept[row->best.positions[i]] = true;
    }
    for (size_t group = 0; group < groups; group++) {
        if (!kept[group]) {
            memset(row->keys + group * size, 0, size * sizeof *row->keys);
        }
    }
}

static float greatest_logit(const struct route_row *row) {
    float greatest = row->logits[row->best.positions[0]];
    for (size_t i = 1; i < row->best.count; i++) {
        const float logit = row->logits[row->best.positions[i]];
        greatest = logit != logit || logit > greatest ? logit : greatest; /* NaN stays */
    }
    return greatest;
}

/* The best list becomes weights; padding weighs 0. */
static void write_weights(const struct job *job, const struct route_row *row, float *weights) {
    const topk_routing *routing = job->call->routing;
    const size_t count = row->best.count, k_max = (size_t)job->call->plan->problem.k_max;
    float terms[ROUTE_K_MAX] = {0}, sums[ROUTE_K_MAX];
    const float greatest = count > 0 ? greatest_logit(row) : 0;
    for (size_t i = 0; i < count; i++) {
        const float logit = row->logits[row->best.positions[i]];
        terms[i] = routing->weighing == TOPK_WEIGH_SIGMOID ? score_sigmoid(logit)
                                                           : score_exp(score_subtract(greatest, logit));
    }
    memcpy(sums, terms, sizeof sums);
    for (size_t remaining = ROUTE_K_MAX / 2; remaining > 0; remaining /= 2) {
        for (size_t i = 0; i < remaining; i++) {
            sums[i] = score_add(sums[2 * i], sums[2 * i + 1]);
        }
    }
    const bool is_zero = score_bits(sums[0]) == 0;
    for (size_t i = 0; i < k_max; i++) {
        weights[i] =
            i >= count || is_zero ? 0 : score_multiply(score_divide(terms[i], sums[0]), routing->factor);
    }
}

static void route(const struct job *job, int64_t number, struct route_row *row) {
    const struct call *call = job->call;
    const topk_problem *p = &call->plan->problem;
    const struct source source = {NULL, NULL, 0};
    const int64_t slot = number * p->k_max;
    read_logits(job, number, row->logits);
    make_scores(job, row);
    if (call->routing->groups > 0 && p->length_max > 0) {
        drop_groups(job, row);
    }
    find_best(&row->best, row->keys, (size_t)p->length_max, (size_t)p->k_max);
    topk_cpu_write_slots(call, slot, &source, 0, row->best.positions, row->best.count);
    topk_cpu_write_padding(call, number, row->best.count);
    if (call->weights != NULL) {
        write_weights(job, row, call->weights + slot);
    }
}

static void run_part(void *argument, int part, int parts) {
    struct job *job = argument;
    const int64_t rows = job->call->plan->problem.rows, batch = job->own->batch;
    const struct float_mode caller = float_mode_default();
    struct route_row row;
    (void)part;
    (void)parts;
    for (;;) {
        const int64_t first = atomic_fetch_add_explicit(&job->next_row, batch, memory_order_relaxed);
        if (first >= rows) {
            break;
        }
        const int64_t end = rows - first < batch ? rows : first + batch;
        for (int64_t number = first; number < end; number++) {
            route(job, number, &row);
        }
    }
    float_mode_restore(&caller);
}

static void plan_route(const topk_context *context, const struct plan *plan, struct room *room,
                       struct decision *decision) {
    const topk_problem *p = &plan->problem;
    struct own *own = topk_room_take(room, sizeof *own);
    *own = (struct own){.format = topk_logit_format(p->type),
                        .nan_key = route_nan_key(p->nan),
                        .batch = BATCH_ELEMENTS / (p->length_max > 0 ? p->length_max : 1) + 1,
                        .threads = team_size(threads_for_rows(context, plan), plan->input_elements)};
    decision->own = own;
    decision->cost_us =
        1.0 + (0.3 * (double)p->rows + 0.004 * (double)plan->input_elements) / context->threads;
}

static int run(const struct call *call) {
    const struct own *own = call->decision->own;
    struct job job = {.call = call, .own = own};
    topk_cpu_team_run(call->context, threads_here(call->context, own->threads), run_part, &job);
    return 0;
}

const struct method topk_cpu_route = {
    .name = "route", .operations = OPERATION_BIT(TOPK_OPERATION_ROUTE), .plan = plan_route, .run = run};
