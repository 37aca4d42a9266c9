/* SPDX-License-Identifier: Apache-2.0
 *
 * topk_merge at the sizes of production: on a GPU with little shared memory it gives what the CPU gives, and
 * lists that are not in order, though they say so, have it touch no other memory. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "emulated_device.h"
#include "random.h"
#include "topk_merge.h"

enum { GUARDS = 64, GUARD = 0x5a, ALIGNMENT = 256 };

typedef struct shape {
    int64_t rows, lists, length, k;
} shape;

typedef struct problem {
    topk_problem problem;
    topk_lists lists;
    void *elements;
    int32_t *indices;
    size_t element_bytes;
} problem;

typedef struct results {
    unsigned char *values, *indices; /* with guards behind them */
    size_t value_bytes, index_bytes;
} results;

static topk_context *context_on(topk_backend backend, int capability, int shared_kib) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context = NULL;
    emulated_devices(&capability, 1);
    emulated_size(4, shared_kib, 1, 1);
    emulated_room(4, capability >= 90 ? 8 : 1);
    options.backend = backend;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    return context;
}

static void *take(size_t bytes) {
    void *memory = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* Small numbers, so that many tie: descending in each list, or in no order. */
static problem draw(const shape *s, topk_type type, topk_sorted sorted, bool is_in_order,
                    random_state *random) {
    const size_t count = (size_t)(s->rows * s->lists * s->length);
    problem p = {TOPK_PROBLEM_INIT, TOPK_LISTS_INIT, NULL, take(count * sizeof *p.indices),
                 type == TOPK_I64 ? 8 : 4};
    p.problem.type = type;
    p.problem.rows = s->rows;
    p.problem.length_max = s->length;
    p.problem.k_max = s->k;
    p.problem.order = TOPK_ORDER_BEST_FIRST;
    p.problem.index_type = TOPK_INDEX_I32;
    p.lists.lists = s->lists;
    p.lists.sorted = sorted;
    p.elements = take(count * p.element_bytes);
    for (int64_t i = 0, value = 0; i < (int64_t)count; i++) {
        value =
            is_in_order && i % s->length != 0 ? value - random_below(random, 2) : random_below(random, 9000);
        if (type == TOPK_I64) {
            ((int64_t *)p.elements)[i] = value;
        } else {
            ((float *)p.elements)[i] = (float)value;
        }
        p.indices[i] = (int32_t)(i / s->length / s->rows * s->length + i % s->length);
    }
    return p;
}

static results merge(topk_context *context, const problem *p) {
    const size_t count = (size_t)(p->problem.rows * p->problem.k_max);
    results r = {NULL, NULL, count * p->element_bytes, count * sizeof(int32_t)};
    topk_input input = TOPK_INPUT_INIT;
    size_t bytes = 0;
    r.values = memset(take(r.value_bytes + GUARDS), GUARD, r.value_bytes + GUARDS);
    r.indices = memset(take(r.index_bytes + GUARDS), GUARD, r.index_bytes + GUARDS);
    input.values = p->elements;
    input.indices = p->indices;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_MERGE, &p->problem, &bytes));
    void *workspace = take(bytes);
    CHECK_STATUS(TOPK_OK, topk_merge(context, &p->problem, &input, &p->lists, r.values, r.indices, NULL,
                                     workspace, bytes, NULL));
    free(workspace);
    for (size_t i = 0; i < GUARDS; i++) {
        CHECK(r.values[r.value_bytes + i] == GUARD && r.indices[r.index_bytes + i] == GUARD);
    }
    return r;
}

static void release(const results *r) {
    free(r->values);
    free(r->indices);
}

static void check_as_on_cpu(topk_context *gpu, topk_context *cpu, const shape *s, topk_type type,
                            topk_sorted sorted, random_state *random) {
    const problem p = draw(s, type, sorted, sorted == TOPK_SORTED_BEST_FIRST, random);
    const results wanted = merge(cpu, &p), found = merge(gpu, &p);
    CHECK(memcmp(found.values, wanted.values, wanted.value_bytes) == 0);
    CHECK(memcmp(found.indices, wanted.indices, wanted.index_bytes) == 0);
    release(&wanted);
    release(&found);
    free(p.elements);
    free(p.indices);
}

/* Held lists, shares of lists and of runs. */
static void check_little_memory(int capability, int shared_kib, random_state *random) {
    static const shape shapes[] = {{1, 2, 2100, 1000}, {257, 5, 410, 10}, {1, 1, 5000, 1025},
                                   {1, 4, 3000, 6000}, {6, 8, 900, 2000}, {5, 3, 2000, 2900}};
    topk_context *gpu = context_on(TOPK_BACKEND_CUDA, capability, shared_kib),
                 *cpu = context_on(TOPK_BACKEND_CPU, capability, shared_kib);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (int wide = 0; wide < 2; wide++) {
            const topk_type type = wide != 0 ? TOPK_I64 : TOPK_F32;
            check_as_on_cpu(gpu, cpu, &shapes[i], type, TOPK_SORTED_BEST_FIRST, random);
            check_as_on_cpu(gpu, cpu, &shapes[i], type, TOPK_SORTED_NOT, random);
        }
    }
    topk_context_destroy(gpu);
    topk_context_destroy(cpu);
}

/* Of more rows than are held. What comes out is not said. */
static void check_no_order(random_state *random) {
    topk_context *gpu = context_on(TOPK_BACKEND_CUDA, 90, 227);
    for (int i = 0; i < 16; i++) {
        const shape s = {5, 2 + random_below(random, 15), 700 + random_below(random, 1400),
                         600 + random_below(random, 1400)};
        const problem p = draw(&s, i % 2 == 0 ? TOPK_F32 : TOPK_I64, TOPK_SORTED_BEST_FIRST, false, random);
        const results found = merge(gpu, &p);
        release(&found);
        free(p.elements);
        free(p.indices);
    }
    topk_context_destroy(gpu);
}

int main(void) {
    random_state random = {20};
    check_little_memory(75, 64, &random);
    check_little_memory(89, 99, &random);
    check_no_order(&random);
    return check_report();
}
