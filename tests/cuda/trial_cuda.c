/* SPDX-License-Identifier: Apache-2.0 */
#include "trial_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "expected.h"

enum { EXIT_SKIPPED = 77, POISON = 0xdd };

void require_cuda(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        exit(3);
    }
}

topk_context *create_cuda_context(int device) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    if (topk_backend_status(TOPK_BACKEND_CUDA) != TOPK_OK) {
        printf("no GPU: %s\n", topk_last_error());
        exit(EXIT_SKIPPED);
    }
    options.backend = TOPK_BACKEND_CUDA;
    options.device = device;
    if (topk_context_create(&options, &context) != TOPK_OK) {
        fprintf(stderr, "no context: %s\n", topk_last_error());
        exit(3);
    }
    return context;
}

static void allocate(trial_array *a, int64_t count, size_t element_bytes) {
    a->bytes = (size_t)count * element_bytes;
    a->host = malloc(a->bytes + 1);
    require_cuda(cudaMalloc(&a->device, a->bytes + 1), "cudaMalloc");
    if (a->host == NULL) {
        abort();
    }
}

static size_t width(topk_index_type type) {
    return type == TOPK_INDEX_I32 ? sizeof(int32_t) : sizeof(int64_t);
}

void trial_create_for(trial *t, const topk_context *context, topk_operation operation,
                      const topk_problem *problem, bool ragged) {
    const topk_problem *p = &t->problem;
    size_t bytes = 0;
    *t = (trial){.operation = operation, .problem = *problem};
    const size_t size = topk_type_size(p->type), extent = width(p->extent_type);
    const bool strided = p->shape == TOPK_SHAPE_STRIDED;
    allocate(&t->inputs[TRIAL_VALUES], strided ? p->rows * p->length_max : p->elements_max, size);
    if (ragged || !strided) {
        allocate(&t->inputs[TRIAL_EXTENTS], p->rows + 1, extent);
    }
    if (p->shape == TOPK_SHAPE_SPANS) {
        allocate(&t->inputs[TRIAL_ENDS], p->rows, extent);
    }
    if (ragged) {
        allocate(&t->inputs[TRIAL_K], p->rows, extent);
    }
    if (operation == TOPK_OPERATION_SELECT) {
        allocate(&t->outputs[0], p->rows * p->k_max, size);
        allocate(&t->outputs[1], p->rows * p->k_max, width(p->index_type));
    } else {
        allocate(&t->outputs[0], p->rows, size);
        allocate(&t->outputs[1], p->rows, sizeof(int64_t));
        allocate(&t->outputs[2], p->rows, sizeof(int64_t));
    }
    if (topk_workspace_size(context, operation, p, &bytes) != TOPK_OK) {
        fprintf(stderr, "topk_workspace_size: %s\n", topk_last_error());
        exit(3);
    }
    allocate(&t->workspace, (int64_t)bytes, 1);
}

