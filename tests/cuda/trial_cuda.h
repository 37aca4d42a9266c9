/* SPDX-License-Identifier: Apache-2.0
 *
 * A problem on the GPU with data, outputs and a workspace of its own, whose data can be changed in place, and
 * the right results. For tests of streams, graphs and threads, on the current device. */
#ifndef TESTS_TRIAL_CUDA_H
#define TESTS_TRIAL_CUDA_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "topk.h"

typedef struct trial_array {
    void *host, *device;
    size_t bytes;
} trial_array;

enum { TRIAL_VALUES, TRIAL_EXTENTS, TRIAL_ENDS, TRIAL_K, TRIAL_INPUTS };
enum { TRIAL_OUTPUTS = 3 };

typedef struct trial {
    topk_operation operation; /* select or kth */
    topk_problem problem;
    trial_array inputs[TRIAL_INPUTS];   /* without bytes: not given */
    trial_array outputs[TRIAL_OUTPUTS]; /* host: what must be in them */
    trial_array workspace;
} trial;

/* Both operations, all shapes, short and long rows, many types and k. */
enum { TRIAL_KINDS = 10 };

/* A trial of that kind, without data yet. */
void trial_create(trial *t, const topk_context *context, int kind);

/* Of any problem with order best first and ties by position. `ragged`: strided rows have lengths, and each
 * row of any shape its own k. */
void trial_create_for(trial *t, const topk_context *context, topk_operation operation,
                      const topk_problem *problem, bool ragged);
void trial_free(trial *t);

/* Other data: values, lengths or offsets, and k. Waits for the device. */
void trial_change(trial *t, uint64_t seed);

/* The call, and nothing else. */
topk_status trial_call(const trial *t, topk_context *context, cudaStream_t stream);

/* Fills the outputs with poison. Waits for the device. */
void trial_poison(const trial *t);

/* Whether the outputs are right. Waits for the device. */
bool trial_is_right(const trial *t);

/* Ends the program unless the call succeeded. */
void require_cuda(cudaError_t error, const char *what);

/* A context of that device. Ends the program with the status of a skipped test if there is no GPU. */
topk_context *create_cuda_context(int device);

#endif