static const struct {
    topk_operation operation;
    topk_type type;
    topk_shape shape;
    int64_t rows, length_max, k_max;
    bool ragged;
    topk_direction direction;
    topk_rank rank;
    topk_index_type widths;
} kinds[TRIAL_KINDS] = {
    {TOPK_OPERATION_SELECT, TOPK_F32, TOPK_SHAPE_STRIDED, 1, 1 << 18, 100, false, TOPK_LARGEST, TOPK_BY_VALUE,
     TOPK_INDEX_I32},
    {TOPK_OPERATION_SELECT, TOPK_F32, TOPK_SHAPE_STRIDED, 300, 1000, 33, true, TOPK_LARGEST, TOPK_BY_VALUE,
     TOPK_INDEX_I64},
    {TOPK_OPERATION_SELECT, TOPK_I64, TOPK_SHAPE_CSR, 40, 5000, 64, true, TOPK_SMALLEST, TOPK_BY_VALUE,
     TOPK_INDEX_I64},
    {TOPK_OPERATION_SELECT, TOPK_U8, TOPK_SHAPE_SPANS, 5, 70000, 500, false, TOPK_SMALLEST, TOPK_BY_VALUE,
     TOPK_INDEX_I32},
    {TOPK_OPERATION_SELECT, TOPK_F16, TOPK_SHAPE_STRIDED, 7, 20000, 2048, true, TOPK_LARGEST,
     TOPK_BY_MAGNITUDE, TOPK_INDEX_I32},
    {TOPK_OPERATION_KTH, TOPK_F32, TOPK_SHAPE_STRIDED, 1, 1 << 18, 1000, false, TOPK_SMALLEST, TOPK_BY_VALUE,
     TOPK_INDEX_I32},
    {TOPK_OPERATION_KTH, TOPK_U32, TOPK_SHAPE_CSR, 300, 1000, 40, true, TOPK_LARGEST, TOPK_BY_VALUE,
     TOPK_INDEX_I32},
    {TOPK_OPERATION_SELECT, TOPK_F32, TOPK_SHAPE_STRIDED, 1, 1 << 17, 5000, true, TOPK_LARGEST, TOPK_BY_VALUE,
     TOPK_INDEX_I64},
    {TOPK_OPERATION_SELECT, TOPK_BF16, TOPK_SHAPE_STRIDED, 3000, 64, 8, true, TOPK_LARGEST, TOPK_BY_VALUE,
     TOPK_INDEX_I32},
    {TOPK_OPERATION_SELECT, TOPK_F64, TOPK_SHAPE_STRIDED, 3, 100000, 1000, false, TOPK_LARGEST, TOPK_BY_VALUE,
     TOPK_INDEX_I64},
};

void trial_create(trial *t, const topk_context *context, int kind) {
    topk_problem p = TOPK_PROBLEM_INIT;
    p.type = kinds[kind].type;
    p.shape = kinds[kind].shape;
    p.rows = kinds[kind].rows;
    p.length_max = kinds[kind].length_max;
    p.k_max = kinds[kind].k_max;
    p.elements_max = p.shape == TOPK_SHAPE_STRIDED ? 0 : p.rows * p.length_max;
    p.direction = kinds[kind].direction;
    p.rank = kinds[kind].rank;
    p.index_type = p.extent_type = kinds[kind].widths;
    trial_create_for(t, context, kinds[kind].operation, &p, kinds[kind].ragged);
}

static void release(trial_array *a) {
    free(a->host);
    require_cuda(cudaFree(a->device), "cudaFree");
    *a = (trial_array){NULL, NULL, 0};
}

void trial_free(trial *t) {
    for (int i = 0; i < TRIAL_INPUTS; i++) {
        release(&t->inputs[i]);
    }
    for (int o = 0; o < TRIAL_OUTPUTS; o++) {
        release(&t->outputs[o]);
    }
    release(&t->workspace);
}

/* ---- Data ------------------------------------------------------------------------------------ */

static void put(topk_index_type type, const trial_array *a, int64_t at, int64_t value) {
    if (type == TOPK_INDEX_I32) {
        ((int32_t *)a->host)[at] = (int32_t)value;
    } else {
        ((int64_t *)a->host)[at] = value;
    }
}

/* Many values come several times. */
static void draw_values(trial *t, random_state *random) {
    const size_t size = topk_type_size(t->problem.type);
    const trial_array *values = &t->inputs[TRIAL_VALUES];
    for (size_t e = 0; e < values->bytes / size; e++) {
        const double x = (double)random_below(random, 50000) / 7000 - 3.5;
        element_put(t->problem.type, values->host, (int64_t)e, x);
    }
}

static void draw_extents(trial *t, random_state *random) {
    const topk_problem *p = &t->problem;
    const trial_array *first = &t->inputs[TRIAL_EXTENTS], *ends = &t->inputs[TRIAL_ENDS];
    int64_t offset = 0;
    for (int64_t r = 0; first->bytes != 0 && r <= p->rows; r++) {
        const int64_t length = random_below(random, p->length_max + 100) - 50; /* to be clamped */
        if (p->shape == TOPK_SHAPE_STRIDED) {
            put(p->extent_type, first, r, length);
        } else if (p->shape == TOPK_SHAPE_CSR) {
            put(p->extent_type, first, r, offset);
            offset += length > 0 ? length : 0;
        } else {
            const int64_t begin = random_below(random, p->elements_max);
            put(p->extent_type, first, r, begin);
            if (r < p->rows) {
                put(p->extent_type, ends, r, begin + length);
            }
        }
    }
}

static void draw_k(trial *t, random_state *random) {
    for (int64_t r = 0; t->inputs[TRIAL_K].bytes != 0 && r < t->problem.rows; r++) {
        put(t->problem.extent_type, &t->inputs[TRIAL_K], r, random_below(random, t->problem.k_max + 5) - 2);
    }
}

/* Of the host or the device. */
static topk_input input_of(const trial *t, bool device) {
    const void *arrays[TRIAL_INPUTS];
    topk_input input = TOPK_INPUT_INIT;
    for (int i = 0; i < TRIAL_INPUTS; i++) {
        arrays[i] = device ? t->inputs[i].device : t->inputs[i].host;
    }
    input.values = arrays[TRIAL_VALUES];
    input.k = arrays[TRIAL_K];
    *(t->problem.shape == TOPK_SHAPE_STRIDED ? &input.lengths
      : t->problem.shape == TOPK_SHAPE_SPANS ? &input.begins
                                             : &input.offsets) = arrays[TRIAL_EXTENTS];
    input.ends = arrays[TRIAL_ENDS];
    return input;
}

void trial_change(trial *t, uint64_t seed) {
    random_state random = {seed};
    draw_values(t, &random);
    draw_extents(t, &random);
    draw_k(t, &random);
    for (int i = 0; i < TRIAL_INPUTS; i++) {
        const trial_array *a = &t->inputs[i];
        if (a->bytes != 0) {
            require_cuda(cudaMemcpy(a->device, a->host, a->bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        }
    }
    const topk_input input = input_of(t, false);
    if (t->operation == TOPK_OPERATION_SELECT) {
        expected_select(&t->problem, &input, t->outputs[0].host, t->outputs[1].host);
    } else {
        expected_kth(&t->problem, &input, t->outputs[0].host, t->outputs[1].host, t->outputs[2].host);
    }
    require_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/* ---- The call -------------------------------------------------------------------------------- */

topk_status trial_call(const trial *t, topk_context *context, cudaStream_t stream) {
    const topk_input input = input_of(t, true);
    if (t->operation == TOPK_OPERATION_SELECT) {
        return topk_select(context, &t->problem, &input, t->outputs[0].device, t->outputs[1].device,
                           t->workspace.device, t->workspace.bytes, stream);
    }
    return topk_kth(context, &t->problem, &input, t->outputs[0].device, t->outputs[1].device,
                    t->outputs[2].device, t->workspace.device, t->workspace.bytes, stream);
}

void trial_poison(const trial *t) {
    for (int o = 0; o < TRIAL_OUTPUTS; o++) {
        if (t->outputs[o].bytes != 0) {
            require_cuda(cudaMemset(t->outputs[o].device, POISON, t->outputs[o].bytes), "cudaMemset");
        }
    }
    require_cuda(cudaMemset(t->workspace.device, POISON, t->workspace.bytes + 1), "cudaMemset");
    require_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

bool trial_is_right(const trial *t) {
    bool right = true;
    require_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    for (int o = 0; o < TRIAL_OUTPUTS; o++) {
        const trial_array *a = &t->outputs[o];
        void *got = malloc(a->bytes + 1);
        if (got == NULL) {
            abort();
        }
        if (a->bytes != 0) {
            require_cuda(cudaMemcpy(got, a->device, a->bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
        }
        right = right && memcmp(got, a->host, a->bytes) == 0;
        free(got);
    }
    return right;
}
